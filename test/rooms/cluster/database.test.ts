import { execFile } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openBoss } from '../../../src/cluster/database/boss.ts';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { Listening } from '../../../src/cluster/database/listening.ts';
import { hasTables, migrate } from '../../../src/cluster/database/schema.ts';
import { connectionString, isUnreachable } from '../../../src/cluster/database/server-errors.ts';
import { openLines, readAllLines } from '../../../src/cluster/leader/rows.ts';
import { isSameServer, whichServer } from '../../../src/cluster/store/run-mark.ts';
import { command, root } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listenHere } from '../../rig/listen.ts';
import { losingLine } from '../../rig/losing-line.ts';
import { pooler, poolerBefore } from '../../rig/pooler.ts';
import { freshDatabase, openFresh } from '../../rig/postgres.ts';
import { startPostgres } from '../../rig/postgres-server.ts';
import { bareRun, submission, submittedHere } from './engine-here.ts';

async function open(url: string) {
  const database = await openDatabase(url, { name: 'test' });
  onTestFinished(() => database.close());
  return database;
}

/** A database that is reached through a line that loses answers. */
async function openLosing() {
  const { url, database: direct } = await openFresh();
  const line = await losingLine(url);
  return { line, database: await open(line.url), direct };
}

/** Whatever connects is refused, as a pooler for transactions refuses what belongs to a session. */
async function refusingServer(): Promise<string> {
  const fields = ['SFATAL', 'C08P01', 'Munsupported startup parameter: idle_in_transaction_session_timeout', ''];
  const body = Buffer.from(`${fields.join('\0')}\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(body.length + 4, 1);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([head, body])));
  });
  return `postgres://me:hidden-word@${new URL(await listenHere(server)).host}/postgres`;
}

describe('an engine that cannot be used is refused, without its password', () => {
  test.each([
    ['nobody listens', { port: '1', password: 'hidden-word' }, /whether the server runs/],
    ['another password', { password: 'hidden-word' }, /user or password/, 'MB3707'],
    ['no such database', { pathname: '/none' }, /createdb/],
    ['no such host', { hostname: 'none.invalid', password: 'hidden-word' }, /no host/],
  ])('%s', async (_what, change, hint, code = 'MB3702') => {
    const url = Object.assign(new URL(await freshDatabase()), change);
    const error: unknown = await open(url.href).catch((failed: unknown) => failed);
    expect(error).toMatchObject({ failure: { code, hint: expect.stringMatching(hint) } });
    expect(JSON.stringify(error) + String(error)).not.toContain(url.password);
  });

  // In a process of its own: its client would hold the connection open until the server gives it up.
  test('no password at all', async () => {
    const url = new URL(await freshDatabase());
    url.password = '';
    const options = { apart: true, cwd: root, env: { PGPASSWORD: '' } };
    const { code, err } = await command(['workers', '--engine', String(url)], options);
    expect(code).toBe(69);
    expect(err).toMatch(/the server requires a password, and no password is set\n.*PGPASSWORD/);
  });

  test('a pooler that keeps no sessions', async () => {
    const failure = { code: 'MB3702', hint: expect.stringMatching(/pooler/) };
    await expect(open(await refusingServer())).rejects.toMatchObject({ failure });
  });
});

describe('what a server refuses later is told with what mends it', () => {
  test('a role that may not create', async () => {
    const { url, database } = await openFresh();
    const own = new URL(url);
    const [name, role] = [own.pathname.slice(1), `r${own.pathname.slice(1)}`];
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'word'`);
    onTestFinished(() => database.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).then(() => {}));
    await database.query('DROP SCHEMA mediabatch CASCADE');
    const other = await open(Object.assign(own, { username: role, password: 'word' }).href);
    await expect(migrate(other)).rejects.toMatchObject({
      failure: {
        code: 'MB3707',
        message: expect.stringContaining(
          `does not permit user ${role} to do this: permission denied for database ${name}`,
        ),
        hint: [
          `in psql, as the owner of the database: GRANT CREATE ON DATABASE ${name} TO ${role};`,
          { to: expect.any(String), run: { call: 'engine migrate', words: ['--grant', role] } },
        ],
      },
    });
  });

  test('tables that are gone', async () => {
    const { database } = await openFresh();
    await database.query('DROP TABLE mediabatch.worker');
    const failure = { code: 'MB3702', hint: { run: { call: 'engine migrate', words: [] } } };
    await expect(database.query('SELECT FROM mediabatch.worker')).rejects.toMatchObject({ failure });
  });
});

test.each([
  ['?sslmode=require', '?sslmode=verify-full'],
  ['?application_name=x&sslmode=prefer#y', '?application_name=x&sslmode=verify-full#y'],
  ['?sslmode=no-verify', '?sslmode=no-verify'],
  ['?sslmode=require&uselibpqcompat=true', '?sslmode=require&uselibpqcompat=true'],
  ['', ''],
])('TLS as %s is TLS as %s', (written, meant) => {
  expect(connectionString(`postgres://me@db/media${written}`)).toBe(`postgres://me@db/media${meant}`);
});

describe('a connection of ours', () => {
  test('commits durably where the server is set not to', async () => {
    const { url, database } = await openFresh();
    const { pathname } = new URL(url);
    await database.query(`ALTER DATABASE ${pathname.slice(1)} SET synchronous_commit = 'off'`);
    const other = await open(url);
    expect(await other.query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }]);
  });

  test('sees what was committed while it waited for a row, whatever the server is set to', async () => {
    const { url, database } = await openFresh();
    const { pathname } = new URL(url);
    await database.query(`ALTER DATABASE ${pathname.slice(1)} SET default_transaction_isolation = 'repeatable read'`);
    const other = await open(url);
    await database.query('CREATE TABLE made (name text)');
    await database.query("INSERT INTO made VALUES ('row')");
    let seen: unknown;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM made FOR UPDATE');
      seen = other.transaction(async (waiting) => {
        await waiting.query('SELECT FROM made FOR UPDATE');
        return waiting.query('SELECT name FROM made ORDER BY name');
      });
      await wait(300);
      await sql.query("INSERT INTO made VALUES ('a new one')");
    });
    expect(await seen).toEqual([{ name: 'a new one' }, { name: 'row' }]);
  });

  test('has limits of its own, and a statement that somebody cancels is made again', async () => {
    const { url, database } = await openFresh();
    const { pathname } = new URL(url);
    await database.query(`ALTER DATABASE ${pathname.slice(1)} SET statement_timeout = '200ms'`);
    const other = await open(url);
    expect(await other.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '1min' }]);
    const slept = other.query("SELECT pg_sleep(2), 'slept' AS it");
    const cancel = `SELECT pg_cancel_backend(pid) AS done FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'`;
    await expect.poll(() => database.query(cancel)).toEqual([{ done: true }]);
    expect(await slept).toMatchObject([{ it: 'slept' }]);
  });

  test('does not hold its locks when its process freezes', async () => {
    const { database } = await openFresh();
    const text = "SELECT current_setting('idle_in_transaction_session_timeout') AS limit";
    expect(await database.query(text)).toEqual([{ limit: '10s' }]);
  });
});

describe('an answer that was lost', () => {
  test('of a COMMIT: the transaction is made again, and its rows are there once', async () => {
    const { line, database, direct } = await openLosing();
    await direct.query('CREATE TABLE made (id text PRIMARY KEY, times int)');
    line.lose('COMMIT', 2);
    let calls = 0;
    await database.transaction(async (sql) => {
      calls += 1;
      await sql.query("INSERT INTO made VALUES ('one', 1) ON CONFLICT DO NOTHING");
    });
    expect({ calls, lost: line.lost }).toEqual({ calls: 3, lost: 2 });
    expect(await direct.query('SELECT * FROM made')).toEqual([{ id: 'one', times: 1 }]);
  });

  test('of an append: the line is there once, and in order', async () => {
    const { line, database, direct } = await openLosing();
    const lines = openLines(database, await bareRun(direct));
    const written: string[] = [];
    for (let no = 0; no < 12; no += 1) {
      if (no % 3 === 0) line.lose('INSERT INTO mediabatch.line');
      written.push(`{"line":${no}}\n`);
      await lines.append(`{"line":${no}}\n`);
    }
    expect(line.lost).toBe(4);
    expect(await readAllLines(direct, 'r')).toEqual(written);
  });
});

test('a transaction whose failed statement was overlooked is not taken for done', async () => {
  const { database } = await openFresh();
  const work = database.transaction((sql) => sql.query('SELECT 1 / 0').catch(() => 'overlooked'));
  await expect(work).rejects.toThrow('failed transaction');
});

test('away and back are told once each, and whoever listens is told that something may have been missed', async () => {
  const { url, database: direct } = await openFresh();
  const line = await losingLine(url);
  const told: string[] = [];
  const database = await openDatabase(line.url, {
    name: 'test',
    onUnreachable: () => told.push('away'),
    onBack: () => told.push('back'),
  });
  onTestFinished(() => database.close());
  const heard: (string | undefined)[] = [];
  database.listen('news', (payload) => heard.push(payload));
  await expect.poll(() => heard).toEqual([undefined]);
  await direct.query("NOTIFY news, 'first'");
  await expect.poll(() => heard).toEqual([undefined, 'first']);
  line.lose('SELECT 7', 4);
  await database.query('SELECT 7');
  expect(told).toEqual(['away', 'back']);
  await direct.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()",
  );
  await expect.poll(() => heard).toEqual([undefined, 'first', undefined]);
  await direct.query("NOTIFY news, 'second'");
  await expect.poll(() => heard).toEqual([undefined, 'first', undefined, 'second']);
  const text =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()";
  expect(await direct.query(text)).toEqual([{ n: 1 }]);
});

test('a closed database ends what waits for it', async () => {
  const { url } = await openFresh();
  const line = await losingLine(url);
  const database = await open(line.url);
  line.lose('SELECT 7', 1000);
  const asked = database.query('SELECT 7');
  await expect.poll(() => line.lost).toBeGreaterThan(1);
  await database.close();
  await expect(asked).rejects.toThrow();
});

const run = (words: string[], url: string) => command(words, { cwd: root, env: { MEDIABATCH_ENGINE: url } });

test('a client that only reads makes no tables', async () => {
  const url = await freshDatabase();
  const looked = await run(['workers'], url);
  expect([looked.code, looked.err]).toEqual([0, 'no run is on record on this engine\nno worker is running\n']);
  expect((await run(['workers', '--check'], url)).code).toBe(69);
  expect(await hasTables(await open(url))).toBe(false);
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
  const { url, db } = await submittedHere(submission({ account: 'a'.repeat(32) }));
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

const settings = { wal_level: 'replica', fsync: 'off', autovacuum: 'off' };

function folderHere(): string {
  const folder = makeFolder();
  // As root the server runs as another user.
  chmodSync(folder, 0o755);
  return folder;
}

/** What the database in this folder is told by, once its tables are there. */
async function askIn(folder: string): Promise<string> {
  const server = await startPostgres(folder, settings);
  const database = await openDatabase(server.url, { name: 'test' });
  try {
    await migrate(database);
    return await whichServer(database);
  } finally {
    await database.close();
    await server.stop();
  }
}

/** As a dump is put back: the tables are made anew. */
async function makeAnew(database: Database): Promise<void> {
  await database.query('DROP SCHEMA mediabatch CASCADE');
  await migrate(database);
}

test('I46 a server that began a new timeline – promoted, or brought back from an archive – is another one; one that starts again is not', async () => {
  const [first, copy] = [folderHere(), folderHere()];
  const before = await askIn(join(first, 'engine'));
  expect(JSON.parse(before)).toMatchObject({ system: expect.stringMatching(/^\d+$/), timeline: '00000001' });
  await promisify(execFile)('cp', ['-a', join(first, 'engine'), copy]);
  writeFileSync(join(copy, 'engine/data/postgresql.auto.conf'), "restore_command = 'false'\n");
  writeFileSync(join(copy, 'engine/data/recovery.signal'), '');
  expect(isSameServer(before, await askIn(join(first, 'engine')))).toBe(true);
  const after = await askIn(join(copy, 'engine'));
  expect(JSON.parse(after).timeline).toBe('00000002');
  expect(isSameServer(before, after)).toBe(false);
});

test('I46 a database whose tables were created again is another one', async () => {
  const { database } = await openFresh();
  const before = await whichServer(database);
  await makeAnew(database);
  expect(isSameServer(before, await whichServer(database))).toBe(false);
});

test('what a role may not read is not compared', async () => {
  const { url, database } = await openFresh();
  const all = await whichServer(database);
  const role = `r${new URL(url).pathname.slice(1)}`;
  await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
  await database.query(`GRANT USAGE ON SCHEMA mediabatch TO ${role}`);
  await database.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC');
  const theirs = new URL(url);
  [theirs.username, theirs.password] = [role, 'x'];
  const poor = await openDatabase(theirs.href, { name: 'test' });
  onTestFinished(async () => {
    await poor.close();
    await database.query(`DROP OWNED BY ${role}`);
    await database.query(`DROP ROLE ${role}`);
  });
  const known = await whichServer(poor);
  expect(JSON.parse(known)).not.toHaveProperty('system');
  expect(isSameServer(all, known)).toBe(true);
  expect(isSameServer(known, all)).toBe(true);
  expect(isSameServer(null, known)).toBe(false);
});

describe('listening, on a connection that breaks', () => {
  /** Connections that note what they listen to. `onListen` may break the one that is asked. */
  function listeningOn(onListen: (client: EventEmitter, nth: number, text: string) => void) {
    const clients: { listens: string[] }[] = [];
    const open = async () => {
      const client = new EventEmitter();
      const listens: string[] = [];
      const nth = clients.push({ listens });
      const query = async (text: string) => {
        listens.push(text);
        onListen(client, nth, text);
      };
      return Object.assign(client, { query, end: async () => void client.emit('end') }) as unknown as pg.Client;
    };
    const closing = new AbortController();
    const quote = (name: string) => name;
    return {
      clients,
      closing,
      listening: new Listening({ open, pause: () => wait(1), quote, signal: closing.signal }),
    };
  }

  test('all channels are listened to again, also if the next connection ends at that moment', async () => {
    const { clients, closing, listening } = listeningOn((client, nth, text) => {
      if (nth <= 2 && text === 'LISTEN two') client.emit('end');
    });
    let missed = 0;
    listening.listen('one', () => {});
    listening.listen('two', (payload) => {
      if (payload === undefined) missed += 1;
    });
    await vi.waitUntil(() => missed === 3);
    expect(clients.map(({ listens }) => listens)).toEqual(Array(3).fill(['LISTEN one', 'LISTEN two']));
    closing.abort();
    await listening.closed();
  });
});

async function openThrough(mode: 'session' | 'transaction', server?: string) {
  const direct = server ?? (await freshDatabase());
  const url = await poolerBefore(direct, mode);
  const database = await openDatabase(url, { name: 'test' });
  onTestFinished(() => database.close());
  return { database };
}

if (pooler === undefined) process.stderr.write('test/rooms/cluster/pooler: PgBouncer is not installed; skipped\n');

describe.runIf(pooler !== undefined)('behind PgBouncer with its defaults', () => {
  test('which keeps sessions, everything of ours holds: settings, LISTEN, the queue', async () => {
    const { database } = await openThrough('session');
    await migrate(database);
    const boss = await openBoss(database);
    onTestFinished(() => boss.stop({ graceful: false }));
    await boss.createQueue('one');
    expect(await boss.send('one', {})).toEqual(expect.any(String));
    const limit = "SELECT current_setting('idle_in_transaction_session_timeout') AS limit";
    expect(await database.query(limit)).toEqual([{ limit: '10s' }]);
    const heard: (string | undefined)[] = [];
    database.listen('news', (payload) => heard.push(payload));
    await expect.poll(() => heard).toEqual([undefined]);
    await database.query("NOTIFY news, 'first'");
    await expect.poll(() => heard).toEqual([undefined, 'first']);
  });

  test('which shares connections between transactions, it is refused with that as its reason', async () => {
    await expect(openThrough('transaction')).rejects.toMatchObject({
      failure: { code: 'MB3702', message: expect.stringMatching(/between transactions/) },
    });
  });
});

test('a pooler without a server is away, as a server is', () => {
  const error = Object.assign(new Error('server login has been failing, try again later'), { code: '08P01' });
  expect(isUnreachable(error)).toBe(true);
});
