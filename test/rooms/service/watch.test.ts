import { describe, expect, test } from 'vitest';
import type { JobEnd } from '../../../src/contract/answer.ts';
import type { Json } from '../../../src/ground/json.ts';
import { requireKind } from '../../../src/kinds/index.ts';
import type { Http, HttpAnswer } from '../../../src/service/http.ts';
import { Durations } from '../../../src/service/polling/durations.ts';
import { Poller } from '../../../src/service/polling/poller.ts';
import { findNewest, walkToFences } from '../../../src/service/service.ts';
import { watchJob } from '../../../src/service/watch.ts';
import { VirtualClock } from '../../rig/virtual-clock.ts';

const [image, video] = [requireKind('image'), requireKind('video')];

const answer = (status: number, json: unknown, headers: Record<string, string> = {}): HttpAnswer =>
  ({ is: 'answer', status, headers, json }) as HttpAnswer;
const job = (status: string, more: object = {}) => answer(200, { success: true, data: { id: 'j1', status, ...more } });
const done = job('COMPLETED', { outputUrl: 'https://files.example/j1' });
const broken: HttpAnswer = { is: 'broken', sent: true, message: 'ECONNRESET' };

/** Watches one job whose status calls get these answers in turn, the last one for ever. No time passes outside. */
async function watch(
  replies: HttpAnswer[],
  options: {
    patienceMs?: number;
    fresh?: boolean;
    abortAtMs?: number;
    kind?: string;
    jobId?: string;
    timeoutMs?: number;
    /** Durations of earlier jobs. */
    samples?: number[];
  } = {},
) {
  const { patienceMs = Number.POSITIVE_INFINITY, fresh = true, kind = 'image', jobId = 'j1', timeoutMs } = options;
  const clock = new VirtualClock();
  const startedAt = clock.now();
  const polls: number[] = [];
  const statuses: string[] = [];
  const notices: string[] = [];
  const paths = new Set<string>();
  const http: Http = {
    async call({ path }) {
      paths.add(path);
      polls.push(clock.now() - startedAt);
      return replies[Math.min(polls.length, replies.length) - 1] ?? broken;
    },
    close: async () => {},
  };
  const durations = new Durations({ image: options.samples ?? [] });
  const poller = new Poller({ http, clock, deadlineMs: 1000, durations });
  const redact = (text: string) => text.replaceAll('secret', '[key]');
  const controller = new AbortController();
  if (options.abortAtMs !== undefined) void clock.sleep(options.abortAtMs).then(() => controller.abort());
  const end: JobEnd = await clock.run(
    watchJob(
      { kind, jobId },
      { clock, poller, health: { failures: 0, countAgainAt: 0 }, patienceMs, redact },
      {
        ...{ signal: controller.signal, fresh, ...(timeoutMs !== undefined && { patienceMs: timeoutMs }) },
        onStatus: (status) => statuses.push(status),
        notice: (text) => notices.push(text),
      },
    ),
  );
  return { end, polls, statuses, notices, paths, elapsedMs: clock.now() - startedAt };
}

describe('watching a job', () => {
  test('from queued to its link', async () => {
    const { end, statuses, paths } = await watch([job('QUEUED'), job('PROCESSING'), job('PROCESSING'), done]);
    expect(end).toEqual({
      is: 'completed',
      result: { values: { url: 'https://files.example/j1' }, files: ['https://files.example/j1'] },
    });
    expect(statuses).toEqual(['QUEUED', 'PROCESSING', 'COMPLETED']);
    expect([...paths]).toEqual(['/image/status/j1']);
  });

  test('what the service says of it is told up to a length, whole without the key', async () => {
    const long = 'x'.repeat(495) + 'secret'.repeat(900);
    const { end, statuses, notices } = await watch([job(long), job('FAILED', { error: long })]);
    expect(end).toEqual({ is: 'failed', error: `${'x'.repeat(495)}[key]` });
    expect(statuses[0]).toBe('x'.repeat(60));
    expect(notices).toEqual([expect.stringContaining(`“${'x'.repeat(60)}”`)]);
  });

  test('a reason that is an object is shown', async () => {
    const reasons: [Json, string][] = [
      [{ code: 'NSFW', message: 'content policy' }, 'content policy'],
      [['blurred', 'cut'], '["blurred","cut"]'],
      [{}, 'the service gave no reason'],
    ];
    for (const [error, told] of reasons)
      expect((await watch([job('FAILED', { error })])).end).toEqual({ is: 'failed', error: told });
  });

  test('a job that runs for long is looked at every few seconds, never in a busy loop', async () => {
    const { polls } = await watch([job('PROCESSING')], { patienceMs: 600_000 });
    const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
    // The first of its kind is looked at more often at first, to find out how long such jobs take.
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
    expect(Math.min(...gaps.slice(12))).toBeGreaterThanOrEqual(1000);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(60_000);
  });

  test('a job from an earlier run is looked at at once', async () => {
    expect((await watch([done], { fresh: false })).polls).toEqual([0]);
  });

  test('patience ends the watching, not the job', async () => {
    const { end } = await watch([job('PROCESSING')], { patienceMs: 60_000 });
    expect(end).toMatchObject({ is: 'unwatched', because: 'patience' });
  });

  test('the timeout of a task ends it sooner, and says so', async () => {
    const { end, elapsedMs } = await watch([job('PROCESSING')], { patienceMs: 600_000, timeoutMs: 20_000 });
    expect(end).toMatchObject({ is: 'unwatched', because: 'patience', error: expect.stringContaining('`timeout`') });
    expect(elapsedMs).toBeLessThan(60_000);
  });

  test('patience ends the watching in time, also if another job has just shown that such jobs take longer', async () => {
    const clock = new VirtualClock();
    const startedAt = clock.now();
    const times = { createdAt: '2026-01-01T00:00:00.100Z', completedAt: '2026-01-01T00:00:05.200Z' };
    const http: Http = {
      async call({ path }) {
        return path.endsWith('j1')
          ? job('COMPLETED', { outputUrl: 'https://files.example/j1', ...times })
          : job('QUEUED');
      },
      close: async () => {},
    };
    const poller = new Poller({ http, clock, deadlineMs: 1000 });
    const endOf = async (jobId: string, patienceMs: number) => {
      const health = { failures: 0, countAgainAt: 0 };
      const ports = { clock, poller, health, patienceMs, redact: (text: string) => text };
      const options = { signal: new AbortController().signal, fresh: true, onStatus: () => {}, notice: () => {} };
      const { is } = await watchJob({ kind: 'image', jobId }, ports, options);
      return { is, afterMs: clock.now() - startedAt };
    };
    const [ended, left] = await clock.run(Promise.all([endOf('j1', 60_000), endOf('j2', 3000)]));
    expect(ended).toMatchObject({ is: 'completed' });
    expect(left).toEqual({ is: 'unwatched', afterMs: expect.closeTo(3001, 0) });
  });

  test('a queued job is looked at again if all jobs before it took no time', async () => {
    const { end, elapsedMs } = await watch([job('QUEUED'), job('QUEUED'), done], { samples: [0, 0, 0] });
    expect(end).toMatchObject({ is: 'completed' });
    expect(elapsedMs).toBeLessThan(5000);
  });

  test('a failed sync of a clipping is tried at the other address, too', async () => {
    const failed = answer(500, { success: false, message: 'provider sync failed' });
    const clips = [{ id: 'c', order: 0, outputAsset: { url: 'https://files.example/c' } }];
    const { end, paths } = await watch([failed, job('COMPLETED', { clips })], { kind: 'clipping' });
    expect(end).toMatchObject({ is: 'completed', result: { parts: 1 } });
    expect([...paths]).toEqual(['/clippings/status/j1', '/clippings/refresh/j1']);
  });

  test('a clipping that is completed without clips is polled again, and then has no output', async () => {
    const { end, polls } = await watch([job('COMPLETED', { clips: [] })], { kind: 'clipping' });
    expect(end).toEqual({ is: 'completed', result: { values: {}, files: [], parts: 0 } });
    expect(polls.length).toBeGreaterThan(3);
  });

  test('an interruption ends it within the same moment', async () => {
    const { end, elapsedMs } = await watch([job('PROCESSING')], { abortAtMs: 5000 });
    expect(end).toMatchObject({ is: 'unwatched', because: 'signal' });
    expect(elapsedMs).toBe(5000);
  });

  test('404 is waited out for half a minute, then the job counts as lost', async () => {
    const missing = answer(404, { success: false, error: 'not found', code: 'x', message: 'not found' });
    expect((await watch([missing, missing, done])).end.is).toBe('completed');
    const { end, elapsedMs } = await watch([missing]);
    expect(end.is).toBe('lost');
    expect(elapsedMs).toBeGreaterThanOrEqual(30_000);
    expect(elapsedMs).toBeLessThan(60_000);
  });

  test.each<[string, HttpAnswer]>([
    ['a broken wire', broken],
    ['a server error', answer(500, { success: false })],
    ['somebody else’s page', answer(200, undefined)],
    ['a redirect', answer(302, undefined, { location: 'https://new.example/?token=abc' })],
    ['an answer without a status', answer(200, { success: true, data: {} })],
    ['the status of another job', job('COMPLETED', { id: 'other', outputUrl: 'https://x' })],
  ])('%s for ever: the host is given up after a bounded number of looks', async (_name, reply) => {
    const { end, polls, notices } = await watch([reply]);
    expect(end).toMatchObject({ is: 'unwatched', because: 'unreachable' });
    expect(notices).toEqual([expect.stringContaining('trying again, no job is lost')]);
    expect(polls.length).toBeLessThanOrEqual(20);
    expect((await watch([reply, reply, reply, done])).end.is).toBe('completed');
    if (reply.is === 'answer' && reply.status === 302)
      expect(end).toMatchObject({ error: expect.stringContaining('redirects to https://new.example/; check') });
    if (reply.is === 'answer' && reply.json !== undefined && reply.status === 200)
      expect(end).toMatchObject({ error: expect.stringMatching(/no `data.status`|of another job/) });
  });

  test('429 is waited out as long as it is asked for, within limits, and never counts as a failure', async () => {
    const busy = (seconds: string) => answer(429, { success: false }, { 'retry-after': seconds });
    const { end, polls } = await watch([...Array.from({ length: 30 }, () => busy('20')), done]);
    expect(end.is).toBe('completed');
    expect((polls[1] ?? 0) - (polls[0] ?? 0)).toBeGreaterThanOrEqual(20_000);
    const far = await watch([busy('999999999'), done]);
    expect((far.polls[1] ?? 0) - (far.polls[0] ?? 0)).toBeLessThanOrEqual(150_000);
  });

  test('a wait of a day that the service asks for is shown once, and never outlasts the patience', async () => {
    const busy = answer(429, { success: false, message: 'slow down' }, { 'retry-after': '86400' });
    const { notices, end } = await watch([busy, busy, busy, done]);
    expect(end.is).toBe('completed');
    expect(notices).toEqual([expect.stringMatching(/slow down \(asks to wait 1440 min\); trying again/)]);
    const left = await watch([job('QUEUED'), busy], { patienceMs: 60_000 });
    const error = expect.stringMatching(/^the service asks to wait longer than --patience \(.*slow down \(asks/);
    expect(left.end).toEqual({ is: 'unwatched', because: 'patience', error });
    expect(left.elapsedMs).toBeLessThan(60_000);
    expect(left.notices).toEqual([]);
  });

  test('a refused credential ends it', async () => {
    expect((await watch([answer(401, { success: false })])).end).toMatchObject({ is: 'unwatched', because: 'auth' });
    // One odd answer is no refusal.
    expect((await watch([answer(401, { success: false }), done])).end.is).toBe('completed');
  });

  test('an undocumented state with an error ends the wait, and keeps the job', async () => {
    const { end } = await watch([job('EXPIRED', { error: 'no worker took it' })]);
    expect(end).toMatchObject({ is: 'unwatched', error: expect.stringContaining('no worker took it') });
  });

  test('an undocumented state ends the wait after an hour; a documented one only tells once how to leave', async () => {
    const odd = await watch([job('STALLED')]);
    expect(odd.end).toMatchObject({ is: 'unwatched', error: expect.stringContaining('“STALLED”: for 1 h') });
    expect(odd.elapsedMs).toBeGreaterThan(3_600_000);
    const slow = await watch([job('PROCESSING')], { abortAtMs: 4 * 3_600_000 });
    expect(slow.end).toMatchObject({ is: 'unwatched', because: 'signal' });
    expect(slow.notices).toEqual([expect.stringContaining('--patience')]);
    expect((await watch([job('PROCESSING')], { patienceMs: 4 * 3_600_000 })).notices).toEqual([]);
  });

  test.each<[string, string, string]>([
    ['4711', '4711', 'completed'],
    // The record of a create, and the job of its status.
    ['4711', 'job_1', 'completed'],
    ['4711', '4712', 'unwatched'],
    ['j1', '4711', 'unwatched'],
  ])('job %s: an answer that names %s leaves it %s', async (jobId, id, is) => {
    const { end } = await watch([job('COMPLETED', { id, outputUrl: 'https://files.example/x' })], { jobId });
    expect(end.is).toBe(is);
  });

  test('COMPLETED without a link is asked about again, and never taken for success', async () => {
    expect((await watch([job('COMPLETED'), done])).end.is).toBe('completed');
    expect((await watch([job('COMPLETED')])).end.is).toBe('unwatched');
  });
});

/** Each letter is a job; a later letter is a newer one. `?` is a record without an id. */
function serve(pages: readonly string[]): (path: string) => Promise<Json> {
  return (path) => {
    const page = Number(new URL(path, 'http://localhost').searchParams.get('page'));
    const generations = [...(pages[page - 1] ?? '')].map((id) =>
      id === '?' ? {} : { id, status: 'COMPLETED', createdAt: new Date(id.charCodeAt(0) * 1000).toISOString() },
    );
    return Promise.resolve({ generations, pagination: { hasNextPage: page < pages.length } });
  };
}

test.each<[string, string[], string, string, boolean]>([
  ['stops at the fence', ['fed', 'cba'], 'c', 'fed', true],
  ['a job on two pages counts once', ['fed', 'dcb'], 'c', 'fed', true],
  ['stops at the older one of two fences', ['fed', 'cba'], 'e,c', 'fed', true],
  ['an empty list that had been empty', [''], '', '', true],
  ['all of a list that had been empty', ['fe', 'd'], '', 'fed', true],
  ['the fence is gone', ['fe', 'd'], 'x', 'fed', false],
  ['out of order', ['efd', 'c'], 'c', 'efd', false],
  ['a record that cannot be read', ['f?d', 'c'], 'c', 'fd', false],
  ['many pages', [...'zyxwvutsrqponmlkjihgfedcba'], 'a', 'zyxwvutsrqponmlkjihgfedcb', true],
])('%s', async (_, pages, fence, jobs, complete) => {
  const walk = await walkToFences(video, { fences: fence.split(','), get: serve(pages) });
  expect([walk.jobs.map(({ jobId }) => jobId).join(''), walk.complete]).toEqual([jobs, complete]);
});

test.each<[string, (page: string | null) => Json, boolean]>([
  ['says of more, and has one page', () => ({ hasNextPage: true, totalCount: 3 }), false],
  ['counts more than it shows', () => ({ hasNextPage: false, totalCount: 3 }), false],
  ['counts what it shows', () => ({ hasNextPage: false, totalCount: 2 }), true],
  ['does not say, and sends the same page again', () => ({}), false],
])('a list that had been empty and %s', async (_, pagination, complete) => {
  const get = async (path: string): Promise<Json> => ({
    generations: ['e', 'd'].map((id) => ({
      ...{ id, status: 'COMPLETED', createdAt: new Date(id.charCodeAt(0) * 1000).toISOString() },
    })),
    pagination: pagination(new URL(path, 'http://localhost').searchParams.get('page')),
  });
  expect((await walkToFences(video, { fences: [''], get })).complete).toBe(complete);
});

test('a list that never ends is given up', async () => {
  let read = 0;
  const get = async () => {
    read += 1;
    const createdAt = new Date(1e12 - read * 1000).toISOString();
    return { generations: [{ id: `v${read}`, status: 'COMPLETED', createdAt }], pagination: { hasNextPage: true } };
  };
  expect((await walkToFences(video, { fences: ['x'], get })).complete).toBe(false);
  expect(read).toBe(50);
});

test('no fence at all is no walk to rely on', async () => {
  expect((await walkToFences(video, { fences: [], get: serve(['fed']) })).complete).toBe(false);
});

test.each(['fed', ''])('the newest of %j is its first job', async (page) => {
  expect(await findNewest(video, serve([page]))).toBe(page.slice(0, 1));
});

test('a kind without a list has no newest job, and no walk', async () => {
  const get = () => Promise.reject(new Error('it was asked'));
  await expect(findNewest(image, get)).rejects.toThrow('image has no list');
  expect(await walkToFences(image, { fences: ['a'], get })).toEqual({ jobs: [], older: [], complete: false });
});

test('a newest record without an id is no fence', async () => {
  await expect(findNewest(video, serve(['?ed']))).rejects.toThrow('no usable id');
});
