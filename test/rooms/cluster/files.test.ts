import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Boss, filesQueue } from '../../../src/cluster/database/boss.ts';
import type { Database } from '../../../src/cluster/database/database.ts';
import { FileDispatcher, type OwnFetchWorker } from '../../../src/cluster/leader/file-dispatcher.ts';
import { endRun } from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { fetchNamed, placeOf, serveFiles } from '../../../src/cluster/worker/serve-files.ts';
import type { DownloadAnswer } from '../../../src/contract/answer.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { LeadershipLostError, OutputError } from '../../../src/contract/errors.ts';
import type { Downloads } from '../../../src/contract/ports.ts';
import { createOutputs } from '../../../src/disk/outputs/outputs.ts';
import { Places } from '../../../src/ground/places.ts';
import { makeFolder } from '../../rig/folder.ts';
import { until } from '../../rig/place.ts';
import { png } from '../disk/media.ts';
import { chunks, filesIn, sha256, target } from '../disk/targets.ts';
import { submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);
const store = 'c'.repeat(16);
const seal = makeSeal('the key');
const secret = 'https://files.example/hero.png?signature=abcdef0123456789';
const file = { jobId: 'job-1', index: 0, url: secret };
const still = { signal: new AbortController().signal };

const come = (): DownloadAnswer => ({ is: 'open', download: { body: chunks(png) } });

function stall() {
  let goOn = () => {};
  const stalled = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  return { stalled, goOn };
}

describe('files that hands fetch', () => {
  let db: Database;
  let boss: Boss;
  let root: string;
  let run: string;
  let asked: string[];
  let answer: (url: string, signal: AbortSignal) => Promise<DownloadAnswer> | DownloadAnswer;
  const downloads: Downloads = {
    open: async (url, signal) => {
      asked.push(url);
      return answer(url, signal);
    },
  };

  beforeEach(async () => {
    ({ db, boss, id: run } = await submittedHere(submission({ account, store })));
    root = makeFolder();
    asked = [];
    answer = come;
    await db.query('UPDATE mediabatch.account SET epoch = 1');
  });

  const dispatcher = (epoch = 1) => {
    const one = new FileDispatcher({ db, boss, account, epoch, seal });
    onTestFinished(() => one.close());
    return one;
  };
  const outputs = (epoch = 1, own?: OwnFetchWorker) =>
    dispatcher(epoch).outputsOf({ id: run, campaign: 'spring', store }, own);

  const outputsOf = (campaign: string) => fetchNamed(downloads, createOutputs(join(root, campaign)));

  /** A fetch worker, until the test ends or stops it. */
  function hand(facts: Partial<Parameters<typeof serveFiles>[0]> = {}) {
    const end = new AbortController();
    const served = serveFiles({
      ...{ db, boss, account, seal, outputsOf, clock: systemClock, worker: 'w', signal: end.signal },
      ...{ place: store, slots: new Places(4), ...facts },
    });
    const stop = async () => {
      end.abort();
      await served;
    };
    onTestFinished(stop);
    return { stop };
  }

  const rows = () => db.query<{ state: string; task: Buffer | null }>('SELECT state, task FROM mediabatch.file');
  const jobs = () =>
    db.query<{ state: string }>('SELECT state FROM mediabatch_queue.job WHERE name = $1 ORDER BY created_on', [
      filesQueue(account, store),
    ]);

  test('come, are checked, and stand where the campaign has them', async () => {
    const facts = { width: 1, height: 1 };
    hand({ outputsOf: (campaign) => ({ ...outputsOf(campaign), measure: async () => facts }) });
    const saved = await outputs().fetch(target(), file, still);
    const output = { path: 'images/hero.png', sha256: sha256(png), bytes: png.length, type: 'image/png' };
    expect(saved).toEqual({ is: 'saved', output });
    expect(filesIn(root)).toEqual(['spring/images/hero.png']);
    expect(await rows()).toEqual([{ state: 'saved', task: null }]);
    expect((await jobs()).map(({ state }) => state)).toEqual(['completed']);
    expect(await outputs().measure(output, ['size'])).toEqual(facts);
  });

  test('are fetched once for the next head, too', async () => {
    hand();
    const first = await outputs().fetch(target(), file, still);
    await db.query('UPDATE mediabatch.account SET epoch = 2');
    expect(await outputs(2).fetch(target(), { ...file, url: `${secret}-new` }, still)).toEqual(first);
    expect(asked).toEqual([secret]);
    await expect(outputs(1).fetch(target(), { ...file, index: 1 }, still)).rejects.toThrow(LeadershipLostError);
  });

  test('that a head waited for when it died are those of the next one, by its newer link', async () => {
    const leaving = new AbortController();
    const first = outputs().fetch(target(), file, { signal: leaving.signal });
    while ((await rows()).length === 0) await systemClock.sleep(5);
    leaving.abort();
    expect(await first).toMatchObject({ is: 'unreachable' });
    await db.query('UPDATE mediabatch.account SET epoch = 2');
    const [before] = await rows();
    const second = outputs(2).fetch(target(), { ...file, url: `${secret}-new` }, still);
    while ((await rows())[0]?.task?.equals(before?.task ?? png) !== false) await systemClock.sleep(5);
    hand();
    expect((await second).is).toBe('saved');
    expect(asked).toEqual([`${secret}-new`]);
    expect(await jobs()).toHaveLength(1);
  });

  test('of a hand that died are the next one’s, and what the first one says afterwards does not count', async () => {
    const { stalled, goOn } = stall();
    answer = async () => {
      if (asked.length === 1) await stalled;
      return come();
    };
    const clock = { ...systemClock, sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms * 100, signal) };
    // With one slot: what is given back must not come to it again.
    const frozen = hand({ clock, slots: new Places(1) });
    const saved = outputs().fetch(target(), file, still);
    await until(() => asked.length === 1);
    expect(filesIn(root)).toEqual([]);
    // As the monitor of the queue does it after missed heartbeats.
    await db.query("UPDATE mediabatch_queue.job SET state = 'retry', start_after = now() WHERE state = 'active'");
    hand({ worker: 'second' });
    expect((await saved).is).toBe('saved');
    goOn();
    await frozen.stop();
    expect(asked).toHaveLength(2);
    expect(filesIn(root)).toEqual(['spring/images/hero.png']);
    expect(await db.query('SELECT worker, state FROM mediabatch.file')).toEqual([{ worker: 'second', state: 'saved' }]);
  });

  test('are given back by a hand that ends, and nothing half-written stays', async () => {
    answer = (_url, signal) => ({ is: 'open', download: { body: endless(signal) } });
    const first = hand();
    const saved = outputs().fetch(target(), file, still);
    await until(() => filesIn(root).length === 1);
    expect(filesIn(root)[0]).toMatch(/^spring\/images\/\.mediabatch-[0-9a-f]+\.part$/);
    await first.stop();
    expect(filesIn(root)).toEqual([]);
    answer = come;
    hand();
    expect((await saved).is).toBe('saved');
  });

  test.each<DownloadAnswer>([
    { is: 'expired', message: 'files.example answered HTTP 403' },
    { is: 'refused', message: 'files.example answered HTTP 400' },
    { is: 'unreachable', message: 'files.example: no answer' },
  ])('that do not come ($is) are tried again when the head says so', async (failed) => {
    hand();
    answer = () => failed;
    const one = outputs();
    expect(await one.fetch(target(), file, still)).toEqual(failed);
    expect(await rows()).toEqual([{ state: 'failed', task: null }]);
    answer = come;
    expect((await one.fetch(target(), { ...file, url: `${secret}-new` }, still)).is).toBe('saved');
    expect(asked).toEqual([secret, `${secret}-new`]);
  });

  test('with bad bytes are no files', async () => {
    hand();
    answer = () => ({ is: 'open', download: { body: chunks(Buffer.from('<html>')) } });
    expect(await outputs().fetch(target(), file, still)).toMatchObject({ is: 'bad-bytes' });
    expect(filesIn(root)).toEqual([]);
  });

  test.each([
    ['disk', /^worker on .+: no space left$/],
    ['path', /^no space left$/],
  ] as const)('that cannot be saved (%s) end as they do on one machine, and a disk is named', async (why, text) => {
    const save = () => Promise.reject(new OutputError(why, 'no space left'));
    hand({ outputsOf: () => fetchNamed(downloads, { ...createOutputs(root), save }) });
    const fetched = outputs().fetch(target(), file, still);
    await expect(fetched).rejects.toMatchObject({ why, message: expect.stringMatching(text) });
  });

  test('never leave the folder of their campaign', async () => {
    hand();
    for (const save of ['../hero', '/tmp/hero', 'a/../../hero']) {
      const fetched = outputs().fetch(target({ save, address: save }), file, still);
      await expect(fetched).rejects.toMatchObject({ why: 'path' });
    }
    expect(filesIn(root)).toEqual([]);
  });

  test('are nothing to a hand of another store, account or key', async () => {
    hand({ place: 'd'.repeat(16) });
    hand({ account: 'b'.repeat(32) });
    const leaving = new AbortController();
    const saved = outputs().fetch(target(), file, { signal: leaving.signal });
    while ((await jobs()).length === 0) await systemClock.sleep(5);
    await systemClock.sleep(1500);
    expect([asked, (await jobs())[0]?.state]).toEqual([[], 'created']);
    const other = hand({ seal: makeSeal('another key') });
    expect(await saved).toEqual({ is: 'expired', message: 'the link of the file was encrypted with another key' });
    expect(asked).toEqual([]);
    await other.stop();
  });

  test('leave no link in the database, sealed or not', async () => {
    const one = outputs();
    const saved = one.fetch(target(), file, still);
    while ((await jobs()).length === 0) await systemClock.sleep(5);
    const dump = async () => {
      const files = await db.query<{ row: string }>('SELECT file::text AS row FROM mediabatch.file');
      const queued = await db.query<{ row: string }>('SELECT job::text AS row FROM mediabatch_queue.job');
      return [...files, ...queued].map(({ row }) => row).join('\n');
    };
    const hex = Buffer.from('files.example').toString('hex');
    expect(await dump()).not.toMatch(new RegExp(`files\\.example|${hex}`));
    hand();
    await saved;
    expect(await dump()).not.toContain('files.example');
    expect(await rows()).toEqual([{ state: 'saved', task: null }]);
  });

  test('that nobody wants any more are let go of', async () => {
    const leaving = new AbortController();
    const saved = outputs().fetch(target(), file, { signal: leaving.signal });
    while ((await jobs()).length === 0) await systemClock.sleep(5);
    leaving.abort();
    await saved;
    await endRun(db, { account, epoch: 1, run }, { exit: 0, outcomes: {} });
    hand();
    while ((await jobs())[0]?.state !== 'completed') await systemClock.sleep(5);
    expect(asked).toEqual([]);
  });

  test('are fetched by the head itself while it has places, and by others when it would take long', async () => {
    const slots = new Places(1);
    const { stalled, goOn } = stall();
    const slow: Downloads = { open: () => stalled.then(come) };
    const outputsOf = (campaign: string) => fetchNamed(slow, createOutputs(join(root, campaign)));
    const one = outputs(1, { store, slots, outputsOf });
    const first = one.fetch(target(), file, still);
    const second = one.fetch(target({ save: 'images/two' }), { ...file, index: 1 }, still);
    hand();
    expect((await second).is).toBe('saved');
    expect(await rows()).toHaveLength(1);
    goOn();
    expect((await first).is).toBe('saved');
    expect(await rows()).toHaveLength(1);
  });

  test('of a run without a store go to whoever is attached to a run of that name', () => {
    expect(placeOf({ store, campaign: 'spring' })).toBe(store);
    const own = placeOf({ store: null, campaign: 'spring' });
    expect(own).toMatch(/^own-[0-9a-f]{16}$/);
    expect(placeOf({ store: null, campaign: 'autumn' })).not.toBe(own);
  });
});

/** A picture that never ends, until somebody gives up. */
async function* endless(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield png;
  while (!signal.aborted) await systemClock.sleep(5);
  throw new Error('interrupted');
}
