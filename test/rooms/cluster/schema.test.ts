import { expect, onTestFinished, test } from 'vitest';
import { openBoss } from '../../../src/cluster/database/boss.ts';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { hasTables, migrate } from '../../../src/cluster/database/schema.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { command, root } from '../../rig/command.ts';
import { freshDatabase } from '../../rig/postgres.ts';
import { engineHere, submission } from './engine-here.ts';

async function opened(url: string) {
  const database = await openDatabase(url, { name: 'test' });
  onTestFinished(() => database.close());
  return database;
}

const run = (words: string[], url: string) => command(words, { cwd: root, env: { MEDIABATCH_ENGINE: url } });

test('whoever only looks makes no tables', async () => {
  const url = await freshDatabase();
  const looked = await run(['workers'], url);
  expect([looked.code, looked.err]).toEqual([0, 'no run is on record on this engine\nno worker is running\n']);
  expect((await run(['workers', '--check'], url)).code).toBe(69);
  expect(await hasTables(await opened(url))).toBe(false);
});

test('whoever is slower than another in making the queue begins anew', async () => {
  const database = await opened(await freshDatabase());
  const races = ['23505', '42P07'];
  const racing: Pick<Database, 'persist' | 'ask'> = {
    persist: (act) => database.persist(act),
    async ask(text, values) {
      const code = races.pop();
      if (code === undefined) return database.ask(text, values);
      throw Object.assign(new Error('duplicate key value violates unique constraint'), { code });
    },
  };
  const boss = await openBoss(racing);
  onTestFinished(() => boss.stop({ graceful: false }));
  expect(races).toEqual([]);
});

test('the owner migrates once, and lets a role work that may create nothing', async () => {
  const url = await freshDatabase();
  const owner = await opened(url);
  const role = `r${new URL(url).pathname.slice(1)}`;
  await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'word'`);
  onTestFinished(() => owner.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).then(() => {}));
  const words = ['engine', 'migrate', '--grant', role];
  const made = await run(words, url);
  expect([made.code, made.err]).toEqual([
    0,
    expect.stringMatching(/created the tables, version \d+\ngranted the use of the tables to r/),
  ]);
  const again = await run(words, url);
  expect(again.err).toContain('already: nothing was changed');
  const worker = await opened(Object.assign(new URL(url), { username: role, password: 'word' }).href);
  await migrate(worker);
  const boss = await openBoss(worker);
  onTestFinished(() => boss.stop({ graceful: false }));
  await boss.createQueue('one');
  expect(await boss.send('one', {})).toEqual(expect.any(String));
  await worker.query("INSERT INTO mediabatch.account (id) VALUES ('one')");
});

/** A worker of today, which ends when it finds nothing to do. */
const workAt = (url: string) =>
  command(['worker', '--exit-when-idle'], {
    // It meets the signals of its process.
    apart: true,
    cwd: root,
    env: {
      MEDIABATCH_ENGINE: url,
      MEDIABATCH_API_KEY: 'booking_live_one',
      MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1',
    },
  });

test("the next version's tables are left alone by a worker of today", async () => {
  const { url, db, boss } = await engineHere();
  await submitRun(db, boss, submission({ account: 'a'.repeat(32) }));
  await db.query(`UPDATE mediabatch.run SET protocol = 2, origin = origin || '{"version": "0.2.0"}'`);
  // As its migration leaves them: a column more, and rows that mean something else.
  await db.query('ALTER TABLE mediabatch.run ADD COLUMN pace jsonb');
  await db.query('UPDATE mediabatch.meta SET version = version + 1');
  const before = await db.query('SELECT * FROM mediabatch.run');
  const refused = await workAt(url);
  expect([refused.code, refused.err]).toEqual([65, expect.stringContaining('a newer mediabatch made the tables')]);
  expect(await db.query('SELECT * FROM mediabatch.run')).toEqual(before);
  expect(await db.query('SELECT * FROM mediabatch.worker')).toEqual([]);
});
