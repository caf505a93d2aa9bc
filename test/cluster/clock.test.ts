import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { damagedOutputs, readLockFile } from '../rig/oracle.ts';
import { manifestOf } from './rig/campaign.ts';
import { ClusterPlace, openRuns } from './rig/place.ts';
import { until } from './rig/processes.ts';

const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const steps = 7;

test.runIf(existsSync(library)).for([
  ['-1h', 3_500_000],
  ['+1h', -3_500_000],
] as const)(
  'a leader that died is noticed though the clock of the server is set to %s',
  async ([offset, behindMs], context) => {
    const { expect: it, onTestFinished } = context;
    const place = await ClusterPlace.make(onTestFinished);
    await place.server.stop();
    const clock = join(place.folder, 'clock');
    const set = (offset: string) => writeFileSync(clock, `${offset}\n`);
    set('+0');
    const fake = [
      `LD_PRELOAD=${library}`,
      `FAKETIME_TIMESTAMP_FILE=${clock}`,
      'FAKETIME_NO_CACHE=1',
      'DONT_FAKE_MONOTONIC=1',
    ];
    await place.server.start({ under: ['env', ...fake] });
    place.judge.jobMs = 2000;
    place.write('campaign.yaml', manifestOf({ rows: 3, concurrency: 1, budget: 100 }));
    const head = place.worker();
    const submitter = place.submit(['--store', place.store]);
    await until('it creates', () => place.judge.ledger.length > 0);
    head.signal('SIGKILL');
    await head.ended;
    set(offset);
    const [row] = await place.server.ask<{ behind: number }>(
      'SELECT ($1 - extract(epoch FROM now()) * 1000)::float8 AS behind',
      [Date.now()],
    );
    it((row?.behind ?? 0) / behindMs).toBeGreaterThan(1);
    const next = place.worker();
    const ran = await submitter.ended;
    it(ran.code, ran.err + next.err()).toBe(0);
    it(place.judge.wrong).toEqual([]);
    it(place.judge.ledger).toHaveLength(steps);
  },
);

describe('files', () => {
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
    const ran = await place.submit().ended;
    expect(ran.code, `${ran.err}\n${worker.err()}`).toBe(0);
    expect(place.judge.wrong).toEqual([]);
    expect(place.judge.ledger).toHaveLength(steps);
    expect(damagedOutputs(place.home, readLockFile(place.path('campaign.lock.jsonl')))).toEqual([]);
  });
});
