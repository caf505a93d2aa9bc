import { expect, test } from 'vitest';
import { tellOfNoWorker, tellOfOwnWorkers } from '../../../src/campaign/on-engine/tell-of-workers.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import type { Notice } from '../../../src/contract/notice.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);
const { signal } = new AbortController();

async function addWorker(db: Database, id: string, pid: number): Promise<void> {
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, store, files)
     VALUES ($1, $2, 'here', $3, 1, '0', 's', 8)`,
    [id, account, pid],
  );
}

/** What is told of a run while no worker but this one lives. */
async function toldOf({ store = null, protocol = 1 }: { store?: string | null; protocol?: number }): Promise<Notice[]> {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account, store }));
  await db.query('UPDATE mediabatch.run SET protocol = $1', [protocol]);
  const told: Notice[] = [];
  const engine = { database: db, account, shown: 'here', close: async () => {} };
  const telling = tellOfNoWorker(engine, { tell: (news) => told.push(news), signal, run: id, store: undefined });
  await addWorker(db, 'one', 11);
  await telling;
  return told;
}

test('a worker that begins with the run is waited for before anybody says that there is none', async () => {
  expect(await toldOf({ store: 's' })).toEqual([]);
  expect(await toldOf({})).toEqual([]);
});

test('a worker that has another store, or another version, takes nothing of the run: that is told', {
  timeout: 60_000,
}, async () => {
  const [store, version] = await Promise.all([toldOf({ store: 'other' }), toldOf({ protocol: 2 })]);
  const why = expect.stringMatching(
    /^none of the workers of this account on here takes the run: each has another store/,
  );
  expect(store).toMatchObject([{ text: why }]);
  expect(version).toMatchObject([{ text: why }]);
});

test('on the embedded engine it is told who is the head, how many fetch files, and where the database is', async () => {
  const { db, boss } = await engineHere();
  await submitRun(db, boss, submission({ account }));
  const told: Notice[] = [];
  const engine = { database: db, account, shown: 'the embedded engine', close: async () => {} };
  const telling = tellOfOwnWorkers(engine, { tell: (news) => told.push(news), signal, state: 'spring/.mediabatch' });
  for (const [id, pid] of [
    ['one', 11],
    ['two', 12],
  ] as const)
    await addWorker(db, id, pid);
  await db.query("UPDATE mediabatch.account SET head = 'two', beat = now()");
  await telling;
  expect(told).toMatchObject([
    {
      text: 'the run is in the database spring/.mediabatch/engine, with 2 workers: process 12 is the head, which buys and waits; 2 of them fetch its files',
      hint: {
        to: 'to look at the embedded engine, in the folder spring',
        run: { call: 'workers', words: ['--engine', 'embedded'] },
      },
    },
  ]);
});

test('`workers` looks at an embedded engine only while it runs', async () => {
  const folder = temporaryFolder();
  const { code, err } = await command(['workers', '--engine', 'embedded'], { cwd: folder.path });
  folder.remove();
  expect([code, err]).toEqual([69, expect.stringContaining('no embedded engine runs in .mediabatch/engine')]);
});
