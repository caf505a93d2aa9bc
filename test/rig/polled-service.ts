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
  /** How long an answer is on its way, in ms. */
  readMs = 0;
  /** The list does not know that jobs are over. */
  stale = false;
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
        generations: shown.map((job) => (job === undefined ? { id: 'other' } : this.#view(job, this.stale))),
        ...(this.pageMost < 100 && { pagination: { limit: told, hasNextPage: end > limit } }),
      });
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
