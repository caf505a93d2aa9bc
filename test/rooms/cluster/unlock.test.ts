import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { showEngine } from '../../../src/cluster/engine-url.ts';
import { submitRun } from '../../../src/cluster/runs.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { images } from '../../rig/campaign.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

test('a campaign is not given free while the engine has its run open, unless it is forced', async () => {
  const { url, db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, submission({ account }));
  const { path: cwd, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const lock = join(cwd, 'campaign.lock.jsonl');
  const noted = { run: id, account, engine: showEngine(url), since: '2026', submitted: true };
  const unlock = (...more: string[]) =>
    command(['unlock', 'campaign.yaml', '--id', id, ...more], { cwd, env: { MEDIABATCH_ENGINE: url } });
  await writeEngineNote(lock, noted);
  const refused = await unlock();
  expect(refused.code).toBe(75);
  expect(refused.err).toContain(`mediabatch unlock campaign.yaml --id ${id} --force`);
  expect(readEngineNote(lock)).toBeDefined();
  const wrong = new URL(url);
  wrong.password = 'another';
  const shut = await command(['unlock', 'campaign.yaml', '--id', id], { cwd, env: { MEDIABATCH_ENGINE: wrong.href } });
  expect([shut.code, shut.err]).toEqual([69, expect.stringContaining('user or password')]);
  expect(readEngineNote(lock)).toBeDefined();
  expect((await unlock('--force')).code).toBe(0);
  expect(readEngineNote(lock)).toBeUndefined();
  await writeEngineNote(lock, { ...noted, engine: 'postgres://nobody@127.0.0.1:1/gone' });
  expect((await unlock()).code).toBe(0);
  expect(readEngineNote(lock)).toBeUndefined();
});

/** A server that answers whoever connects with this. */
async function sayingOnly(code: string): Promise<string> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Msorry\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.end(Buffer.concat([head, fields])));
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`;
}

test.each([
  ['53300', 'is full', 69],
  ['57P03', 'starts up', 69],
  ['3D000', 'was made anew', 0],
])('a server that answers %s, because it %s: %s', async (code, _, exit) => {
  const { path: cwd, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const lock = join(cwd, 'campaign.lock.jsonl');
  await writeEngineNote(lock, { run: 'r-1', account, engine: await sayingOnly(code), since: '2026', submitted: true });
  expect((await command(['unlock', 'campaign.yaml', '--id', 'r-1'], { cwd })).code).toBe(exit);
  expect(readEngineNote(lock) === undefined).toBe(exit === 0);
});
