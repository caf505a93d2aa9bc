import { setMaxListeners } from 'node:events';
import { steadyClock } from '../../src/contract/clock.ts';
import { urgencyOf } from '../../src/engine/order-of-work.ts';
import type { Json } from '../../src/ground/json.ts';
import type { Http, HttpAnswer } from '../../src/service/http.ts';
import { Durations } from '../../src/service/polling/durations.ts';
import { Poller } from '../../src/service/polling/poller.ts';
import { watchJob } from '../../src/service/watch.ts';
import { type BenchStep, idealMs } from '../bench/steps.ts';
import { seeded } from './random.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface SimulationOptions {
  concurrency: number;
  /** A create is answered within so long. */
  answersMs?: number;
  /** The service takes on so many jobs in a second, one after the other. */
  createsPerSecond?: number;
  /** Reads that the service bears. */
  perSecond?: number;
  durations?: Durations;
  /** What its lists are like. */
  list?: Partial<Omit<PolledService, keyof Http | 'jobs' | 'make'>>;
  seed?: number;
  /** The machine's clock is set on, or back. */
  jumps?: { atMs: number; byMs: number }[];
  /** Fails when a job is unseen so late, instead of going on for ever. */
  latestMs?: number;
}

export type Simulated = Awaited<ReturnType<typeof simulate>>;

/** Calls of the clock at one moment after which nothing will ever move on: a few for each look at a job. */
const mostAtOnce = 1_000_000;

/** A run in virtual time, in which only polling takes time: whoever can begin does, as soon as a slot is free. */
export async function simulate(kindOf: string | string[], steps: readonly BenchStep[], options: SimulationOptions) {
  const clock = new VirtualClock({ random: seeded(options.seed ?? 7) });
  const service = new PolledService(clock, options.perSecond);
  Object.assign(service, options.list);
  const durations = options.durations ?? new Durations();
  const machine = machineClock(clock, options.jumps ?? []);
  const ports = {
    clock: machine,
    poller: new Poller({ http: service, clock: machine, durations, deadlineMs: 1000 }),
    health: { failures: 0, countAgainAt: 0 },
    patienceMs: Number.POSITIVE_INFINITY,
    redact: (text: string) => text,
  };
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const missing = steps.map(({ needs }) => needs.length);
  const dependents = steps.map((): number[] => []);
  for (const [index, { needs }] of steps.entries()) for (const need of needs) dependents[need]?.push(index);
  const ready = [...steps.keys()].filter((index) => missing[index] === 0);
  let running = 0;
  let thoughts = 0;
  let createsFrom = clock.now();

  const work = async (index: number) => {
    if (options.createsPerSecond !== undefined) {
      createsFrom = Math.max(createsFrom, clock.now()) + 1000 / options.createsPerSecond;
      await clock.sleep(createsFrom - clock.now());
    }
    const kind = typeof kindOf === 'string' ? kindOf : (kindOf[index] ?? '');
    const job = service.make(kind, steps[index]?.durationMs ?? 0);
    if (options.answersMs !== undefined) await clock.sleep(clock.random() * options.answersMs);
    // As the engine says it.
    const urgency = () => {
      thoughts += 1;
      return urgencyOf({ dependents: dependents[index]?.length ?? 0, waiting: ready.length, running });
    };
    const watched = { signal, fresh: true, urgency, onStatus: () => {}, notice: () => {} };
    const end = await watchJob({ kind, jobId: job.id }, ports, watched);
    if (end.is !== 'completed') throw new Error(`job ${job.id} is ${end.is}`);
  };
  const startedAt = clock.now();
  await clock.run(
    new Promise<void>((resolve, reject) => {
      const { latestMs } = options;
      if (latestMs !== undefined)
        void clock.sleep(latestMs).then(() => reject(new Error(`${running} jobs are unseen`)));
      const fill = () => {
        if (running === 0 && ready.length === 0) return resolve();
        while (running < options.concurrency && ready.length > 0) {
          const index = ready.shift() ?? 0;
          running += 1;
          work(index).then(() => {
            running -= 1;
            for (const dependent of dependents[index] ?? []) {
              missing[dependent] = (missing[dependent] ?? 0) - 1;
              if (missing[dependent] === 0) ready.push(dependent);
            }
            fill();
          }, reject);
        }
      };
      fill();
    }),
  );
  const lags = [...service.jobs.values()].map(({ seenAt = Number.NaN, doneAt }) => seenAt - doneAt);
  const { reads, refused, tooEarly, closestMs } = service;
  const tookMs = clock.now() - startedAt;
  return {
    ...{ durations, reads, refused, tooEarly, closestMs, tookMs },
    meanLagMs: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    mostLagMs: Math.max(...lags),
    perJob: reads / steps.length,
    /** How often the poller asked how urgent a job is: at each look at it, whether or not a request followed. */
    thoughtsPerJob: thoughts / steps.length,
    times: tookMs / idealMs([...steps], options.concurrency, options.createsPerSecond),
  };
}

/** The clock of the machine that polls. Fails when it is asked again and again at one moment. */
function machineClock(clock: VirtualClock, jumps: readonly { atMs: number; byMs: number }[]) {
  let [offMs, calledAt, calls] = [0, 0, 0];
  for (const { atMs, byMs } of jumps) {
    void clock.sleep(atMs).then(() => {
      offMs += byMs;
    });
  }
  const called = () => {
    calls = clock.now() === calledAt ? calls + 1 : 0;
    calledAt = clock.now();
    if (calls > mostAtOnce) throw new Error('nothing moves on');
    return clock;
  };
  return steadyClock({
    now: () => called().now() + offMs,
    random: () => clock.random(),
    sleep: (ms, signal) => called().sleep(ms, signal),
  });
}

export interface PolledJob {
  id: string;
  createdAt: number;
  doneAt: number;
  seenAt?: number;
  askedAt?: number;
}

type Shown = { items: Json[]; pagination?: { [name: string]: Json } };
/** What a list answers to a read, in the place of the page that was asked for. Jobs are newest first. */
export type Oddity = (asked: {
  page: PolledJob[];
  /** The number of this read. */
  turn: number;
  number: number;
  pageOf(number: number): PolledJob[];
  view(job: PolledJob): Json;
}) => Shown | HttpAnswer;

/** A service in virtual time: status calls, lists of 100 on a page, and a rate that it bears. */
class PolledService implements Http {
  readonly jobs = new Map<string, PolledJob>();
  reads = 0;
  refused = 0;
  /** Reads that left while a 429 that had arrived asked for a pause. */
  tooEarly = 0;
  /** The least time between two looks at one job, in ms. */
  closestMs = Number.POSITIVE_INFINITY;
  /** How long an answer is on its way at most, and half of it at least, in ms. */
  readMs = 0;
  /** Records on a page of the list, however many are asked for. */
  pageMost = 100;
  /** The list repeats the length that it was asked for, also where its pages are shorter. */
  repeatsLimit = false;
  /** So many records of other people come into the list with each job. */
  strangers = 0;
  /** Every so many jobs there is one that the list does not show. */
  hiddenEvery = Number.POSITIVE_INFINITY;
  oddity: Oddity | undefined;
  /** A refusal asks for a pause so long. */
  pauseSeconds = 1;
  /** By kind, newest last; undefined: other people's. */
  readonly #lists = new Map<string, (PolledJob | undefined)[]>();
  readonly #clock: VirtualClock;
  readonly #perSecond: number;
  #tokens: number;
  #filledAt: number;
  #toldAt = 0;
  #pausedUntil = 0;

  constructor(clock: VirtualClock, perSecond = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#tokens = 2 * perSecond;
    this.#filledAt = clock.now();
  }

  make(kind: string, durationMs: number): PolledJob {
    const createdAt = this.#clock.now();
    const job = { id: `${kind}-${this.jobs.size}`, createdAt, doneAt: createdAt + durationMs };
    this.jobs.set(job.id, job);
    const list = this.#lists.get(kind) ?? [];
    this.#lists.set(kind, list);
    if (this.jobs.size % this.hiddenEvery !== 0) list.push(job);
    for (let count = 0; count < this.strangers; count += 1) list.push(undefined);
    return job;
  }

  async call({ path }: Parameters<Http['call']>[0]): Promise<HttpAnswer> {
    const now = this.#clock.now();
    this.reads += 1;
    // Those of the same moment left before it arrived.
    if (now > this.#toldAt && now < this.#pausedUntil) this.tooEarly += 1;
    const told = this.#isBorne(now) ? this.#answer(path) : undefined;
    if (this.readMs > 0) await this.#clock.sleep(this.readMs * (0.5 + this.#clock.random() / 2));
    if (told !== undefined) return told;
    this.refused += 1;
    this.#toldAt = this.#clock.now();
    this.#pausedUntil = this.#toldAt + 1000 * this.pauseSeconds;
    const headers = { 'retry-after': String(this.pauseSeconds) };
    return { is: 'answer', status: 429, headers, json: { success: false } };
  }

  async close(): Promise<void> {}

  #isBorne(now: number): boolean {
    if (this.#perSecond === Number.POSITIVE_INFINITY) return true;
    this.#tokens = Math.min(2 * this.#perSecond, this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  #answer(path: string): HttpAnswer {
    const number = /page=(\d+)/.exec(path)?.[1];
    if (number !== undefined) return this.#list(path, Number(number));
    const job = this.jobs.get(/[^/]+$/.exec(path)?.[0] ?? '');
    if (job === undefined) return answer({}, 404);
    const now = this.#clock.now();
    if (job.askedAt !== undefined) this.closestMs = Math.min(this.closestMs, now - job.askedAt);
    job.askedAt = now;
    return answer({ success: true, data: this.#view(job) });
  }

  #list(path: string, number: number): HttpAnswer {
    const asked = Number(/limit=(\d+)/.exec(path)?.[1]);
    const limit = Math.min(this.pageMost, asked);
    const list = this.#lists.get(path.includes('voiceover') ? 'voiceover' : 'video') ?? [];
    const pageOf = (page: number) => {
      const end = Math.max(0, list.length - (page - 1) * limit);
      return list.slice(Math.max(0, end - limit), end).reverse();
    };
    const ownOf = (page: number) => pageOf(page).filter((job) => job !== undefined);
    const view = (job: PolledJob) => this.#view(job);
    const odd = this.oddity?.({ page: ownOf(number), turn: this.reads, number, pageOf: ownOf, view });
    if (odd !== undefined && 'is' in odd) return odd;
    const pagination = { limit: this.repeatsLimit ? asked : limit, hasNextPage: list.length > number * limit };
    const shown: Shown = odd ?? {
      items: pageOf(number).map((job) => (job === undefined ? { id: 'other' } : view(job))),
      ...(this.pageMost < 100 && { pagination }),
    };
    return answer({
      success: true,
      generations: shown.items,
      ...(shown.pagination && { pagination: shown.pagination }),
    });
  }

  #view(job: PolledJob): Json {
    const createdAt = new Date(job.createdAt).toISOString();
    if (this.#clock.now() < job.doneAt) return { id: job.id, status: 'PROCESSING', createdAt };
    job.seenAt ??= this.#clock.now();
    const url = `https://files.example/${job.id}`;
    const completedAt = new Date(job.doneAt).toISOString();
    return {
      id: job.id,
      status: 'COMPLETED',
      createdAt,
      completedAt,
      outputUrl: url,
      outputAsset: { id: job.id, url },
    };
  }
}

export function answer(json: Json, status = 200): HttpAnswer {
  return { is: 'answer', status, headers: {}, json };
}
