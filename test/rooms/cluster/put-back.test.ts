import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { keepSeen, sendMissingRecords } from '../../../src/campaign/on-engine/record-of-run.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import type { Leader } from '../../../src/cluster/leader/leader.ts';
import { readAllLines } from '../../../src/cluster/leader/rows.ts';
import type { RunRecord, Submission } from '../../../src/cluster/runs/run-record.ts';
import { readRun } from '../../../src/cluster/runs/runs.ts';
import { keepMark, type Marks } from '../../../src/cluster/store/run-mark.ts';
import { openStore } from '../../../src/cluster/store/store.ts';
import type { Notice } from '../../../src/contract/notice.ts';
import { readSeenOnEngine, writeSeenOnEngine } from '../../../src/disk/lock/engine-note.ts';
import { type Lock, lockVersion, type Purchase, type StepRecord } from '../../../src/lock/record.ts';
import { writeRecord } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { type engineHere, headHere, known, nothingToDo, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);
const bought = (n: number): StepRecord => {
  const facts = { fingerprint: `1:${'f'.repeat(64)}`, generation: 1, attempt: 1, key: `k${n}`, state: 'running' };
  return { address: `film@${n}`, kind: 'video', purchases: [{ ...facts, jobId: `job-${n}`, request: {} } as Purchase] };
};
const lockOf = (...numbers: number[]): Lock => ({
  version: lockVersion,
  steps: new Map(numbers.map((n) => [`film@${n}`, bought(n)])),
});

/** A run with nothing to do, whose record has the lines of these jobs. */
const withJobs = (numbers = [1, 2], store: string | null = 's'): Submission => {
  return { ...nothingToDo({ account, store }), lines: numbers.map((n) => writeRecord(bought(n))) };
};

function inMemory(): Marks & { kept: Map<string, string> } {
  const kept = new Map<string, string>();
  return { kept, readMark: async (run) => kept.get(run), writeMark: async (run, text) => void kept.set(run, text) };
}
const markOf = (lines: number, jobs: number) => JSON.stringify({ lines, jobs });

/** A clone of the campaign, with what it has seen of a run. */
function clone(db: Database) {
  const folder = makeFolder();
  const said: string[] = [];
  const lock = join(folder, 'campaign.lock.jsonl');
  const notify = (news: Notice) => void said.push(news.is === 'diagnostics' ? '' : news.text);
  const giveBack = (run: RunRecord, known: Lock) =>
    sendMissingRecords({ database: db, shown: 'the engine' }, run, { lock: known, path: lock, notify });
  return { giveBack, lock, said };
}

/** A head that reaches the store, until the test ends. */
async function drive({ db, boss }: Awaited<ReturnType<typeof engineHere>>, marks: Marks): Promise<void> {
  // Whoever was the head before is not waited for.
  await db.query(`UPDATE mediabatch_queue.job SET state = 'retry' WHERE state = 'active'`);
  const own = { store: 's', marks, outputsOf: () => ({}) } as unknown as ConstructorParameters<typeof Leader>[0]['own'];
  await headHere({ db, boss }, { account, own });
}

test('I46 a run whose record lacks what its store has seen is deferred until a lock gives it back', async () => {
  const { engine, db, id } = await submittedHere(withJobs());
  const marks = inMemory();
  marks.kept.set(id, markOf(4, 3));
  const error = 'the database was restored from an older copy';
  const isAside = () => vi.waitFor(async () => expect((await readRun(db, id))?.error).toContain(error), 50_000);
  await drive(engine, marks);
  await isAside();
  const here = clone(db);
  const aside = { ...(await known(db, id)), error };
  // A clone that has not watched: it knows no more than the engine.
  await here.giveBack(aside, lockOf(1));
  await drive(engine, marks);
  await isAside();
  await here.giveBack(aside, lockOf(1, 2, 3));
  await drive(engine, marks);
  await vi.waitFor(async () => expect(await readRun(db, id)).toMatchObject({ state: 'ended', error: null }), 50_000);
  expect((await readAllLines(db, id)).join('')).toContain('job-3');
});

/** Makes a run look as if its database were another than the one that it was submitted to. */
async function move(db: Database, id: string): Promise<string> {
  const before = JSON.stringify({ system: '1', timeline: '00000001', tables: '1' });
  await db.query('UPDATE mediabatch.run SET server = $2 WHERE id = $1', [id, before]);
  return before;
}

test('I46 a run without a store in a database that was put back waits for a client that has seen all of it', async () => {
  const { engine, db, id } = await submittedHere(withJobs([1, 2], null));
  const server = await move(db, id);
  const isAside = () =>
    vi.waitFor(async () => expect((await readRun(db, id))?.error).toContain('another server took over'), 50_000);
  await drive(engine, inMemory());
  await isAside();
  const other = clone(db);
  await other.giveBack(await known(db, id), lockOf(1, 2));
  expect(other.said.join()).toContain('has an older copy of this run');
  await drive(engine, inMemory());
  await isAside();
  const submitter = clone(db);
  await writeSeenOnEngine(submitter.lock, { run: id, server, epoch: '0', lines: 2, jobs: 3 });
  await submitter.giveBack(await known(db, id), lockOf(1, 2, 3));
  await drive(engine, inMemory());
  await vi.waitFor(async () => expect(await readRun(db, id)).toMatchObject({ state: 'ended', error: null }), 50_000);
  expect((await readAllLines(db, id)).join('')).toContain('job-3');
});

test('I46 a client that watches keeps beside the lock how much there was: a snapshot that knows less is found when they attach', async () => {
  const { engine, db, id } = await submittedHere(withJobs([1, 2, 3], null));
  const here = clone(db);
  const keeper = await keepSeen(db, here.lock, { run: id, steps: () => lockOf(1, 2, 3).steps });
  keeper.note({ epoch: '0', lines: 3 });
  await keeper.end();
  expect(readSeenOnEngine(here.lock)).toMatchObject({ run: id, epoch: '0', lines: 3, jobs: 3 });
  await db.query('UPDATE mediabatch.line SET text = $1', [writeRecord(bought(1))]);
  // Git has taken the lock's lines, too: nobody knows what is missing.
  await here.giveBack(await known(db, id), lockOf(1));
  expect(here.said.join()).toContain('has an older copy of this run');
  await drive(engine, inMemory());
  await vi.waitFor(async () => expect((await readRun(db, id))?.error).toContain('restored from a copy'), 50_000);
});

test.each([
  ['has all that its store has seen', markOf(2, 2), false],
  ['has more', markOf(1, 1), false],
  ['has all of it in a database that was put back', markOf(2, 2), true],
])('a run that %s goes on', async (_, mark, isPutBack) => {
  const { engine, id } = await submittedHere(withJobs());
  if (isPutBack) await move(engine.db, id);
  const marks = inMemory();
  marks.kept.set(id, mark);
  await drive(engine, marks);
  await vi.waitFor(async () => expect(await readRun(engine.db, id)).toMatchObject({ state: 'ended' }), 50_000);
});

test('I46 a client that attaches gives an open run what only the lock here knows, and its head loses the right to write', async () => {
  const { db, id } = await submittedHere(withJobs());
  const epoch = async () => (await db.query<{ epoch: string }>('SELECT epoch FROM mediabatch.account'))[0]?.epoch;
  const before = await epoch();
  const here = clone(db);
  const { said } = here;
  const run = await known(db, id);
  await here.giveBack(run, lockOf(1, 2));
  expect([await epoch(), said]).toEqual([before, []]);
  await here.giveBack(run, lockOf(1, 2, 3));
  expect(Number(await epoch())).toBeGreaterThan(Number(before));
  expect((await readAllLines(db, id)).join('')).toContain('job-3');
  expect(said.join()).toContain('this command sent the records of this lock');
});

test('lines are marked when they are durable, and again after a store was away', async () => {
  const marks = inMemory();
  const { writeMark } = marks;
  marks.writeMark = async () => {
    marks.writeMark = writeMark;
    throw new Error('the store is away');
  };
  const file = { path: 'x', append: async () => {}, replace: async () => {}, close: async () => {} };
  const lines = keepMark(file, marks, { run: 'r', lines: 5, lock: () => lockOf(1, 2) });
  await lines.append('a\n');
  await lines.idle();
  expect(marks.kept.size).toBe(0);
  await lines.append('b\n');
  await lines.idle();
  expect(JSON.parse(marks.kept.get('r') ?? '')).toMatchObject({ lines: 7, jobs: 2 });
});

test('a folder keeps marks while it is mounted, behind no link, and under no other name', async () => {
  const [folder, outside] = [makeFolder(), makeFolder()];
  const store = await openStore(folder, { makes: true });
  expect(await store.readMark('r-1')).toBeUndefined();
  await store.writeMark('r-1', 'one');
  await store.writeMark('r-1', 'two');
  expect(await store.readMark('r-1')).toBe('two');
  await expect(store.writeMark('../r', 'x')).rejects.toThrow('is not a run id');
  rmSync(join(folder, '.mediabatch/runs'), { recursive: true });
  symlinkSync(outside, join(folder, '.mediabatch/runs'));
  await store.writeMark('r-1', 'three');
  expect(readdirSync(outside)).toEqual([]);
  rmSync(join(folder, '.mediabatch'), { recursive: true });
  mkdirSync(join(folder, '.mediabatch'));
  await expect(store.readMark('r-1')).rejects.toThrow('check whether it is mounted');
});
