import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { damagedOutputs, readLockFile } from '../rig/oracle.ts';
import { manifestOf } from './rig/campaign.ts';
import { applied, ClusterPlace, openRuns } from './rig/place.ts';
import { until } from './rig/processes.ts';

const shape = { rows: 9, budget: 1000, concurrency: 6 };
const steps = 9 + 9 + 3;

test('without a store the files wait for whoever is attached, and come into the folder of the campaign', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  place.judge.jobMs = 300;
  place.write('campaign.yaml', manifestOf(shape));
  const worker = place.start(['worker'], { cwd: place.folder });
  const first = place.submit();
  await until('something is here', () => existsSync(place.path('output')), 60);
  first.signal('SIGKILL');
  await first.ended;
  expect(await openRuns(place)).toBe(1);
  const ran = await applied(place.submit());
  expect(ran.code, `${ran.err}\n${worker.err()}`).toBe(0);
  expect(place.judge.wrong).toEqual([]);
  expect(place.judge.ledger).toHaveLength(steps);
  expect(damagedOutputs(place.home, readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
});
