import type { Json } from '../../json.ts';
import type { Kind } from '../../kinds/kind.ts';
import { parseRetryAfter, readRecord } from '../fields.ts';
import type { HttpAnswer } from '../http.ts';
import { readResult } from '../job-result.ts';
import { pagePath, pageSize } from '../list-page.ts';
import { ListTrust } from './list-trust.ts';
import { gainOf, type WatchedJob } from './watched-job.ts';

type Data = { [key: string]: Json };

export type Told =
  | { is: 'throttled'; afterMs: number | null }
  | { is: 'unreadable' }
  /** `ended`: over, with all that is needed. `doubtful`: to be asked about one by one. */
  | { is: 'read'; ended: { job: WatchedJob; data: Data }[]; doubtful: WatchedJob[] };

/** Two looks at the same page are never closer than this: it stands for many, and “every few seconds” is what is asked for. */
const pageFloorMs = 2000;
/** What is worth a look is thought about as often. */
const thoughtMs = 250;
const failureMs = 1000;
/** One job is asked about by itself. */
const fewestJobs = 2;

/** The watched jobs of one kind, and the list that tells of many of them at once. */
export class ListRoom {
  readonly jobs = new Set<WatchedJob>();
  readonly #kind: Kind;
  readonly #clock: { now(): number };
  readonly #trust: ListTrust;
  #notBefore = 0;
  #thoughtAt = 0;
  readonly #readAt = new Map<number, number>();
  #isReading = false;
  #failures = 0;
  /** How many records of others stand before ours, as far as seen. */
  #strangers = 0;
  /** The number of the newest job, finished ones included. */
  #newest = 0;

  constructor(kind: Kind, clock: { now(): number }) {
    this.#kind = kind;
    this.#clock = clock;
    // Reading the list of clippings does not bring them up to date, by its documentation.
    this.#trust = new ListTrust(clock, kind.name === 'clipping' ? 'stale' : 'unknown');
  }

  add(job: WatchedJob): void {
    this.jobs.add(job);
    this.#newest = Math.max(this.#newest, job.number);
  }

  /** Whether this job's news comes with the list. */
  tells(job: WatchedJob): boolean {
    return this.#trust.isTrusted && this.jobs.size >= fewestJobs && job.missing < 2;
  }

  /** When it is worth thinking about the list again. */
  nextCheckAt(): number {
    if (this.jobs.size < fewestJobs || !this.#trust.isAskable || this.#isReading) return Number.POSITIVE_INFINITY;
    return Math.max(this.#notBefore, this.#thoughtAt + thoughtMs);
  }

  /** The page from which most is to be heard, if that is worth a request now. */
  bestPage(now: number): { page: number; gain: number } | undefined {
    if (this.nextCheckAt() > now) return undefined;
    this.#thoughtAt = now;
    const gains = new Map<number, number>();
    let worth = Number.POSITIVE_INFINITY;
    for (const job of this.jobs) {
      if (job.waiter === undefined) continue;
      const page = this.#pageOf(job);
      const last = Math.max(job.lastAge ?? -1, job.listAge ?? -1);
      gains.set(page, (gains.get(page) ?? 0) + gainOf(job, now - job.startedAt, last));
      worth = Math.min(worth, job.known.worthMs);
    }
    let best: { page: number; gain: number } | undefined;
    for (const [page, gain] of gains) {
      const isRested = now - (this.#readAt.get(page) ?? Number.NEGATIVE_INFINITY) >= pageFloorMs;
      if (isRested && gain >= worth && gain > (best?.gain ?? 0)) best = { page, gain };
    }
    return best;
  }

  async read(page: number, call: (path: string) => Promise<HttpAnswer>): Promise<Told> {
    const { list } = this.#kind;
    if (list === undefined) return { is: 'unreadable' };
    const askedAt = this.#clock.now();
    this.#isReading = true;
    const answer = await call(pagePath(list, { page, limit: pageSize }));
    this.#isReading = false;
    this.#readAt.set(page, askedAt);
    const items = answer.is === 'answer' && answer.status === 200 ? readRecord(answer.json)?.[list.items] : undefined;
    if (!Array.isArray(items)) {
      this.#failures += 1;
      this.#notBefore = this.#clock.now() + Math.min(60_000, failureMs * 2 ** Math.min(6, this.#failures));
      if (answer.is !== 'answer' || answer.status !== 429) return { is: 'unreadable' };
      return { is: 'throttled', afterMs: parseRetryAfter(answer.headers['retry-after']) };
    }
    this.#failures = 0;
    return this.#tell(items, page, askedAt);
  }

  #tell(items: readonly Json[], page: number, askedAt: number): Told {
    const idField = this.#kind.list?.jobId ?? 'id';
    const shown = new Map<string, { data: Data; place: number }>();
    for (const [index, item] of items.entries()) {
      const data = readRecord(item);
      const id = data?.[idField] ?? data?.id;
      if (data !== undefined && typeof id === 'string') shown.set(id, { data, place: (page - 1) * pageSize + index });
    }
    const told = { is: 'read' as const, ended: [] as { job: WatchedJob; data: Data }[], doubtful: [] as WatchedJob[] };
    for (const job of this.jobs) {
      const expected = this.#pageOf(job) === page;
      const found = shown.get(job.jobId);
      if (found === undefined) {
        if (!expected || job.startedAt > askedAt) continue;
        job.missing += 1;
        if (job.missing >= 2) told.doubtful.push(job);
        continue;
      }
      job.missing = 0;
      this.#strangers = Math.max(0, found.place - this.#placeOf(job));
      this.#hear(job, found.data, askedAt, told);
    }
    return told;
  }

  #hear(job: WatchedJob, data: Data, askedAt: number, told: Extract<Told, { is: 'read' }>): void {
    if (job.waiter === undefined) return;
    switch (data.status) {
      case 'COMPLETED':
        this.#trust.wasFirst();
        // An answer to a status call names the job by its own id.
        if (readResult(this.#kind, data) === undefined) told.doubtful.push(job);
        else told.ended.push({ job, data: { ...data, id: job.jobId } });
        return;
      case 'FAILED':
        this.#trust.wasFirst();
        told.doubtful.push(job);
        return;
      default:
        job.listAge = Math.max(0, askedAt - job.startedAt);
        if (this.#trust.isTrusted) job.lastAge = Math.max(job.lastAge ?? 0, job.listAge);
    }
  }

  /** A status call has shown that this job had ended at that age. */
  audit(job: WatchedJob, endedAge: number): void {
    if (job.listAge !== undefined && job.listAge > endedAge + 2000) this.#trust.wasBehind();
  }

  /** How many records stand before it: those made later, and other people's. */
  #placeOf(job: WatchedJob): number {
    return this.#newest - job.number;
  }

  #pageOf(job: WatchedJob): number {
    if (this.#kind.list?.paged !== true) return 1;
    return 1 + Math.floor((this.#placeOf(job) + this.#strangers) / pageSize);
  }
}
