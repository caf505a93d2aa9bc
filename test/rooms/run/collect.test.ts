import { describe, expect, it } from 'vitest';
import type { DownloadAnswer, JobEnd, JobResult } from '../../../src/contract/answer.ts';
import { OutputError } from '../../../src/contract/errors.ts';
import type { OutputTarget } from '../../../src/contract/ports.ts';
import { collectOutput, saveOutputs } from '../../../src/run/save.ts';
import { image, orderOf, type Script, tracedPorts } from './traced-ports.ts';

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const open: DownloadAnswer = { is: 'open', download: { body: noBytes() } };
const gone: DownloadAnswer = { is: 'expired', message: 'HTTP 403' };
const away: DownloadAnswer = { is: 'unreachable', message: 'no route' };
const target: OutputTarget = { address: 'hero@de', save: 'out/a', media: 'image', replaces: [], notice: () => {} };
const result: JobResult = { values: {}, files: ['https://f.example/0', 'https://f.example/1'] };

/** Fetches the second file of a job; `answers` in turn, the last one for ever. */
async function collect(answers: DownloadAnswer[], script: Script & { watched?: JobEnd; asIs?: true } = {}) {
  const opened: string[] = [];
  const watched: unknown[] = [];
  const traced = tracedPorts({
    ...script,
    service: {
      open: async (url) => {
        opened.push(url);
        return answers[Math.min(opened.length, answers.length) - 1] as DownloadAnswer;
      },
      watch: async (job, { fresh }) => {
        watched.push({ ...job, fresh });
        return script.watched ?? { is: 'failed', error: 'x' };
      },
    },
    outputs: { save: async () => image, ...script.outputs },
  });
  const collected = await collectOutput({ ...orderOf(), ...(script.asIs && { asIs: true }) }, traced.ports, {
    jobId: 'job-1',
    result,
    index: 1,
    target,
  });
  return { collected, opened, watched, sleeps: traced.sleeps };
}

describe('a paid file', () => {
  it('is fetched once, at once, where nothing is wrong', async () => {
    expect(await collect([open])).toEqual({
      collected: { is: 'collected', output: image },
      opened: ['https://f.example/1'],
      watched: [],
      sleeps: [],
    });
  });

  it.each([
    [0, [500, 1000, 2000, 4000]],
    [0.5, [750, 1500, 3000, 6000]],
    [1, [1000, 2000, 4000, 8000]],
  ])('is asked for five times, with growing waits (random %d)', async (random, sleeps) => {
    const { collected, opened, ...rest } = await collect([away], { random });
    expect(collected).toEqual({
      is: 'uncollected',
      error: 'no route (tried 5 times; the job is kept)',
      interrupted: false,
    });
    expect(opened).toHaveLength(5);
    expect(rest.sleeps).toEqual(sleeps);
  });

  it('is asked for again when the host wants it, once, and after 150 s at most', async () => {
    const busy = (retryAfterMs: number): DownloadAnswer => ({ ...away, retryAfterMs });
    const { sleeps } = await collect([busy(20_000), gone, busy(900_000), open], { random: 1 });
    expect(sleeps).toEqual([20_000, 2000, 150_000]);
  });

  it('comes by a fresh link of the same file when its link has expired', async () => {
    const fresh = { ...result, files: ['https://f.example/new-0', 'https://f.example/new-1'] };
    const { collected, opened, watched } = await collect([gone, open], { watched: { is: 'completed', result: fresh } });
    expect(collected.is).toBe('collected');
    expect(opened).toEqual(['https://f.example/1', 'https://f.example/new-1']);
    expect(watched).toEqual([{ kind: 'image', jobId: 'job-1', fresh: false }]);
  });

  it.each<[string, JobEnd]>([
    ['the job is not told of', { is: 'unwatched', because: 'unreachable', error: 'x' }],
    ['it now has fewer files', { is: 'completed', result: { values: {}, files: ['https://f.example/new'] } }],
  ])('is asked for by its old link where %s', async (_name, watched) => {
    const { opened, collected } = await collect([gone], { watched });
    expect(opened).toEqual(Array(5).fill('https://f.example/1'));
    expect(collected).toMatchObject({ error: 'HTTP 403 (tried 5 times; the job is kept)' });
  });

  it('is not asked for again where that does not help', async () => {
    const { collected, opened } = await collect([{ is: 'refused', message: 'too large' }]);
    expect(collected).toEqual({ is: 'uncollected', error: 'too large', interrupted: false });
    expect(opened).toHaveLength(1);
  });

  it('is fetched again when its bytes are bad, and not when the disk is', async () => {
    const save = (why: 'bad-bytes' | 'disk') => ({
      save: async () => {
        throw new OutputError(why, `it was ${why}`);
      },
    });
    const bad = await collect([open], { outputs: save('bad-bytes') });
    expect(bad.opened).toHaveLength(5);
    expect(bad.collected).toMatchObject({ error: 'it was bad-bytes (tried 5 times; the job is kept)' });
    await expect(collect([open], { outputs: save('disk') })).rejects.toThrow('it was disk');
    const bug = { save: async () => Promise.reject(new Error('a bug')) };
    await expect(collect([open], { outputs: bug })).rejects.toThrow('a bug');
  });

  it('is saved as it is at the last try when a user accepted it', async () => {
    const asked: unknown[] = [];
    const save = async (target: OutputTarget) => {
      asked.push(target.asIs);
      if (target.asIs !== true) throw new OutputError('bad-bytes', 'cut');
      return { path: 'a.png', sha256: '0', bytes: 1, type: 'image/png' };
    };
    const { collected } = await collect([open], { outputs: { save }, asIs: true });
    expect(collected.is).toBe('collected');
    expect(asked).toEqual([undefined, undefined, undefined, undefined, true]);
  });

  it('is left to the next run by an interruption, before it is asked for or while it waits', async () => {
    const stopped = { is: 'uncollected', error: 'interrupted', interrupted: true };
    expect(await collect([open], { aborted: true })).toMatchObject({ collected: stopped, opened: [] });
    const while_ = await collect([away], { onSleep: (_ms, abort) => abort() });
    expect(while_.collected).toEqual(stopped);
    expect(while_.opened).toHaveLength(1);
  });
});

describe('the files of a job', () => {
  async function save(script: Script, facts: Parameters<typeof orderOf>[0] = {}) {
    const traced = tracedPorts({ service: { open: async () => open }, ...script });
    const end = await saveOutputs(orderOf(facts), traced.ports, { jobId: 'job-1', result });
    return { end, ...traced };
  }

  it('are all on record, and told of as what they are', async () => {
    const saves: OutputTarget[] = [];
    const outputs = {
      save: async (to: OutputTarget) => {
        saves.push(to);
        to.notice('put aside');
        return { ...image, path: to.save };
      },
    };
    const { end, told, events } = await save({ outputs }, { replaces: ['ff'] });
    expect(end).toEqual({ outcome: 'done' });
    expect(saves.map(({ address, media, replaces }) => [address, media, replaces])).toEqual(
      Array(2).fill(['hero@de', 'image', ['ff']]),
    );
    const both = saves.map(({ save: path }) => ({ ...image, path }));
    expect(told).toEqual([['finish', { state: 'done', jobId: 'job-1', outputs: both }]]);
    expect(events).toEqual([
      ...both.map(() => ({ event: 'noticed', address: 'hero@de', message: 'put aside' })),
      ...both.map((output) => ({ event: 'output-saved', address: 'hero@de', output, how: 'downloaded' })),
    ]);
    const again = await save({ outputs }, { outputs: [image] });
    expect(again.events.at(-1)).toMatchObject({ how: 'restored' });
  });

  it.each<['bad-bytes' | 'disk' | 'path', string, unknown[]]>([
    ['disk', 'running', [['stop', 'disk', 'no']]],
    ['path', 'failed', []],
  ])('that cannot be written (%s) end the step as %s', async (why, outcome, expected) => {
    const failing = { save: async () => Promise.reject(new OutputError(why, 'no')) };
    const { end, told } = await save({ outputs: failing });
    expect(end).toEqual({ outcome, error: 'no', ...(outcome === 'running' && { unsaved: true }) });
    expect(told).toEqual(expected);
  });

  it('that did not come are not on record, not even the first of them', async () => {
    const answers: DownloadAnswer[] = [open, { is: 'refused', message: 'no' }];
    const service = { open: async () => answers.shift() ?? open };
    const { end, told } = await save({ service, outputs: { save: async () => image } });
    expect(end).toEqual({ outcome: 'failed', error: 'no' });
    expect(told).toEqual([]);
    expect((await save({ aborted: true })).end).toEqual({
      outcome: 'running',
      error: 'interrupted',
      unsaved: true,
    });
  });

  it('that are not as expected are on record all the same', async () => {
    const outputs = { save: async () => image, measure: async () => ({ width: 10, height: 10 }) };
    const { end, told } = await save({ outputs }, { expect: { bytes: { min: 2 } } as never });
    expect(told).toHaveLength(1);
    expect(end).toMatchObject({
      outcome: 'failed',
      error: expect.stringMatching(/^out\/a\.png does not fit `expect`: .*; the file is kept$/),
    });
  });

  it('are a bug where the kind gives none', async () => {
    await expect(save({}, { kind: 'post' })).rejects.toThrow('internal error: kind post gives no files');
    await expect(save({}, { kind: 'nothing' })).rejects.toThrow('internal error: kind nothing gives no files');
  });
});
