import type { Http, HttpAnswer, HttpCall } from '../../src/service/http.ts';
import type { VirtualClock } from './virtual-clock.ts';

interface Job {
  id: string;
  createdAt: number;
  doneAt: number;
  seenAt?: number;
  askedAt?: number;
}

/** A service in virtual time: status calls, a list of 100 on a page, and a rate that it bears. */
export class PolledService implements Http {
  readonly jobs: Job[] = [];
  reads = 0;
  refused = 0;
  /** The least time between two looks at one job, in ms. */
  closestMs = Number.POSITIVE_INFINITY;
  /** The list does not know that jobs are over. */
  stale = false;
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
    return job;
  }

  async call({ path }: HttpCall): Promise<HttpAnswer> {
    this.reads += 1;
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
    const limit = Number(/limit=(\d+)/.exec(path)?.[1]);
    if (page !== undefined) {
      const end = this.jobs.length - (Number(page) - 1) * limit;
      const shown = this.jobs.slice(Math.max(0, end - limit), Math.max(0, end)).reverse();
      return answer({ success: true, generations: shown.map((job) => this.#view(job, this.stale)) });
    }
    const job = this.jobs[Number(/\/j(\d+)$/.exec(path)?.[1])];
    if (job?.askedAt !== undefined) this.closestMs = Math.min(this.closestMs, now - job.askedAt);
    if (job !== undefined) job.askedAt = now;
    return job === undefined ? { is: 'answer', status: 404, headers: {}, json: {} } : answer({ data: this.#view(job) });
  }

  async close(): Promise<void> {}

  #view(job: Job, stale = false) {
    const isDone = !stale && this.#clock.now() >= job.doneAt;
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
