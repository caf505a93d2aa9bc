import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { nameOfPurchases, requireRestoredLock } from '../../../src/campaign/restore-purchases.ts';
import { openPurchases } from '../../../src/disk/state/purchase-journal.ts';
import { emptyLock, writeLines } from '../../../src/lock/write.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { makeFolder } from '../disk/folder.ts';
import { create, job, lockOf, picture, stepOf } from '../plan/facts.ts';

const graph = graphOfSteps([picture('hero')]);
const step = stepOf(graph, 'hero');

test.each([
  ['is restored where the lock has nothing of its key', emptyLock(), new Set(['sent'])],
  ['is not restored where the lock has its job', lockOf({ hero: [job(step)] }, { kind: 'image' }), undefined],
])('a create without an answer in the purchase journal %s', async (_name, lock, expected) => {
  const folder = makeFolder();
  vi.stubEnv('XDG_STATE_HOME', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const path = join(folder, 'campaign.lock.jsonl');
  writeFileSync(path, [...writeLines(lock)].join(''));
  const here = { paths: { lock: path }, sandbox: false, service: 'https://api.example', accountOf: () => 'a' };
  const campaign = { ...here, tell: () => {} } as unknown as OpenCampaign;
  const clock = { now: () => 0, sleep: async () => {} };
  const journal = await openPurchases(nameOfPurchases(campaign, graph.name) ?? '', { clock });
  await journal?.add({ address: 'hero', kind: 'image', ...create(step, { state: 'unresolved', send: 'sent' }) });
  await journal?.close();
  expect((await requireRestoredLock(campaign, graph)).restored).toEqual(expected);
});
