import { describe, expect, it, test } from 'vitest';
import type { DownloadAnswer, JobEnd, JobResult } from '../../../src/contract/answer.ts';
import { OutputError } from '../../../src/contract/errors.ts';
import type { OutputTarget } from '../../../src/contract/ports.ts';
import { decideLookUp } from '../../../src/engine/lost-creates.ts';
import type { Json } from '../../../src/ground/json.ts';
import { collectOutput, saveOutputs } from '../../../src/run/save.ts';
import { image, orderOf, type Script, tracedPorts } from './traced-ports.ts';

type LostCreate = Parameters<typeof decideLookUp>[0][number];

async function* noBytes(): AsyncGenerator<Uint8Array> {}

const open: DownloadAnswer = { is: 'open', download: { body: noBytes() } };
const gone: DownloadAnswer = { is: 'expired', message: 'HTTP 403' };
const away: DownloadAnswer = { is: 'unreachable', message: 'no route' };
const target: OutputTarget = { address: 'hero@de', save: 'out/a', media: 'image', replaces: [], notice: () => {} };
const result: JobResult = { values: {}, files: ['https://f.example/0', 'https://f.example/1'] };

/** Fetches the second file of a job; `answers` in turn, the last one for ever. */
async function collect(
  answers: DownloadAnswer[],
  script: Script & { watched?: JobEnd; asIs?: true; patienceMs?: number } = {},
) {
  const opened: string[] = [];
  const watched: unknown[] = [];
  const notices: string[] = [];
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
  const ports = { ...traced.ports, patienceMs: script.patienceMs };
  const collected = await collectOutput({ ...orderOf(), ...(script.asIs && { asIs: true }) }, ports, {
    jobId: 'job-1',
    result,
    index: 1,
    target: { ...target, notice: (text) => notices.push(text) },
  });
  return { collected, opened, watched, notices, sleeps: traced.sleeps };
}

describe('a paid file', () => {
  it('is fetched once, at once, where nothing is wrong', async () => {
    expect(await collect([open])).toEqual({
      collected: { output: image },
      opened: ['https://f.example/1'],
      watched: [],
      notices: [],
      sleeps: [],
    });
  });

  it.each([
    [0, [500, 1000, 2000, 4000]],
    [0.5, [750, 1500, 3000, 6000]],
    [1, [1000, 2000, 4000, 8000]],
  ])('is asked for five times, with growing waits (random %d)', async (random, sleeps) => {
    const { collected, opened, ...rest } = await collect([away], { random });
    expect(collected).toEqual({ end: { outcome: 'failed', error: 'no route (tried 5 times; the job is not lost)' } });
    expect(opened).toHaveLength(5);
    expect(rest.sleeps).toEqual(sleeps);
  });

  it('is asked for again when the host wants it, once, and after 150 s at most', async () => {
    const busy = (retryAfterMs: number): DownloadAnswer => ({ ...away, retryAfterMs });
    const { sleeps, notices } = await collect([busy(20_000), gone, busy(900_000), busy(900_000), open], { random: 1 });
    expect(sleeps).toEqual([20_000, 2000, 150_000, 150_000]);
    expect(notices).toEqual(['no route; trying again, the job is not lost']);
  });

  it('is left to the next run when the wait that its host wants is beyond --patience', async () => {
    const answers: DownloadAnswer[] = [away, { ...away, retryAfterMs: 20_000 }];
    const { collected, sleeps } = await collect(answers, { random: 1, patienceMs: 10_000 });
    expect(collected).toEqual({
      end: { outcome: 'running', error: 'no route, longer than --patience', unsaved: true },
    });
    expect(sleeps).toEqual([1000]);
  });

  it('comes by a fresh link of the same file when its link has expired', async () => {
    const fresh = { ...result, files: ['https://f.example/new-0', 'https://f.example/new-1'] };
    const { collected, opened, watched } = await collect([gone, open], { watched: { is: 'completed', result: fresh } });
    expect(collected).toHaveProperty('output');
    expect(opened).toEqual(['https://f.example/1', 'https://f.example/new-1']);
    expect(watched).toEqual([{ kind: 'image', jobId: 'job-1', fresh: false }]);
  });

  it.each<[string, JobEnd]>([
    ['the job is not told of', { is: 'unwatched', because: 'unreachable', error: 'x' }],
    ['it now has fewer files', { is: 'completed', result: { values: {}, files: ['https://f.example/new'] } }],
  ])('is asked for by its old link where %s', async (_name, watched) => {
    const { opened, collected } = await collect([gone], { watched });
    expect(opened).toEqual(Array(5).fill('https://f.example/1'));
    expect(collected).toMatchObject({ end: { error: 'HTTP 403 (tried 5 times; the job is not lost)' } });
  });

  it('is not asked for again where that does not help', async () => {
    const { collected, opened } = await collect([{ is: 'refused', message: 'too large' }]);
    expect(collected).toEqual({ end: { outcome: 'failed', error: 'too large' } });
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
    expect(bad.collected).toMatchObject({
      end: { error: 'f.example: it was bad-bytes (tried 5 times; the job is not lost)' },
    });
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
    expect(collected).toHaveProperty('output');
    expect(asked).toEqual([undefined, undefined, undefined, undefined, true]);
  });

  it('is left to the next run by an interruption, before it is asked for or while it waits', async () => {
    const stopped = { end: { outcome: 'running', error: 'interrupted', unsaved: true } };
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
      error: expect.stringMatching(/^out\/a\.png does not fit `expect`: .*; the file was saved$/),
    });
  });

  it('are a bug where the kind gives none', async () => {
    await expect(save({}, { kind: 'post' })).rejects.toThrow('internal error: kind post gives no files');
    await expect(save({}, { kind: 'nothing' })).rejects.toThrow('internal error: kind nothing gives no files');
  });
});

type Echoes = { [field: string]: Json };

const fields = ['prompt', 'model'];
const old = { prompt: 'a known video', model: 'm1' };
const asked = { prompt: 'a red fox in snow', model: 'm1' };
const show = (jobId: string, echoes: Echoes) => ({ kind: 'video', jobId, echoes });

/** `lost`: requests; `resent` are those that were sent again. The known job stands in every list as `knownShown`. */
function lookUp(
  lists: [Echoes[], Echoes[]],
  { lost = [asked], resent = false, complete = true, knownShown = old as Echoes } = {},
): string[] {
  const [first, second] = lists.map((jobs) => ({
    jobs: jobs.map((echoes, index) => show(`n${index}`, echoes)),
    older: [show('known', knownShown)],
    complete,
  }));
  if (first === undefined || second === undefined) throw new Error('two walks');
  const creates = lost.map((request, index) => ({ id: `k${index}`, request, resent }));
  const verdicts = decideLookUp(creates, [first, second], { fields, known: new Map([['known', old]]) });
  return creates.map(({ id }) => {
    const verdict = verdicts.get(id);
    return verdict?.do === 'adopt' ? `adopt ${verdict.job.jobId}` : (verdict?.do ?? 'none');
  });
}

test.each<[string, Echoes[], string]>([
  ['a job on record is not there', [], 'hold'],
  ['every job on record is there', [old], 'resend'],
])('in a list that had been empty %s', (_, listed, verdict) => {
  const walk = { jobs: listed.map((echoes) => show('known', echoes)), older: [show('known', old)], complete: true };
  const lost: LostCreate = { id: 'k', request: asked, resent: false, fence: '' };
  const known = new Map([['known', old]]);
  const fenced = { ...lost, id: 'fenced', fence: 'n0' };
  expect(decideLookUp([lost, fenced], [walk, walk], { fields, known }).get('k')?.do).toBe(verdict);
});

test.each<[string, string, string]>([
  ['signs as entities', 'Tom & Jerry <in snow>', 'Tom &amp; Jerry &lt;in snow&gt;'],
  ['an ellipsis where it was cut', 'a red fox in snow', 'a red fox …'],
  ['three dots where it was cut', 'a red fox in snow', 'A red fox...'],
  ['an entity, and cut', 'Tom & Jerry in snow', 'Tom &amp; Je…'],
])('a text that comes back with %s is like it', (_, prompt, shown) => {
  const request = { ...asked, prompt };
  expect(lookUp([[{ ...request, prompt: shown }], []], { lost: [request] })).toEqual(['hold']);
});

test.each<[string, () => string[], string[]]>([
  ['the only match is taken', () => lookUp([[asked], [asked]]), ['adopt n0']],
  ['a list that lags: seen in the second walk only', () => lookUp([[], [asked]]), ['adopt n0']],
  ['nothing, twice', () => lookUp([[], []]), ['resend']],
  ['nothing, twice, after it was sent again', () => lookUp([[], []], { resent: true }), ['hold']],
  [
    'more matches than creates',
    () =>
      lookUp([
        [asked, asked],
        [asked, asked],
      ]),
    ['hold'],
  ],
  [
    'takes are interchangeable',
    () =>
      lookUp(
        [
          [asked, asked],
          [asked, asked],
        ],
        { lost: [asked, asked] },
      ),
    ['adopt n0', 'adopt n1'],
  ],
  ['one of two takes was made', () => lookUp([[asked], [asked]], { lost: [asked, asked] }), ['adopt n0', 'resend']],
  ['another job of somebody else', () => lookUp([[{ prompt: 'x', model: 'm1' }], []]), ['resend']],
  ['case and space folded', () => lookUp([[{ ...asked, prompt: 'A red  fox in snow' }], []]), ['hold']],
  ['cut short', () => lookUp([[{ ...asked, prompt: 'a red fox' }], []]), ['hold']],
  ['another model', () => lookUp([[{ ...asked, model: 'm2' }], []]), ['hold']],
  ['a record that shows no prompt', () => lookUp([[{ model: 'm1' }], []]), ['hold']],
  ['not walked to the fence', () => lookUp([[], []], { complete: false }), ['hold']],
  ['the list rewrites prompts', () => lookUp([[], []], { knownShown: { ...old, prompt: 'A known video.' } }), ['hold']],
  ['the list leaves prompts out', () => lookUp([[], []], { knownShown: { model: 'm1' } }), ['hold']],
  [
    'the list renames models',
    () => lookUp([[{ ...asked, model: 'z' }], []], { knownShown: { ...old, model: 'z' } }),
    ['adopt n0'],
  ],
  [
    'one record, two requests that it cannot tell apart',
    () => lookUp([[asked], [asked]], { lost: [asked, { ...asked, seed: '2' } as typeof asked] }),
    ['hold', 'hold'],
  ],
])('%s', (_, seen, expected) => {
  expect(seen()).toEqual(expected);
});

const record = (jobId: string, echoes: Echoes = asked) => show(jobId, echoes);
const known = new Map([['known', old]]);

/** Both walks saw the same: these jobs, newest first, and behind them the known one. */
function decide(jobs: string[], creates: Partial<LostCreate>[], more: { complete?: boolean[]; shown?: Echoes } = {}) {
  const { complete = [true, true], shown = old } = more;
  const [first = true, second = true] = complete;
  const walk = { jobs: jobs.map((jobId) => record(jobId)), older: [record('known', shown)] };
  const lost = creates.map((one, index) => ({ id: `k${index}`, request: asked, resent: false, ...one }));
  const verdicts = decideLookUp(
    lost,
    [
      { ...walk, complete: first },
      { ...walk, complete: second },
    ],
    { fields, known },
  );
  return lost.map(({ id }) => verdicts.get(id));
}

test('the message says why the job is unknown, and which jobs it may be', () => {
  const held = (error: string, ...jobIds: string[]) => [
    { do: 'hold', error, candidates: jobIds.map((jobId) => record(jobId)) },
  ];
  for (const complete of [
    [false, true],
    [true, false],
  ]) {
    const error = 'the list could not be read back to the time before the request';
    expect(decide(['n0'], [{}], { complete })).toEqual(held(error, 'n0'));
  }
  const silent = 'the list shows no recorded job with the request as sent, so requests cannot be compared';
  expect(decide(['n0'], [{}], { shown: { model: 'm1' } })).toEqual(held(silent, 'n0'));
  expect(decide(['n0', 'n1'], [{}])).toEqual(held('more listed jobs match than requests were sent', 'n0', 'n1'));
  expect(decide([], [{ resent: true }])).toEqual(held('the request was sent twice, and the list shows no job for it'));
});

test('the nearest job is distinguished from an equal one', () => {
  const like = { ...asked, prompt: `${asked.prompt}, again` };
  const walk = { jobs: [record('near', like)], older: [record('known', old)], complete: true };
  const lost = [{ id: 'k', request: asked, resent: false }];
  expect(decideLookUp(lost, [walk, walk], { fields, known }).get('k')).toEqual({
    do: 'hold',
    error: 'listed jobs match the request only in part',
    candidates: [record('near', like)],
  });
});

test('only what is newer than the mark that was set before the first of them counts', () => {
  const adopted = (jobId: string) => ({ do: 'adopt', job: record(jobId) });
  expect(decide(['n1', 'n0'], [{ fence: 'n0' }])).toEqual([adopted('n1')]);
  expect(decide(['n0'], [{ fence: 'n0' }])).toEqual([{ do: 'resend' }]);
  expect(decide(['n0'], [{ fence: 'gone' }])).toEqual([adopted('n0')]);
  expect(decide(['n2', 'n1', 'n0'], [{ fence: 'n1' }, { fence: 'n0' }])).toEqual([adopted('n2'), adopted('n1')]);
  expect(decide(['n2', 'n1'], [{ fence: 'n2' }, { fence: 'gone' }])).toEqual([adopted('n2'), adopted('n1')]);
});

test('a recorded link, whose signature changes with each request, shows nothing about the list', () => {
  const walk = { jobs: [], older: [record('known', old)], complete: true };
  const lost = [{ id: 'k', request: asked, resent: false }];
  const linked = new Map([['known', { prompt: { $ref: 'a', field: 'url' }, model: 'm1' }]]);
  expect(decideLookUp(lost, [walk, walk], { fields, known: linked }).get('k')?.do).toBe('hold');
});

test('what is on record already is nobody’s answer', () => {
  const walk = { jobs: [record('mine')], older: [record('known', old)], complete: true };
  const lost = [{ id: 'k', request: asked, resent: false }];
  const recorded = new Map([...known, ['mine', asked]]);
  expect(decideLookUp(lost, [walk, walk], { fields, known: recorded }).get('k')).toEqual({ do: 'resend' });
});
