import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MirroredLock } from '../../../src/campaign/on-engine/mirrored-lock.ts';
import { makeRunNotifier } from '../../../src/campaign/on-engine/run-on-engine.ts';
import { type OpenCampaign, openCampaign } from '../../../src/campaign/open-campaign.ts';
import { keepIndex } from '../../../src/campaign/outputs-list.ts';
import { campaignPaths } from '../../../src/campaign/paths.ts';
import { requireLock } from '../../../src/campaign/read-lock.ts';
import { findFinishedJobs } from '../../../src/campaign/runs.ts';
import type { RunEvent } from '../../../src/contract/event.ts';
import { KeptMeasures } from '../../../src/disk/state/caches.ts';
import { call, way } from '../../../src/ground/advice.ts';
import { readLock } from '../../../src/lock/read.ts';
import { emptyLock, writeHeader } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { buyEverything } from '../../rig/review/bought-campaign.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture } from '../plan/facts.ts';

const first = '2026-01-01-0000-aaaa';

async function pathsWith(files: Record<string, unknown[]>) {
  const path = makeFolder();
  const paths = campaignPaths(join(path, 'campaign.yaml'), {});
  const folder = join(paths.state, paths.runs);
  mkdirSync(folder, { recursive: true });
  for (const [id, lines] of Object.entries(files)) {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    writeFileSync(join(folder, `${id}.jsonl`), `${text}\n`);
  }
  return paths;
}

const header = (lock = 'campaign.lock.jsonl') => ({ mediabatch: 'run', version: 1, lock });
const madeBy = (name: string) => {
  const step = { at: '2026-04-01T00:00:00.000Z', address: name };
  return [
    { event: 'step-started', ...step, task: name, kind: 'image', action: 'create' },
    { event: 'job-completed', ...step, jobId: name },
  ];
};

test('a job has finished where a run on this lock saw it, however often others of the folder ran since', async () => {
  const busy = Array.from({ length: 5 }, (_, index): [string, unknown[]] => [
    `2026-04-0${index + 1}-0000-dddd`,
    [header('other.lock.jsonl'), ...madeBy('c')],
  ]);
  const paths = await pathsWith({
    [first]: [header(), ...madeBy('a'), ...madeBy('gone')],
    ...Object.fromEntries(busy),
  });
  const steps = graphOfSteps(['a', 'b', 'c'].map((name) => picture(name))).steps;
  const lock = lockOf(Object.fromEntries(steps.map((step) => [step.address, [job(step, { jobId: step.address })]])));
  expect([...(await findFinishedJobs(paths, lock)).keys()]).toEqual(['a']);
});

test('a notice is an event of the run from its first event to its last one, and is told before and after', () => {
  const told: string[] = [];
  const heard: string[] = [];
  const { notify, from, end } = makeRunNotifier(
    (news) => void told.push('text' in news ? String(news.text) : news.is),
    () => 0,
  );
  const on = from((event) => void heard.push(event.event === 'noticed' ? event.message : event.event));
  const say = (text: string) => notify({ is: 'notice', text });
  const pass = (event: string) => on({ at: '', event } as RunEvent);
  say('before');
  pass('run-started');
  say('the engine does not answer');
  notify({ is: 'notice', text: 'no worker runs', hint: way('to start one', call('worker', '--drain')) });
  pass('run-ended');
  say('after');
  pass('run-started');
  end();
  say('left');
  expect(told).toEqual(['before', 'after', 'left']);
  expect(heard).toEqual([
    'run-started',
    'the engine does not answer',
    'no worker runs; to start one: mediabatch worker --drain',
    'run-ended',
    'run-started',
  ]);
});

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
  const campaign = { paths: { lock }, notify: () => {} } as unknown as OpenCampaign;
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

test.each(['all.csv', 'all.json', 'all.jsonl'])('two campaigns of a folder write separate %s files', async (index) => {
  const folder = makeFolder();
  const told: string[] = [];
  const keep = async (name: string) => {
    const file = join(folder, `${name}.yaml`);
    const campaign = await openCampaign(file, {
      notify: (one) => told.push('text' in one ? String(one.text) : one.is),
    });
    await keepIndex(campaign, index);
    return readFileSync(join(folder, index), 'utf8');
  };
  for (const name of ['one', 'other']) {
    const file = join(folder, `${name}.yaml`);
    writeFileSync(file, `version: 1\nname: ${name}\ntasks:\n  ${name}: { kind: image, with: { prompt: "${name}" } }\n`);
    await buyEverything(file, () => ({ path: `${name}.png`, bytes: Buffer.from(name) }));
  }
  const own = await keep('one');
  expect(own).toContain('one.png');
  const { paths } = await openCampaign(join(folder, 'one.yaml'));
  const sha256 = createHash('sha256').update('one').digest('hex');
  expect(await new KeptMeasures(paths.state).get(sha256)).toMatchObject({ credentials: { hasCredentials: false } });
  expect(await keep('other')).toBe(own);
  expect(told).toEqual([expect.stringContaining(`${index} lists files of another campaign, and was not changed`)]);
  expect(await keep('one')).toBe(own);
  expect(told).toHaveLength(1);
});
