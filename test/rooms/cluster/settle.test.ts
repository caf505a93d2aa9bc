import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchOnEngine } from '../../../src/campaign/on-engine/watch-engine.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { requireLock } from '../../../src/campaign/read-lock.ts';
import { submitRun } from '../../../src/cluster/runs/runs.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { emptyLock, writeHeader } from '../../../src/lock/write.ts';
import { engineHere, submission } from './engine-here.ts';

const account = 'a'.repeat(32);

function line(n: number): string {
  const facts = { fingerprint: `1:${'f'.repeat(64)}`, generation: 1, attempt: 1, state: 'running', key: `k${n}` };
  return `${JSON.stringify({ address: `hero@${n}`, kind: 'image', ...facts, jobId: `job-${n}`, request: {} })}\n`;
}

test.each(['nobody', 'git'])(
  '%s writes the lock between the last line and the end: no job of it is lost',
  async (who) => {
    const { db, boss } = await engineHere();
    const { id } = await submitRun(db, boss, { ...submission({ account, store: 's' }), lines: [line(1), line(2)] });
    const event = { event: 'noticed', at: '2026-01-01T00:00:00Z', message: 'the last one' };
    await db.query('INSERT INTO mediabatch.event (run, epoch, no, text) VALUES ($1, 0, 1, $2)', [
      id,
      JSON.stringify(event),
    ]);
    await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $2 WHERE id = $1", [
      id,
      JSON.stringify({ exit: 0, outcomes: {} }),
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'mediabatch-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const lock = join(folder, 'campaign.lock.jsonl');
    writeFileSync(lock, writeHeader(emptyLock()));
    await writeEngineNote(lock, { run: id, engine: 'x', account, since: '2026', submitted: true });
    const paths = { lock, folder, outputs: folder };
    const campaign = { paths, service: undefined, tell: () => {} } as unknown as OpenCampaign;
    const loaded = await requireLock(campaign, undefined);
    const result = await watchOnEngine({ database: db, boss, account, shown: 'x', close: async () => {} }, campaign, {
      run: id,
      name: 'c',
      outline: { tasks: [], addresses: new Set() },
      loaded,
      access: undefined,
      store: undefined,
      signal: new AbortController().signal,
      on(told) {
        if (who === 'nobody' || told.event !== 'noticed' || told.message !== event.message) return;
        writeFileSync(`${lock}.git`, writeHeader(emptyLock()));
        renameSync(`${lock}.git`, lock);
      },
    });
    expect(result.exit).toBe(0);
    for (const job of ['job-1', 'job-2']) expect(readFileSync(lock, 'utf8')).toContain(job);
    expect(readEngineNote(lock)).toBeUndefined();
  },
);

test('whoever is attached hears why a run was put aside; what it has bought is in the lock, and the note stays', async () => {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, { ...submission({ account, store: 's' }), lines: [line(1)] });
  await db.query("UPDATE mediabatch.run SET error = 'the orders are damaged' WHERE id = $1", [id]);
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lock = join(folder, 'campaign.lock.jsonl');
  writeFileSync(lock, writeHeader(emptyLock()));
  await writeEngineNote(lock, { run: id, engine: 'x', account, since: '2026', submitted: true });
  const paths = { lock, folder, outputs: folder };
  const campaign = { paths, service: undefined, tell: () => {} } as unknown as OpenCampaign;
  const watched = watchOnEngine({ database: db, boss, account, shown: 'x', close: async () => {} }, campaign, {
    run: id,
    name: 'c',
    outline: { tasks: [], addresses: new Set() },
    loaded: await requireLock(campaign, undefined),
    access: undefined,
    store: undefined,
    signal: new AbortController().signal,
    on: () => {},
  });
  await expect(watched).rejects.toMatchObject({
    failure: { code: 'MB3704', message: 'the workers on x cannot go on with this run: the orders are damaged', lock },
  });
  expect(readFileSync(lock, 'utf8')).toContain('job-1');
  expect(readEngineNote(lock)).toMatchObject({ run: id });
});

/** Watches a run that has ended, with one file that is not here. `store`: of the run. */
async function watchWithoutFile({ store }: { store: string | null }) {
  const { db, boss } = await engineHere();
  const outputs = [{ path: 'output/hero-1.png', sha256: 'f'.repeat(64), bytes: 9, type: 'image/png' }];
  const done = `${JSON.stringify({ ...JSON.parse(line(1)), state: 'done', outputs })}\n`;
  const { id } = await submitRun(db, boss, { ...submission({ account, store }), lines: [done] });
  const end = { at: '2026-01-01T00:00:00Z', event: 'run-ended', exit: 0, outcomes: { done: 1 }, kept: 0 };
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $2 WHERE id = $1", [
    id,
    JSON.stringify({ exit: 0, outcomes: { 'hero@1': 'done' }, end }),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lock = join(folder, 'campaign.lock.jsonl');
  writeFileSync(lock, writeHeader(emptyLock()));
  const said: string[] = [];
  const tell = ({ text = '' }: { text?: string }) => void said.push(text);
  const campaign = { paths: { lock, folder, outputs: folder }, service: undefined, tell } as unknown as OpenCampaign;
  const result = await watchOnEngine({ database: db, boss, account, shown: 'x', close: async () => {} }, campaign, {
    run: id,
    name: 'c',
    outline: { tasks: [], addresses: new Set(['hero@1']) },
    loaded: await requireLock(campaign, undefined),
    access: undefined,
    store: undefined,
    signal: new AbortController().signal,
    on: () => {},
  });
  return { result, said: said.join() };
}

test('I10 is not said while files of a run are where another apply was attached', async () => {
  const { result, said } = await watchWithoutFile({ store: null });
  expect(result).toMatchObject({ exit: 3, end: { exit: 3, unsaved: 1 } });
  expect(said).toContain('output/hero-1.png did not come here: it is where another `apply` was attached');
});

test('files that stay in a store are named to whoever attaches without it', async () => {
  const { result, said } = await watchWithoutFile({ store: 's' });
  expect(result).toMatchObject({ exit: 0, end: { exit: 0 } });
  expect(said).toContain('output/hero-1.png did not come here: it is in the store of the run');
});

/** A campaign in a folder of its own that watches a run with one line, and the open run. */
async function watchOpenRun() {
  const { db, boss } = await engineHere();
  const { id } = await submitRun(db, boss, { ...submission({ account, store: 's' }), lines: [line(1)] });
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const lock = join(folder, 'campaign.lock.jsonl');
  writeFileSync(lock, writeHeader(emptyLock()));
  const said: string[] = [];
  const tell = ({ text = '' }: { text?: string }) => void said.push(text);
  const campaign = { paths: { lock, folder, outputs: folder }, service: undefined, tell } as unknown as OpenCampaign;
  const leaving = new AbortController();
  const heard: string[] = [];
  const watched = watchOnEngine({ database: db, boss, account, shown: 'x', close: async () => {} }, campaign, {
    run: id,
    name: 'c',
    outline: { tasks: [], addresses: new Set(['hero@1', 'hero@2', 'hero@3']) },
    loaded: await requireLock(campaign, undefined),
    access: undefined,
    store: undefined,
    signal: leaving.signal,
    on: (event) => void (event.event === 'noticed' && heard.push(event.message)),
  });
  watched.catch(() => {});
  const has = (text: string) => readFileSync(lock, 'utf8').includes(text);
  const add = async (n: number) => {
    const text = 'INSERT INTO mediabatch.line (run, epoch, no, text) VALUES ($1, 1, $2, $3)';
    await db.query(text, [id, n, line(n)]);
    const event = { event: 'noticed', at: '2026-01-01T00:00:00Z', message: `of line ${n}` };
    await db.query(text.replace('.line', '.event'), [id, n, JSON.stringify(event)]);
    await db.query("SELECT pg_notify('mediabatch_run', $1)", [id]);
  };
  const end = async (outcomes: { [step: string]: string }) => {
    const text = "UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $2 WHERE id = $1";
    await db.query(text, [id, JSON.stringify({ exit: 0, outcomes })]);
  };
  await vi.waitFor(() => expect(has('job-1')).toBe(true), 50_000);
  return { db, id, lock, has, add, end, watched, leaving, said, heard };
}

test.each(['ends', 'is left'])(
  'I46 lines that git takes out of the lock are written again when the run %s',
  async (how) => {
    const { lock, has, add, end, watched, leaving, heard } = await watchOpenRun();
    // As `git checkout` of another branch does, and `reset --hard`.
    writeFileSync(`${lock}.git`, writeHeader(emptyLock()));
    renameSync(`${lock}.git`, lock);
    await add(2);
    await add(3);
    await vi.waitFor(() => expect(heard).toContain('of line 3'), 50_000);
    if (how === 'ends') await end({});
    else leaving.abort();
    await watched;
    for (const job of ['job-1', 'job-2', 'job-3']) expect(has(job), job).toBe(true);
    expect(heard.join()).toContain('both versions were joined');
  },
);

test('what a head says it has done, and no line tells of, is for a person', async () => {
  const { end, watched, said } = await watchOpenRun();
  await end({ 'hero@2': 'done' });
  expect((await watched).exit).toBe(6);
  expect(said.join()).toContain('lost its records of hero@2');
});
