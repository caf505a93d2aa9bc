import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../../../../src/ground/json.ts';
import type { Http, HttpAnswer, HttpCall } from '../../../../src/service/http.ts';
import { Poller } from '../../../../src/service/polling/poller.ts';
import { steadyClock } from '../../../../src/service/polling/steady-clock.ts';
import { watchJob } from '../../../../src/service/watch.ts';
import { logNormal, seeded } from '../../../rig/random.ts';
import { VirtualClock } from '../../../rig/virtual-clock.ts';

interface Job {
  kind: string;
  id: string;
  doneAt: number;
  seenAt?: number;
}

/** What a list does with a page of its jobs, newest first. `turn`: a number of this read. */
type Oddity = (page: Job[], turn: number) => { items: Json[]; pagination?: { [name: string]: Json } } | HttpAnswer;

const running = (job: Job): Json => ({ id: job.id, status: 'PROCESSING' });
const garbage = (json: Json, status = 200): HttpAnswer => ({ is: 'answer', status, headers: {}, json });

/** Terminal states are evidence wherever they stand; everything else that a list says may be wrong. */
const oddities: Record<string, (view: (job: Job) => Json) => Oddity> = {
  honest: (view) => (page) => ({ items: page.map(view) }),
  'never knows that a job is over': () => (page) => ({ items: page.map(running) }),
  'knows it now and then': (view) => (page, turn) => ({ items: page.map(turn % 3 === 0 ? view : running) }),
  'shows nothing': () => () => ({ items: [] }),
  'shows only other people': () => (page) => ({ items: page.map((_, index) => ({ id: `x${index}` })) }),
  'loses every other record': (view) => (page) => ({ items: page.filter((_, index) => index % 2 === 0).map(view) }),
  'loses records in turn': (view) => (page, turn) => ({
    items: page.filter((_, index) => index % 5 !== turn % 5).map(view),
  }),
  'turns its pages round': (view) => (page) => ({ items: page.map(view).reverse() }),
  'says a different length each time': (view) => (page, turn) => ({
    items: page.map(view),
    pagination: { totalCount: (turn * 7919) % 90_000, hasNextPage: turn % 2 === 0, limit: 1 + (turn % 100) },
  }),
  'has shorter pages each time': (view) => (page, turn) => ({
    items: page.slice(0, 1 + (turn % 50)).map(view),
    pagination: { hasNextPage: true },
  }),
  'is no list': () => (_, turn) => garbage(turn % 2 === 0 ? { success: true } : 'hello'),
  breaks: () => () => garbage({ success: false }, 500),
  'is gone': () => () => garbage({ success: false }, 404),
};

/** A service whose lists are odd, whose status calls are right, and which bears `perSecond` reads. */
class OddService implements Http {
  readonly jobs = new Map<string, Job>();
  readonly sent: number[] = [];
  /** Reads that left while a 429 that had arrived asked for a pause. */
  tooEarly = 0;
  refused = 0;
  #toldAt = 0;
  #pausedUntil = 0;
  #tokens: number;
  #filledAt: number;
  readonly #clock: VirtualClock;
  readonly #lists = new Map<string, Job[]>();
  readonly #options: { oddity: string; perSecond: number; readMs: number };

  constructor(clock: VirtualClock, options: { oddity: string; perSecond: number; readMs: number }) {
    this.#clock = clock;
    this.#options = options;
    this.#tokens = 2 * options.perSecond;
    this.#filledAt = clock.now();
  }

  make(kind: string, durationMs: number): Job {
    const job = { kind, id: `${kind}-${this.jobs.size}`, doneAt: this.#clock.now() + durationMs };
    this.jobs.set(job.id, job);
    const list = this.#lists.get(kind);
    if (list === undefined) this.#lists.set(kind, [job]);
    else list.push(job);
    return job;
  }

  async call({ path }: HttpCall): Promise<HttpAnswer> {
    const now = this.#clock.now();
    this.sent.push(now);
    // Those of the same moment left before it arrived.
    if (now > this.#toldAt && now < this.#pausedUntil) this.tooEarly += 1;
    const { perSecond, readMs } = this.#options;
    this.#tokens = Math.min(2 * perSecond, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    const isRefused = this.#tokens < 1;
    if (isRefused) this.refused += 1;
    else this.#tokens -= 1;
    const told = isRefused ? undefined : this.#answer(path);
    if (readMs > 0) await this.#clock.sleep(readMs * this.#clock.random());
    if (told !== undefined) return told;
    this.#toldAt = this.#clock.now();
    this.#pausedUntil = this.#toldAt + 2000;
    return { is: 'answer', status: 429, headers: { 'retry-after': '2' }, json: { success: false } };
  }

  async close(): Promise<void> {}

  #answer(path: string): HttpAnswer {
    const id = /[^/]+$/.exec(path)?.[0] ?? '';
    const job = this.jobs.get(id);
    if (job !== undefined) return garbage({ success: true, data: this.#view(job) });
    const page = Number(/page=(\d+)/.exec(path)?.[1] ?? 1);
    const list = this.#lists.get(path.includes('voiceover') ? 'voiceover' : 'video') ?? [];
    const end = list.length - (page - 1) * 100;
    const shown = list.slice(Math.max(0, end - 100), Math.max(0, end)).reverse();
    const told = oddities[this.#options.oddity]?.((one) => this.#view(one))(shown, this.sent.length);
    if (told === undefined || 'is' in told) return told ?? garbage({});
    return garbage({ success: true, generations: told.items, ...(told.pagination && { pagination: told.pagination }) });
  }

  #view(job: Job): Json {
    if (this.#clock.now() < job.doneAt) return running(job);
    job.seenAt ??= this.#clock.now();
    const url = `https://files.example/${job.id}`;
    return { id: job.id, status: 'COMPLETED', outputUrl: url, outputAsset: { id: job.id, url } };
  }
}

interface Campaign {
  oddity: string;
  counts: { [kind: string]: number };
  medianMs: number;
  createsPerSecond: number;
  perSecond: number;
  readMs: number;
  seed: number;
  /** The machine's clock is set on, or back. */
  jumps?: { atMs: number; byMs: number }[];
}

async function watchAll({ counts, medianMs, createsPerSecond, seed, jumps = [], ...service }: Campaign) {
  const clock = new VirtualClock({ random: seeded(seed) });
  const odd = new OddService(clock, service);
  let offMs = 0;
  for (const { atMs, byMs } of jumps) {
    void clock.sleep(atMs).then(() => {
      offMs += byMs;
    });
  }
  const steady = steadyClock({
    now: () => clock.now() + offMs,
    random: () => clock.random(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  const ports = {
    clock: steady,
    poller: new Poller({ http: odd, clock: steady, deadlineMs: 1000 }),
    health: { failures: 0, countAgainAt: 0 },
    patienceMs: Number.POSITIVE_INFINITY,
    redact: (text: string) => text,
  };
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const draw = logNormal(medianMs, 0.4, seeded(seed));
  const ends = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, async (_, index) => {
      await clock.sleep((1000 * index) / createsPerSecond);
      const job = odd.make(kind, draw());
      const options = { signal, fresh: true, onStatus: () => {}, notice: () => {} };
      const end = await watchJob({ kind, jobId: job.id }, ports, options);
      return { job, is: end.is, lagMs: clock.now() - job.doneAt };
    }),
  );
  return { ends: await clock.run(Promise.all(ends)), service: odd };
}

const campaign = fc.record({
  oddity: fc.constantFrom(...Object.keys(oddities)),
  counts: fc.record({
    video: fc.integer({ min: 1, max: 150 }),
    voiceover: fc.integer({ min: 0, max: 60 }),
    image: fc.integer({ min: 0, max: 40 }),
  }),
  medianMs: fc.constantFrom(500, 8000, 120_000),
  createsPerSecond: fc.constantFrom(5, 100),
  perSecond: fc.constantFrom(2, 5, 20),
  readMs: fc.constantFrom(0, 400, 3000),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
  jumps: fc.array(
    fc.record({
      atMs: fc.integer({ min: 0, max: 200_000 }),
      byMs: fc.constantFrom(-86_400_000, -3_600_000, -1500, 1500, 60_000),
    }),
    { maxLength: 2 },
  ),
});

test('I16 whatever lists say and clocks do, each end is seen, no kind starves, and a 429 is heeded', async () => {
  await fc.assert(
    fc.asyncProperty(campaign, async (given) => {
      const { ends, service } = await watchAll(given);
      for (const { is } of ends) expect(is).toBe('completed');
      // At the worst each job is queried alone, several times, one after the other.
      const setOnMs = given.jumps.reduce((sum, { byMs }) => sum + Math.max(0, byMs), 0);
      // Jobs seem to take longer by what the clock is set on, and are awaited for that long.
      const longestMs = 120_000 + 2 * setOnMs + (10 * ends.length * 1000) / given.perSecond;
      for (const { job, lagMs } of ends) expect(lagMs, job.id).toBeLessThan(longestMs);
      // A clock that is set on ends a pause early.
      if (setOnMs === 0) expect(service.tooEarly).toBe(0);
      expect(service.refused).toBeLessThan(70 + service.sent.length / 10);
    }),
    { numRuns: 40 },
  );
}, 120_000);

test('images that are watched one by one are seen soon beside thousands of videos', async () => {
  const { ends } = await watchAll({
    oddity: 'honest',
    counts: { video: 3000, image: 30 },
    medianMs: 60_000,
    createsPerSecond: 100,
    perSecond: 10,
    readMs: 100,
    seed: 4,
  });
  const lagOf = (kind: string) => {
    const lags = ends.flatMap(({ job, lagMs }) => (job.kind === kind ? [lagMs] : []));
    return lags.reduce((sum, lag) => sum + lag, 0) / lags.length;
  };
  expect(lagOf('image')).toBeLessThan(15_000);
  expect(lagOf('video')).toBeLessThan(15_000);
}, 120_000);
