import { expect, test } from 'vitest';
import type { Database } from '../../../src/cluster/database/database.ts';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

async function submitted(store: string | null = null) {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account, store }));
  return { db, id };
}

function addWorker(db: Database, { id = 'one', store = 's', protocol = 1 } = {}) {
  return db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, store, files)
     VALUES ($1, $2, 'here', 1, $3, '0', $4, 8)`,
    [id, account, protocol, store],
  );
}

async function lackIn(db: Database) {
  return (await readEngineState(db)).runs[0]?.lacks;
}

test.each([
  { what: 'a worker', worker: undefined, lacks: 'worker' },
  { what: 'a worker of its version', worker: { protocol: 2 }, lacks: 'version' },
  { what: 'a worker with its store', worker: { store: 'other' }, lacks: 'store' },
  { what: 'nothing that a worker will not give it within moments', worker: {}, lacks: undefined },
])('a run lacks $what', async ({ worker, lacks }) => {
  const { db } = await submitted('s');
  if (worker !== undefined) await addWorker(db, worker);
  expect(await lackIn(db)).toBe(lacks);
});

test('a leader whose lease has run out leads no more, and its runs lack one', async () => {
  const { db } = await submitted();
  await addWorker(db);
  await db.query("UPDATE mediabatch.run SET submitted = now() - interval '1 hour'");
  await db.query("UPDATE mediabatch.account SET head = 'one', beat = now()");
  expect(await readEngineState(db)).toMatchObject({ accounts: [{ head: 'one' }], workers: [{ isHead: true }] });
  expect(await lackIn(db)).toBeUndefined();
  // Also where the clock of the server was set back.
  for (const seconds of [-11, 3600]) {
    await db.query("UPDATE mediabatch.account SET beat = now() + $1 * interval '1 s'", [seconds]);
    expect(await readEngineState(db)).toMatchObject({ accounts: [{ head: null }], workers: [{ isHead: false }] });
    expect(await lackIn(db), String(seconds)).toBe('leader');
  }
});

test('counts steps by how they ended, files and credits of an ended run', async () => {
  const { db, id } = await submitted();
  await db.query("INSERT INTO mediabatch.part VALUES ($1, 1, '', 9, '{}')", [id]);
  const ends = [
    { outcome: 'done' },
    { outcome: 'done' },
    { outcome: 'unneeded' },
    { outcome: 'failed' },
    { outcome: 'unresolved' },
    { outcome: 'running', unsaved: true },
    { outcome: 'blocked' },
  ];
  for (const [index, end] of ends.entries())
    await db.query('INSERT INTO mediabatch.ended VALUES ($1, $2, 1, $3)', [id, `step-${index}`, JSON.stringify(end)]);
  // A row holds a line for each of several events.
  const told = [
    [{ event: 'output-saved' }, { event: 'credits-changed', spentNow: 3 }],
    [{ event: 'credits-changed', spentNow: 5 }, { event: 'output-saved' }, { event: 'credits-changed', spentNow: 7 }],
    [{ event: 'job-created' }],
  ];
  for (const [no, events] of told.entries())
    await db.query('INSERT INTO mediabatch.event (run, epoch, no, text) VALUES ($1, 1, $2, $3)', [
      id,
      no,
      events.map((event) => `${JSON.stringify(event)}\n`).join(''),
    ]);
  const counted = { credits: 7, files: { wanted: 0, saved: 2, failed: 1 } };
  expect((await readEngineState(db)).runs).toMatchObject([
    { ...counted, steps: { done: 3, failed: 2, waiting: 3, left: 1, of: 9 } },
  ]);
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now()");
  expect((await readEngineState(db)).runs).toMatchObject([
    { ...counted, steps: { done: 3, failed: 2, waiting: 1, left: 3, of: 9 } },
  ]);
});

test('shows runs of a campaign, or in a state', async () => {
  const { db } = await submitted();
  const names = async (shown: Parameters<typeof readEngineState>[1]) =>
    (await readEngineState(db, shown)).runs.map(({ campaign }) => campaign);
  expect(await names({ campaign: 'spring' })).toEqual(['spring']);
  expect(await names({ campaign: 'autumn' })).toEqual([]);
  expect(await names({ state: 'open' })).toEqual(['spring']);
  expect(await names({ state: 'ended' })).toEqual([]);
});
