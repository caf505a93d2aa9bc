import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MirroredLock } from '../../../src/campaign/on-engine/mirrored-lock.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { requireLock } from '../../../src/campaign/read-lock.ts';
import { readLock } from '../../../src/lock/read.ts';
import { emptyLock, writeHeader } from '../../../src/lock/write.ts';
import { makeFolder } from '../disk/folder.ts';

const line = (address: string, facts: object) =>
  `${JSON.stringify({ address, kind: 'image', fingerprint: `1:${'f'.repeat(64)}`, generation: 1, attempt: 1, ...facts })}\n`;
const sent = (n: number, address = `hero@${n}`) =>
  line(address, { state: 'intent', key: `k${n}`, send: `s${n}`, request: {} });
const made = (n: number, state: string) =>
  line(`hero@${n}`, { state, key: `k${n}`, jobId: `job-${n}`, request: {}, closes: [`s${n}`] });

test('lines that are folded as they come are those of the whole lock, whoever asked meanwhile', async () => {
  const lock = join(makeFolder(), 'campaign.lock.jsonl');
  // The send of a step that has another name on the engine: what closes it comes later, at the other one.
  const here = [writeHeader(emptyLock()), sent(1, 'renamed'), made(3, 'running')];
  writeFileSync(lock, here.join(''));
  const campaign = { paths: { lock }, tell: () => {} } as unknown as OpenCampaign;
  const mirror = await MirroredLock.open(campaign, await requireLock(campaign, undefined));
  const come = [[sent(1), sent(2)], [made(1, 'running')], [made(3, 'done'), made(2, 'running')], [made(1, 'done')]];
  for (const lines of come) {
    expect(await mirror.add(lines)).toBe(lines.length);
    here.push(...lines);
    const whole = readLock(lock, Buffer.from(here.join(''))).lock.steps;
    expect(mirror.lock.steps).toEqual(whole);
    expect([...mirror.steps.keys()].sort()).toEqual([...whole.keys()].sort());
  }
  expect(await mirror.add(come.flat())).toBe(0);
  await mirror.close();
  expect(readLock(lock, readFileSync(lock)).lock.steps).toEqual(mirror.lock.steps);
});
