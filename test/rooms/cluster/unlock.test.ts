import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { showEngine } from '../../../src/cluster/database/server-errors.ts';
import { openLines } from '../../../src/cluster/leader/rows.ts';
import { abandon, readRun } from '../../../src/cluster/runs/runs.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { LeadershipLostError } from '../../../src/contract/errors.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { takeGuard } from '../../../src/disk/lock/guard.ts';
import { writeRecord } from '../../../src/lock/write.ts';
import { images } from '../../rig/campaign.ts';
import { command } from '../../rig/command.ts';
import { makeFolder } from '../../rig/folder.ts';
import { listenHere } from '../../rig/listen.ts';
import { submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);

async function claimedBy(engine: string, run: string) {
  const cwd = makeFolder();
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const lock = join(cwd, 'campaign.lock.jsonl');
  await writeEngineNote(lock, { run, account, engine: showEngine(engine), since: '2026', submitted: true });
  const unlock = (...more: string[]) =>
    command(['unlock', 'campaign.yaml', '--id', run, ...more], { cwd, env: { MEDIABATCH_ENGINE: engine } });
  return { lock, unlock, isClaimed: () => readEngineNote(lock) !== undefined };
}

const line = writeRecord({
  address: 'film@1',
  kind: 'video',
  purchases: [{ fingerprint: 'f'.repeat(16), generation: 1, attempt: 1, key: 'k', state: 'running', jobId: 'job-1' }],
});

async function runOpen() {
  const { url, db, id } = await submittedHere({ ...submission({ account }), lines: [line] });
  const term = { account, epoch: 1, run: id };
  await db.query('UPDATE mediabatch.account SET epoch = 1 WHERE id = $1', [account]);
  return { url, db, id, ofHead: openLines(db, term) };
}

test('I45 a run that its engine has open is not given free; where that is forced it ends there, and its lines come here', async () => {
  const { url, db, id, ofHead } = await runOpen();
  const { lock, unlock, isClaimed } = await claimedBy(url, id);
  const refused = await unlock();
  expect(refused.code).toBe(75);
  expect(refused.err).toContain(`mediabatch unlock campaign.yaml --id ${id} --force`);
  expect([isClaimed(), (await readRun(db, id))?.state]).toEqual([true, 'open']);
  expect((await unlock('--force')).code).toBe(0);
  expect(isClaimed()).toBe(false);
  expect(readFileSync(lock, 'utf8')).toContain('"jobId":"job-1"');
  expect(await readRun(db, id)).toMatchObject({ state: 'ended', error: expect.stringContaining('given up by') });
  // A head that was frozen meanwhile, and wakes.
  await expect(ofHead.append(line)).rejects.toThrow(LeadershipLostError);
});

test('what has ended on the engine comes here as well, unforced', async () => {
  const { url, db, id } = await runOpen();
  await abandon(db, id, 'given up by somebody else');
  const { lock, unlock, isClaimed } = await claimedBy(url, id);
  expect((await unlock()).code).toBe(0);
  expect(isClaimed()).toBe(false);
  expect(readFileSync(lock, 'utf8')).toContain('"jobId":"job-1"');
  expect(await readRun(db, id)).toMatchObject({ error: 'given up by somebody else' });
});

test('while an `apply` is attached nothing is given up', async () => {
  const { url, db, id } = await runOpen();
  const { lock, unlock, isClaimed } = await claimedBy(url, id);
  const held = await takeGuard(lock, { waitMs: 0, clock: systemClock });
  if (held.is !== 'taken') throw new Error('the lock is held');
  onTestFinished(() => held.guard.release());
  expect((await unlock('--force')).code).toBe(75);
  expect([isClaimed(), (await readRun(db, id))?.state]).toEqual([true, 'open']);
});

test.each([
  ['cannot be reached', 'postgres://nobody@127.0.0.1:1/gone', 'ECONNREFUSED'],
  ['lets nobody in', async (url: string) => url.replace(/:[^:@]+@/, ':another@'), 'user or password'],
])(
  'I45 an engine that %s may have the run open: only force gives the lock free, and says what it costs',
  async (_, at, why) => {
    const { url, db, id } = await runOpen();
    const { unlock, isClaimed } = await claimedBy(typeof at === 'string' ? at : await at(url), id);
    const refused = await unlock();
    expect([refused.code, refused.err]).toEqual([69, expect.stringContaining(why)]);
    expect(refused.err).toContain('--force');
    expect(isClaimed()).toBe(true);
    const forced = await unlock('--force');
    expect([forced.code, forced.err]).toEqual([0, expect.stringContaining('buys the same steps a second time')]);
    expect([isClaimed(), (await readRun(db, id))?.state]).toEqual([false, 'open']);
  },
);

/** A server that answers whoever connects with this. */
async function sayingOnly(code: string): Promise<string> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Msorry\0\0`);
  const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4]);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => socket.end(Buffer.concat([head, fields])));
  });
  return `postgres://u@${new URL(await listenHere(server)).host}/d`;
}

test.each([
  ['53300', 'is full', 69],
  ['57P03', 'starts up', 69],
  ['3D000', 'was made anew', 0],
])('a server that answers %s, because it %s: %s', async (code, _, exit) => {
  const cwd = makeFolder();
  writeFileSync(join(cwd, 'campaign.yaml'), images(1));
  const lock = join(cwd, 'campaign.lock.jsonl');
  await writeEngineNote(lock, { run: 'r-1', account, engine: await sayingOnly(code), since: '2026', submitted: true });
  expect((await command(['unlock', 'campaign.yaml', '--id', 'r-1'], { cwd })).code).toBe(exit);
  expect(readEngineNote(lock) === undefined).toBe(exit === 0);
});
