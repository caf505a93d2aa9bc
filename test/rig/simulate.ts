import { setMaxListeners } from 'node:events';
import { urgencyOf } from '../../src/engine/order-of-work.ts';
import type { Http, HttpAnswer, HttpCall } from '../../src/service/http.ts';
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
  /** What its list is like. */
  list?: Partial<Pick<PolledService, 'readMs' | 'pageMost' | 'repeatsLimit' | 'strangers' | 'hiddenEvery'>>;
  seed?: number;
}

export type Simulated = Awaited<ReturnType<typeof simulate>>;

/** A run in virtual time, in which only polling takes time: whoever can begin does, as soon as a slot is free. */
export async function simulate(kind: string, steps: readonly BenchStep[], options: SimulationOptions) {
  const clock = new VirtualClock({ random: seeded(options.seed ?? 7) });
  const service = new PolledService(clock, options.perSecond);
  Object.assign(service, options.list);
  const durations = options.durations ?? new Durations();
  const poller = new Poller({ http: service, clock, durations, deadlineMs: 1000 });
  const ports = {
    clock,
    poller,
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
    const job = service.make(steps[index]?.durationMs ?? 0);
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
  const lags = service.jobs.map(({ seenAt = Number.NaN, doneAt }) => seenAt - doneAt);
  return {
    meanLagMs: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    perJob: service.reads / steps.length,
    /** How often the poller asked how urgent a job is: at each look at it, whether or not a request followed. */
    thoughtsPerJob: thoughts / steps.length,
    durations,
    refused: service.refused,
    closestMs: service.closestMs,
    times: (clock.now() - startedAt) / idealMs([...steps], options.concurrency, options.createsPerSecond),
  };
}

interface Job {
  id: string;
  createdAt: number;
  doneAt: number;
  seenAt?: number;
  askedAt?: number;
}

/** A service in virtual time: status calls, a list of 100 on a page, and a rate that it bears. */
class PolledService implements Http {
  readonly jobs: Job[] = [];
  reads = 0;
  refused = 0;
  /** The least time between two looks at one job, in ms. */
  closestMs = Number.POSITIVE_INFINITY;
  /** How long an answer is on its way, in ms. */
  readMs = 0;
  /** Records on a page of the list, however many are asked for. */
  pageMost = 100;
  /** The list repeats the length that it was asked for, also where its pages are shorter. */
  repeatsLimit = false;
  /** So many records of other people come into the list with each job. */
  strangers = 0;
  /** Every so many jobs there is one that the list does not show. */
  hiddenEvery = Number.POSITIVE_INFINITY;
  /** Newest last; undefined: other people's. */
  readonly #list: (Job | undefined)[] = [];
  readonly #clock: VirtualClock;
  readonly #perSecond: number;
  #tokens: number;
  #filledAt: number;

  constructor(clock: VirtualClock, perSecond = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#tokens = 2 * perSecond;
    this.#filledAt = clock.now();
  }

  make(durationMs: number): Job {
    const createdAt = this.#clock.now();
    const job = { id: `j${this.jobs.length}`, createdAt, doneAt: createdAt + durationMs };
    this.jobs.push(job);
    if (this.jobs.length % this.hiddenEvery !== 0) this.#list.push(job);
    for (let count = 0; count < this.strangers; count += 1) this.#list.push(undefined);
    return job;
  }

  async call(call: HttpCall): Promise<HttpAnswer> {
    this.reads += 1;
    const told = this.#answer(call);
    if (this.readMs > 0) await this.#clock.sleep(this.readMs);
    return told;
  }

  #answer({ path }: HttpCall): HttpAnswer {
    const now = this.#clock.now();
    if (this.#perSecond !== Number.POSITIVE_INFINITY) {
      this.#tokens = Math.min(2 * this.#perSecond, this.#tokens + ((now - this.#filledAt) / 1000) * this.#perSecond);
      this.#filledAt = now;
      if (this.#tokens < 1) {
        this.refused += 1;
        return { is: 'answer', status: 429, headers: { 'retry-after': '1' }, json: { success: false } };
      }
      this.#tokens -= 1;
    }
    const page = /page=(\d+)/.exec(path)?.[1];
    if (page !== undefined) {
      const asked = Number(/limit=(\d+)/.exec(path)?.[1]);
      const limit = Math.min(this.pageMost, asked);
      const told = this.repeatsLimit ? asked : limit;
      const end = this.#list.length - (Number(page) - 1) * limit;
      const shown = this.#list.slice(Math.max(0, end - limit), Math.max(0, end)).reverse();
      return answer({
        success: true,
        generations: shown.map((job) => (job === undefined ? { id: 'other' } : this.#view(job))),
        ...(this.pageMost < 100 && { pagination: { limit: told, hasNextPage: end > limit } }),
      });
    }
    const job = this.jobs[Number(/\/j(\d+)$/.exec(path)?.[1])];
    if (job?.askedAt !== undefined) this.closestMs = Math.min(this.closestMs, now - job.askedAt);
    if (job !== undefined) job.askedAt = now;
    return job === undefined ? { is: 'answer', status: 404, headers: {}, json: {} } : answer({ data: this.#view(job) });
  }

  async close(): Promise<void> {}

  #view(job: Job) {
    const isDone = this.#clock.now() >= job.doneAt;
    if (isDone) job.seenAt ??= this.#clock.now();
    return {
      id: job.id,
      status: isDone ? 'COMPLETED' : 'PROCESSING',
      createdAt: new Date(job.createdAt).toISOString(),
      ...(isDone && {
        completedAt: new Date(job.doneAt).toISOString(),
        outputUrl: `https://files.example/${job.id}`,
        outputAsset: { id: job.id, url: `https://files.example/${job.id}` },
      }),
    };
  }
}

function answer(json: object): HttpAnswer {
  return { is: 'answer', status: 200, headers: {}, json: json as never };
}
