import { describe, expect, test } from 'vitest';
import type { JobEnd } from '../../../src/contract/answer.ts';
import type { Carry, Retries } from '../../../src/plan/plan.ts';
import { runStep, saveJob } from '../../../src/run/step.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { image, orderOf, type Script, type Traced, tracedPorts } from './traced-ports.ts';

interface Watched {
  job: unknown;
  options: { urgency?(): number; patienceMs?: number | undefined; fresh: boolean };
}

interface Ran extends Traced {
  end: StepEnd;
  watched: Watched[];
  /** Downloads that began before the job was handed back, while it still held its slot. */
  early: number;
  /** Creates sent. */
  sent: number;
}

const completed: JobEnd = { is: 'completed', result: { values: {}, files: ['https://f.example/0'] } };
const failed: JobEnd = { is: 'failed', error: 'boom' };
const retries: Retries = { left: 1, credits: null, generation: 2, repeat: 2 };

/** Jobs end in turn as given; each create is charged 3. */
async function run(order: Partial<Carry>, ends: JobEnd[] = [], script: Script = {}): Promise<Ran> {
  const watched: Watched[] = [];
  let sent = 0;
  let opened = 0;
  const traced = tracedPorts({
    ...script,
    service: {
      create: async () => {
        sent += 1;
        return { is: 'accepted', job: { jobId: `job-${sent}`, credits: 3, balance: null } };
      },
      watch: async (job, options) => {
        watched.push({ job, options });
        options.onStatus('PROCESSING');
        options.notice('a strange word');
        return ends[watched.length - 1] ?? completed;
      },
      open: async () => {
        opened += 1;
        return { is: 'open', download: { body: (async function* () {})() } };
      },
      ...script.service,
    },
    outputs: { save: async () => image, ...script.outputs },
  });
  const made = await runStep(orderOf(order), traced.ports, () => 7);
  const early = opened;
  const end = 'outcome' in made ? made : await saveJob(made, traced.ports);
  return { ...traced, end, watched, early, sent };
}

describe('a step that buys', () => {
  test('says what it does from start to end', async () => {
    const ran = await run({});
    const of = { address: 'hero@de' };
    expect(ran.end).toEqual({ outcome: 'done', credits: 3 });
    expect(ran.events).toEqual([
      expect.objectContaining({ event: 'create-intended', ...of }),
      expect.objectContaining({ event: 'job-created', ...of, jobId: 'job-1' }),
      { event: 'job-progressed', ...of, jobId: 'job-1', status: 'PROCESSING' },
      { event: 'noticed', ...of, message: 'a strange word' },
      { event: 'output-saved', ...of, output: image, how: 'downloaded' },
    ]);
    expect(ran.early).toBe(0);
  });

  test.each<[Partial<Carry>, object, object]>([
    [{}, { kind: 'image', jobId: 'job-1' }, { fresh: true }],
    [{ paidRequest: { model: 'alpha-2' } }, { kind: 'image', jobId: 'job-1', model: 'alpha-2' }, { fresh: true }],
    [{ paidRequest: { model: 2 } }, { kind: 'image', jobId: 'job-1' }, { fresh: true }],
    [{ timeoutMs: 60_000 }, { kind: 'image', jobId: 'job-1' }, { fresh: true, patienceMs: 60_000 }],
    [{ action: 'attach', jobId: 'job-9' }, { kind: 'image', jobId: 'job-9' }, { fresh: false }],
  ])('has its job watched with what is known of it: %j', async (order, job, options) => {
    const { watched } = await run(order);
    expect(watched).toHaveLength(1);
    expect(watched[0]?.job).toStrictEqual(job);
    expect(watched[0]?.options).toMatchObject(options);
    expect(watched[0]?.options.patienceMs).toBe('patienceMs' in options ? options.patienceMs : undefined);
    expect(watched[0]?.options.urgency?.()).toBe(7);
  });
});

describe('a job that comes to nothing', () => {
  test('is on record, and nobody buys another one', async () => {
    const ran = await run({}, [failed]);
    expect(ran.end).toEqual({ outcome: 'failed', credits: 3, error: 'boom' });
    expect(ran.told).toContainEqual(['finish', { state: 'failed', jobId: 'job-1', error: 'boom' }]);
    expect(ran.sent).toBe(1);
  });

  test('is followed by another where the plan allows it, and both were charged', async () => {
    const ran = await run({ retries }, [failed, completed]);
    expect(ran.end).toEqual({ outcome: 'done', credits: 6 });
    expect(ran.events).toContainEqual({
      event: 'job-retried',
      address: 'hero@de',
      jobId: 'job-1',
      error: 'boom',
      left: 0,
    });
    expect(ran.sent).toBe(2);
  });

  test('is never bought again when the service only does not know it any more', async () => {
    const ran = await run({ retries }, [{ is: 'lost', error: 'HTTP 404' }]);
    expect(ran.end).toEqual({ outcome: 'lost', credits: 3, error: 'HTTP 404' });
    expect(ran.told).toContainEqual(['finish', { state: 'lost', jobId: 'job-1', error: 'HTTP 404' }]);
    expect(ran.sent).toBe(1);
  });

  test('is not bought again once the run is asked to end', async () => {
    const ran = await run({ action: 'attach', jobId: 'job-9', retries }, [failed], { aborted: true });
    expect(ran.end).toEqual({ outcome: 'failed', credits: 0, error: 'boom' });
    expect(ran.sent).toBe(0);
  });

  test.each([
    ['what this run paid', { retries: { ...retries, credits: 3 } }, 2],
    ['what this run paid, which is more than is left', { retries: { ...retries, credits: 2 } }, 1],
    ['what an earlier run paid', { jobId: 'job-9', credits: 5, retries: { ...retries, credits: 5 } }, 1],
    ['what an earlier run paid, too much', { jobId: 'job-9', credits: 5, retries: { ...retries, credits: 4 } }, 0],
  ])('counts for the next one: %s', async (_name, order, creates) => {
    const { sent } = await run(order, [failed, completed]);
    expect(sent).toBe(creates);
  });
});

test.each([
  ['auth', [['stop', 'auth', 'why']]],
  ['unreachable', [['stop', 'unreachable', 'why']]],
  ['signal', []],
  ['patience', []],
] as const)(
  'a job that is not watched any longer runs on (%s), and ends all buying only where nothing more can come of it',
  async (because, stops) => {
    const ran = await run({ jobId: 'job-9', action: 'attach' }, [{ is: 'unwatched', because, error: 'why' }]);
    expect(ran.end).toEqual({ outcome: 'running', credits: 0, error: 'why' });
    expect(ran.told).toEqual(stops);
  },
);

describe('a step that shares a job', () => {
  const shared = { sharesJobOf: 'hero@en', action: 'download' } as const;

  test('takes it, and pays nothing', async () => {
    const jobOf = async () => ({ kind: 'image', jobId: 'job-5', files: 1 });
    const ran = await run(shared, [], { ledger: { jobOf } });
    expect(ran.end).toEqual({ outcome: 'done', credits: 0 });
    expect(ran.watched[0]).toMatchObject({ job: { jobId: 'job-5' }, options: { fresh: false } });
    expect(ran.sent).toBe(0);
  });

  test('is blocked where there is none', async () => {
    const ran = await run(shared);
    expect(ran.end).toEqual({ outcome: 'blocked', credits: 0, error: 'hero@en has no job to share' });
    expect(ran.sent).toBe(0);
  });
});

describe('a step about a part of something', () => {
  const part = { of: 'cuts', fingerprint: '1:cuts', index: 2 };
  const gave = (files: number): Script => ({
    ledger: { jobOf: async () => ({ kind: 'clipping', jobId: 'job-5', files }) },
  });

  test('is collected without being asked again once it is paid', async () => {
    const ran = await run({ parts: [part], jobId: 'job-9', action: 'attach' }, [], gave(2));
    expect(ran.end).toEqual({ outcome: 'done', credits: 0 });
  });
});

describe('a post', () => {
  const post = {
    kind: 'post',
    request: { caption: 'hello' },
    paidRequest: { caption: 'hello' },
    save: '',
    publish: true as const,
  };

  test('that nobody agreed to is left, whatever hands it over', async () => {
    const { publish: _publish, ...unasked } = post;
    const ran = await run(unasked);
    expect(ran.end).toMatchObject({ outcome: 'left', error: 'no user approved publishing this post' });
    expect([ran.sent, ran.told]).toEqual([0, []]);
    expect((await run({ ...unasked, action: 'redo', generation: 2 })).sent).toBe(0);
  });

  test('is sent, recorded, and not waited for', async () => {
    const ran = await run(post);
    expect(ran.end).toEqual({ outcome: 'done', credits: 3 });
    expect(ran.told.at(-1)).toEqual(['finish', { state: 'done', jobId: 'job-1', outputs: [] }]);
    expect([ran.sent, ran.watched.length]).toEqual([1, 0]);
  });

  test('whose answer was lost is left to a person', async () => {
    const ran = await run(post, [], {
      service: { replays: () => false, create: async () => ({ is: 'ambiguous', message: 'reset' }) },
    });
    expect(ran.end).toMatchObject({ outcome: 'unresolved' });
    expect(ran.end).not.toHaveProperty('recoverable');
  });
});

test('a lost answer that a key can still ask for is told as such', async () => {
  const ran = await run({}, [], { service: { create: async () => ({ is: 'ambiguous', message: 'reset' }) } });
  expect(ran.end).toMatchObject({ outcome: 'unresolved', recoverable: true });
});
