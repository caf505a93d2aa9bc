import { expect, onTestFinished, test, vi } from 'vitest';
import { tellOfNoWorker } from '../../../src/campaign/on-engine/submit-plan.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import type { Notice } from '../../../src/contract/notice.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

async function addWorker(db: Database, id: string, pid: number): Promise<void> {
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, store, files)
     VALUES ($1, $2, 'here', $3, 1, '0', 's', 8)`,
    [id, account, pid],
  );
}

/** Watches a run from when it is submitted. `looks`: waits until so many more have ended. */
async function watchRun({ store = null, protocol = 1 }: { store?: string | null; protocol?: number }) {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account, store }));
  await db.query('UPDATE mediabatch.run SET protocol = $1', [protocol]);
  const told: Notice[] = [];
  const leaving = new AbortController();
  let count = 0;
  const sleep = async () => {
    count += 1;
    await systemClock.sleep(1);
  };
  const engine = { database: db, account, shown: 'here', close: async () => {} };
  const telling = tellOfNoWorker(engine, {
    ...{ tell: (news: Notice) => told.push(news), signal: leaving.signal, run: id, store: undefined },
    clock: { ...systemClock, sleep },
  });
  onTestFinished(async () => {
    leaving.abort();
    await telling;
  });
  return {
    ...{ db, told },
    async looks(more: number) {
      const from = count;
      await vi.waitFor(() => expect(count).toBeGreaterThanOrEqual(from + more), { timeout: 50_000, interval: 1 });
    },
  };
}

/** What is told of a run while no worker but this one lives. */
async function toldOf(of: { store?: string | null; protocol?: number }): Promise<Notice[]> {
  const { db, told, looks } = await watchRun(of);
  await addWorker(db, 'one', 11);
  await looks(30);
  return told;
}

test('a worker that begins with the run is waited for before anybody says that there is none', async () => {
  expect(await toldOf({ store: 's' })).toEqual([]);
  expect(await toldOf({})).toEqual([]);
});

test('that the last worker has ended is told, each time', async () => {
  const { db, told, looks } = await watchRun({});
  for (const times of [1, 2]) {
    await addWorker(db, 'one', 11);
    await looks(2);
    expect(told).toHaveLength(times - 1);
    await db.query('DELETE FROM mediabatch.worker');
    await looks(30);
    expect(told).toHaveLength(times);
  }
  expect(told[1]).toMatchObject({
    text: expect.stringMatching(/^no worker of this account runs on here: the run waits/),
  });
});

test('a worker that has another store, or another version, takes nothing of the run: that is told', async () => {
  const [store, version] = await Promise.all([toldOf({ store: 'other' }), toldOf({ protocol: 2 })]);
  const why = expect.stringMatching(
    /^none of the workers of this account on here takes the run: each has another store/,
  );
  expect(store).toMatchObject([{ text: why }]);
  expect(version).toMatchObject([{ text: why }]);
});
