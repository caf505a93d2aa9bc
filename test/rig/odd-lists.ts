import { setMaxListeners } from 'node:events';
import fc from 'fast-check';
import { steadyClock } from '../../src/contract/clock.ts';
import type { Json } from '../../src/ground/json.ts';
import type { Http, HttpAnswer, HttpCall } from '../../src/service/http.ts';
import { Poller } from '../../src/service/polling/poller.ts';
import { watchJob } from '../../src/service/watch.ts';
import { logNormal, seeded } from './random.ts';
import { VirtualClock } from './virtual-clock.ts';

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
  'grows while it is read': (view) => (page, turn) => ({
    items: [...Array.from({ length: turn % 40 }, (_, index) => ({ id: `x${turn}-${index}` })), ...page.map(view)].slice(
      0,
      100,
    ),
    pagination: { totalCount: 17 * turn, hasNextPage: true },
  }),
  'has empty pages now and then': (view) => (page, turn) => ({
    items: turn % 3 === 0 ? page.map(view) : [],
    pagination: { hasNextPage: turn % 2 === 0 },
  }),
  'says that each page is one record long': (view) => (page) => ({
    items: page.slice(0, 1).map(view),
    pagination: { hasNextPage: true, limit: 1 },
  }),
  'has no end': (view) => (page, turn) => ({
    items: page.length > 0 ? page.map(view) : Array.from({ length: 100 }, (_, index) => ({ id: `x${turn}-${index}` })),
    pagination: { hasNextPage: true, totalCount: 1_000_000 + turn },
  }),
  'is no list': () => (_, turn) => garbage(turn % 2 === 0 ? { success: true } : 'hello'),
  'repeats its first page': (view) => (page) => ({ items: page.map(view), pagination: { hasNextPage: true } }),
  'goes back now and then': (view) => (page) => ({ items: page.map(view), pagination: { hasNextPage: true } }),
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

  /** The page that is shown instead of the one asked for, for oddities of pages. */
  #shownInstead(page: number): number {
    switch (this.#options.oddity) {
      case 'repeats its first page':
        return 1;
      case 'goes back now and then':
        return this.sent.length % 3 === 0 ? Math.max(1, page - (this.sent.length % 7)) : page;
      default:
        return page;
    }
  }

  #answer(path: string): HttpAnswer {
    const id = /[^/]+$/.exec(path)?.[0] ?? '';
    const job = this.jobs.get(id);
    if (job !== undefined) return garbage({ success: true, data: this.#view(job) });
    const page = this.#shownInstead(Number(/page=(\d+)/.exec(path)?.[1] ?? 1));
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

export interface Campaign {
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

/** Calls of the clock at one moment after which nothing will ever move on: a few for each look at a job. */
const mostAtOnce = 1_000_000;

/**
 * Watches every job of a campaign to its end. Fails instead of going on for ever: when a job is unseen `longestMs` after
 * the end of the last one, and when the clock is asked again and again at one moment.
 */
export async function watchAll(given: Campaign & { longestMs?: number }) {
  const { counts, medianMs, createsPerSecond, seed, jumps = [], longestMs = 3_600_000, ...service } = given;
  const clock = new VirtualClock({ random: seeded(seed) });
  const odd = new OddService(clock, service);
  let offMs = 0;
  for (const { atMs, byMs } of jumps) {
    void clock.sleep(atMs).then(() => {
      offMs += byMs;
    });
  }
  let [calledAt, calls] = [0, 0];
  const called = () => {
    calls = clock.now() === calledAt ? calls + 1 : 0;
    calledAt = clock.now();
    if (calls > mostAtOnce) throw new Error('nothing moves on');
  };
  const steady = steadyClock({
    now() {
      called();
      return clock.now() + offMs;
    },
    random: () => clock.random(),
    sleep(ms, signal) {
      called();
      return clock.sleep(ms, signal);
    },
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
  const startedAt = clock.now();
  let looks = 0;
  const urgency = () => {
    looks += 1;
    return 1;
  };
  let unseen = 0;
  let latest = 0;
  const ends = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, async (_, index) => {
      unseen += 1;
      await clock.sleep((1000 * index) / createsPerSecond);
      const job = odd.make(kind, draw());
      latest = Math.max(latest, job.doneAt);
      const options = { signal, fresh: true, urgency, onStatus: () => {}, notice: () => {} };
      const end = await watchJob({ kind, jobId: job.id }, ports, options);
      unseen -= 1;
      return { job, is: end.is, lagMs: clock.now() - job.doneAt };
    }),
  );
  const madeBy = Math.max(0, ...Object.values(counts).map((count) => (1000 * count) / createsPerSecond));
  const tooLate = async (): Promise<never> => {
    await clock.sleep(madeBy + 1);
    await clock.sleep(latest + longestMs - clock.now());
    throw new Error(`${unseen} jobs are unseen ${longestMs} ms after the last has ended; ${odd.sent.length} reads`);
  };
  return {
    ends: await clock.run(Promise.race([Promise.all(ends), tooLate()])),
    service: odd,
    looks,
    tookMs: clock.now() - startedAt,
  };
}

export const campaign = fc.record({
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

/** As late as anything may be seen, in ms: at the worst each job is queried alone, several times, one after the other. */
export function longestLagMs({ counts, medianMs, perSecond, jumps = [] }: Campaign): number {
  const jobs = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const setOnMs = jumps.reduce((sum, { byMs }) => sum + Math.max(0, byMs), 0);
  // A job that a list shows as running is queried when nearly all others would be over. Jobs seem to take longer by
  // what the clock is set on, and are awaited for that long.
  return 120_000 + 3 * medianMs + 2 * setOnMs + (10 * jobs * 1000) / perSecond;
}
