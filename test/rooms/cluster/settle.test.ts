import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { watchOnEngine } from '../../../src/campaign/on-engine/watch-engine.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { requireLock } from '../../../src/campaign/read-lock.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { emptyLock, writeHeader } from '../../../src/lock/write.ts';
import { makeFolder } from '../../rig/folder.ts';
import { submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);

function line(n: number): string {
  const facts = { fingerprint: `1:${'f'.repeat(64)}`, generation: 1, attempt: 1, state: 'running', key: `k${n}` };
  return `${JSON.stringify({ address: `hero@${n}`, kind: 'image', ...facts, jobId: `job-${n}`, request: {} })}\n`;
}

/** A campaign in a folder of its own that watches a run. `before`: what has become of the run by then. */
async function watch(
  given: Partial<{
    lines: string[];
    store: string | null;
    addresses: string[];
    before(run: { db: Database; id: string; end(result: object): Promise<void> }): Promise<unknown>;
    on(heard: string, lock: string): void;
  }> = {},
) {
  const { lines = [line(1)], store = 's', addresses = [], before, on } = given;
  const { db, boss, id } = await submittedHere({ ...submission({ account, store }), lines });
  const end = async (result: object) => {
    const text = "UPDATE mediabatch.run SET state = 'ended', ended = now(), result = $2 WHERE id = $1";
    await db.query(text, [id, JSON.stringify({ exit: 0, outcomes: {}, ...result })]);
  };
  await before?.({ db, id, end });
  const folder = makeFolder();
  const lock = join(folder, 'campaign.lock.jsonl');
  writeFileSync(lock, writeHeader(emptyLock()));
  await writeEngineNote(lock, { run: id, engine: 'x', account, since: '2026', submitted: true });
  const said: string[] = [];
  const heard: string[] = [];
  const notify = ({ text = '' }: { text?: string }) => void said.push(text);
  const campaign = { paths: { lock, folder, outputs: folder }, service: undefined, notify } as unknown as OpenCampaign;
  const leaving = new AbortController();
  const watched = watchOnEngine({ database: db, boss, account, shown: 'x', close: async () => {} }, campaign, {
    run: id,
    name: 'c',
    outline: { tasks: [], addresses: new Set(addresses) },
    loaded: await requireLock(campaign, undefined),
    access: undefined,
    store: undefined,
    signal: leaving.signal,
    on(event) {
      if (event.event !== 'noticed') return;
      heard.push(event.message);
      on?.(event.message, lock);
    },
  });
  watched.catch(() => {});
  const has = (text: string) => readFileSync(lock, 'utf8').includes(text);
  return { db, id, lock, has, end, watched, leaving, said, heard };
}

/** As `git checkout` of another branch does, and `reset --hard`. */
function replaceByGit(lock: string): void {
  writeFileSync(`${lock}.git`, writeHeader(emptyLock()));
  renameSync(`${lock}.git`, lock);
}

const noticed = (message: string) => JSON.stringify({ event: 'noticed', at: '2026-01-01T00:00:00Z', message });

test.each(['nobody', 'git'])('%s writes the lock between the last line and the end: no job is lost', async (who) => {
  const { watched, has, lock } = await watch({
    lines: [line(1), line(2)],
    async before({ db, id, end }) {
      const text = 'INSERT INTO mediabatch.event (run, epoch, no, text) VALUES ($1, 0, 1, $2)';
      await db.query(text, [id, noticed('the last one')]);
      await end({});
    },
    on(heard, path) {
      if (who === 'git' && heard === 'the last one') replaceByGit(path);
    },
  });
  expect((await watched).exit).toBe(0);
  expect([has('job-1'), has('job-2'), readEngineNote(lock)]).toEqual([true, true, undefined]);
});

test('an attached command prints why a run was deferred; what it has bought is in the lock, and the note stays', async () => {
  const error = 'the orders are damaged';
  const before = ({ db, id }: { db: Database; id: string }) =>
    db.query('UPDATE mediabatch.run SET error = $2 WHERE id = $1', [id, error]);
  const { watched, has, lock, id } = await watch({ before });
  await expect(watched).rejects.toMatchObject({
    failure: { code: 'MB3704', message: `the workers on x cannot continue this run: ${error}`, lock },
  });
  expect(has('job-1')).toBe(true);
  expect(readEngineNote(lock)).toMatchObject({ run: id });
});

test.each([
  ['I10 is not said while files of a run are where another apply was attached', null, 3],
  ['files that stay in a store are named to a command that attaches without it', 's', 0],
])('%s', async (_name, store, exit) => {
  const outputs = [{ path: 'output/hero-1.png', sha256: 'f'.repeat(64), bytes: 9, type: 'image/png' }];
  const ended = { at: '2026-01-01T00:00:00Z', event: 'run-ended', exit: 0, outcomes: { done: 1 }, kept: 0 };
  const { watched, said } = await watch({
    ...{ store, addresses: ['hero@1'] },
    lines: [`${JSON.stringify({ ...JSON.parse(line(1)), state: 'done', outputs })}\n`],
    before: ({ end }) => end({ outcomes: { 'hero@1': 'done' }, end: ended }),
  });
  expect(await watched).toMatchObject({ exit, end: { exit, ...(exit === 3 && { unsaved: 1 }) } });
  const where = store === null ? 'on the machine on which another `apply` was attached' : 'in the store of the run';
  expect(said.join()).toContain(`files not downloaded to this machine: output/hero-1.png; the files are ${where}`);
});

/** Watches a run that goes on, once its first line has come. */
async function watchOpenRun() {
  const watching = await watch({ addresses: ['hero@1', 'hero@2', 'hero@3'] });
  const { db, id, has } = watching;
  const add = async (n: number) => {
    const text = 'INSERT INTO mediabatch.line (run, epoch, no, text) VALUES ($1, 1, $2, $3)';
    await db.query(text, [id, n, line(n)]);
    await db.query(text.replace('.line', '.event'), [id, n, noticed(`of line ${n}`)]);
    await db.query("SELECT pg_notify('mediabatch_run', $1)", [id]);
  };
  await vi.waitFor(() => expect(has('job-1')).toBe(true), 50_000);
  return { ...watching, add };
}

test.each(['ends', 'is left'])(
  'I46 lines that git takes out of the lock are written again when the run %s',
  async (how) => {
    const { lock, has, add, end, watched, leaving, heard } = await watchOpenRun();
    replaceByGit(lock);
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
  await end({ outcomes: { 'hero@2': 'done' } });
  expect((await watched).exit).toBe(6);
  expect(said.join()).toContain('lost its records of hero@2');
});
