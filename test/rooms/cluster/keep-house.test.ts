import { expect, test } from 'vitest';
import { headQueue, headQueueOptions } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { takeSeat } from '../../../src/cluster/head/account.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { keepHouse } from '../../../src/cluster/worker/keep-house.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { engineHere, submission } from './engine-here.ts';

const [working, over] = ['a'.repeat(32), 'b'.repeat(32)];

/** One round, as a worker of the first account keeps house. */
async function keepOnce({ db, boss }: Awaited<ReturnType<typeof engineHere>>, keepMs?: number): Promise<void> {
  const ending = new AbortController();
  const clock = { ...systemClock, sleep: async () => ending.abort() };
  await keepHouse({ db, boss, clock, account: working, keepMs, isQuiet: () => true, signal: ending.signal });
}

const queues = (db: Database) =>
  db.query<{ name: string }>("SELECT name FROM mediabatch_queue.queue WHERE name LIKE '%-v%' ORDER BY name");

test('queues of an account go when no run of it is open, and no worker could look at them', async () => {
  const engine = await engineHere();
  const { db, boss } = engine;
  await submitRun(db, boss, submission({ account: working }));
  await db.query('INSERT INTO mediabatch.account (id) VALUES ($1)', [over]);
  await boss.createQueue(headQueue(over), headQueueOptions);
  await keepOnce(engine);
  expect(await queues(db)).toHaveLength(2);
  await db.query("UPDATE mediabatch_queue.queue SET created_on = created_on - interval '1 hour'");
  await keepOnce(engine);
  expect(await queues(db)).toEqual([{ name: headQueue(working) }]);
  // Whoever submits again makes it again.
  await submitRun(db, boss, submission({ account: over }));
  expect(await queues(db)).toHaveLength(2);
});

test('ended runs go after the time that was said, and otherwise never', async () => {
  const engine = await engineHere();
  const { db, boss } = engine;
  for (const campaign of ['old', 'new', 'open']) await submitRun(db, boss, submission({ account: working, campaign }));
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now() WHERE campaign <> 'open'");
  await db.query("UPDATE mediabatch.run SET ended = ended - interval '40 days' WHERE campaign = 'old'");
  const left = () => db.query('SELECT campaign FROM mediabatch.run ORDER BY campaign');
  await keepOnce(engine);
  expect(await left()).toHaveLength(3);
  await keepOnce(engine, 30 * 86_400_000);
  expect(await left()).toEqual([{ campaign: 'new' }, { campaign: 'open' }]);
});

test('a head that died before the clock of the server was set back by an hour is noticed, and its job is taken', async () => {
  const engine = await engineHere();
  const { db, boss } = engine;
  await submitRun(db, boss, submission({ account: working }));
  const take = (worker: string) => takeSeat({ db, boss, account: working, worker });
  const setBack = async () => {
    await db.query(`UPDATE mediabatch_queue.job SET start_after = start_after + interval '1 hour',
      started_on = started_on + interval '1 hour', heartbeat_on = heartbeat_on + interval '1 hour'`);
    await db.query("UPDATE mediabatch_queue.queue SET monitor_claim_on = now() + interval '1 hour'");
  };
  await setBack();
  const dead = await take('dead');
  expect(dead).toBeDefined();
  await setBack();
  await keepOnce(engine);
  // From the first look on it counts as any other silence.
  await db.query(`UPDATE mediabatch_queue.job SET heartbeat_on = heartbeat_on - interval '11 s'`);
  await db.query("UPDATE mediabatch_queue.queue SET monitor_claim_on = monitor_claim_on - interval '11 s'");
  expect(await take('next')).toBeUndefined();
  await keepOnce(engine);
  expect(await take('next')).toBeDefined();
  expect(await dead?.beat()).toBe(false);
});
