import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openBoss } from '../../src/cluster/database/boss.ts';
import { openDatabase } from '../../src/cluster/database/database.ts';
import { migrate } from '../../src/cluster/database/schema.ts';
import { openLines, readAllLines } from '../../src/cluster/leader/rows.ts';
import { openRunsOf, readEnds, submitRun, writeEnds } from '../../src/cluster/runs/runs.ts';
import { seeded } from '../rig/random.ts';
import { submission } from '../rooms/cluster/engine-here.ts';
import { ClusterPlace } from './rig/place.ts';
import { until } from './rig/processes.ts';

const account = 'a'.repeat(32);
const kills = 6;

/**
 * Kills the server at random moments and starts it again, `kills` times; every other time only when something was `done`
 * since, because on a slow machine it would be away whenever it is tried again.
 */
async function torment({ server }: ClusterPlace, seed: number, done: readonly unknown[]): Promise<void> {
  const next = seeded(seed);
  for (let n = 0; n < kills; n += 1) {
    const before = done.length;
    if (n % 2 === 0) await until('something is done', () => done.length > before);
    await wait(100 + next() * 400);
    if (n % 3 === 2) await server.stop();
    else await server.kill();
    await wait(next() * 300);
    await server.start();
  }
}

test.concurrent('lines that were said to be durable are there, once and in order, however often the server is killed', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  const database = await openDatabase(place.server.url, { name: 'test' });
  onTestFinished(() => database.close());
  await migrate(database);
  await database.query('INSERT INTO mediabatch.account (id, epoch) VALUES ($1, 1)', [account]);
  await database.query(
    `INSERT INTO mediabatch.run (id, account, protocol, campaign, state, settings, totals, header, origin)
     VALUES ('r', $1, 1, 'spring', 'open', '{}', '{}', '', '{}')`,
    [account],
  );
  const term = { account, epoch: 1, run: 'r' };
  const lines = openLines(database, term);
  const written: string[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let no = 0; !isOver; no += 1) {
      const batch = Array.from({ length: 1 + (no % 5) }, (_, at) => `{"line":"${no}.${at}"}\n`);
      await Promise.all([
        ...batch.map((line) => lines.append(line)),
        writeEnds(database, term, new Map([[`${no}`, { outcome: 'done', credits: 1 }]])),
      ]);
      written.push(...batch);
      if (no % 20 === 0) await wait(1);
    }
  })();
  await torment(place, 19, written);
  isOver = true;
  await writing;
  const found = await readAllLines(database, 'r');
  expect(found).toEqual(written);
  expect(found.length).toBeGreaterThan(kills / 2);
  const batches = written.filter((line) => line.includes('.0"')).length;
  expect((await readEnds(database, 'r')).size).toBe(batches);
});

test.concurrent('runs are submitted once each, with all their lines and one job, however often the server is killed', async ({
  onTestFinished,
}) => {
  const place = await ClusterPlace.make(onTestFinished);
  const database = await openDatabase(place.server.url, { name: 'test' });
  onTestFinished(() => database.close());
  await migrate(database);
  const boss = await openBoss(database);
  onTestFinished(() => boss.stop({ graceful: false }));
  const heard: unknown[] = [];
  await database.listen('mediabatch_work', (payload) => heard.push(payload));
  const ids: string[] = [];
  let isOver = false;
  const submitting = (async () => {
    for (let no = 0; !isOver; no += 1) {
      const lines = Array.from({ length: 50 }, (_, at) => `{"line":${at}}\n`);
      const run = { ...submission({ account, campaign: `campaign-${no}` }), lines: lines.values() };
      expect(await submitRun(database, boss, run)).toEqual({ id: run.id, attached: false });
      ids.push(run.id);
    }
  })();
  await torment(place, 20, ids);
  isOver = true;
  await submitting;
  expect((await openRunsOf(database, account)).map(({ id }) => id)).toEqual(ids);
  expect(ids.length).toBeGreaterThan(kills / 2);
  for (const id of ids) expect(await readAllLines(database, id)).toHaveLength(50);
  const jobs = "SELECT count(*)::int AS n FROM mediabatch_queue.job WHERE name LIKE 'head-%'";
  expect(await database.query(jobs)).toEqual([{ n: 1 }]);
  heard.length = 0;
  await until('the listener hears again', async () => {
    await database.query("NOTIFY mediabatch_work, 'again'");
    return heard.includes('again');
  });
});

test.concurrent('a server that is away is waited for, and told of once', async ({ onTestFinished }) => {
  const { server } = await ClusterPlace.make(onTestFinished);
  const told: string[] = [];
  const options = { name: 'test', onUnreachable: () => told.push('away'), onBack: () => told.push('back') };
  const database = await openDatabase(server.url, options);
  onTestFinished(() => database.close());
  await server.stop();
  const asked = Promise.all(
    Array.from({ length: 20 }, (_, n) => database.query<{ n: number }>('SELECT $1::int AS n', [n])),
  );
  await until('it is noticed', () => told.length > 0);
  expect(database.unreachableSince).toBeDefined();
  await wait(1500);
  await server.start();
  expect((await asked).flat().map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(told).toEqual(['away', 'back']);
  expect(database.unreachableSince).toBeUndefined();
});
