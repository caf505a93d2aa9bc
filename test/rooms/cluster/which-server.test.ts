import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { migrate } from '../../../src/cluster/database/schema.ts';
import { isSameServer, whichServer } from '../../../src/cluster/database/which-server.ts';
import { openFresh } from '../../rig/postgres.ts';
import { startPostgres } from '../../rig/postgres-server.ts';

const settings = { wal_level: 'replica', fsync: 'off', autovacuum: 'off' };

function folderHere(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-which-'));
  // As root the server runs as another user.
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
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
