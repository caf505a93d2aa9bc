import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import type { Kind } from '../../kinds/kind.ts';
import { parseRetryAfter, readRecord, readResult } from '../fields.ts';
import type { HttpAnswer } from '../http.ts';
import { hasMore, pagePath, pageSize, readPageSize, readTotal } from '../listing.ts';
import { benefitOf, sparingThresholdOf } from './cost.ts';
import { type AskedPage, ListPlaces, type ShownPage } from './list-places.ts';
import type { WatchedJob } from './watched-job.ts';

type Data = { [key: string]: Json };

export interface Page {
  page: number;
  /** Expected benefit, weighted, in ms. */
  benefit: number;
}

export type PageAnswer =
  | { is: 'throttled'; afterMs: number | null }
  | { is: 'unreadable' }
  /** `ended`: finished jobs with complete data. `doubtful`: jobs to query individually. */
  | { is: 'read'; ended: { job: WatchedJob; data: Data }[]; doubtful: WatchedJob[] };

/** Minimum gap in ms between two reads of the same part of a list: the service allows one “every few seconds”. */
const listFloorMs = 2000;
/** Cost of a page, in queries per awaited job on it. */
const pageCost = 1 / 16;
/**
 * Number of pages with awaited jobs above which each page costs more, in proportion: twice the pages cause 1.4 times
 * the reads, and a delay of 1.4 times.
 */
const manyPages = 20;
/**
 * Interval in ms after which the choice of pages is reconsidered: a minimum, and an amount for each job, because each
 * decision considers all jobs.
 */
const leastThoughtMs = 250;
const thoughtMsPerJob = 0.25;
const failureMs = 1000;
/** Minimum number of jobs for reading the list; a single job is queried directly. */
const fewestJobs = 2;

/** Watched jobs of one kind, and the list that shows many of them at once. */
export class JobList {
  readonly jobs = new Set<WatchedJob>();
  readonly #kind: Kind;
  readonly #clock: { now(): number };
  readonly #trust: ListTrust;
  readonly #places: ListPlaces;
  #notBefore = 0;
  #thinkAt = 0;
  /** Pages worth reading at the last decision, by the rank in their middle; the best page last. */
  #chosen: { rank: number; benefit: number }[] = [];
  /** Time in ms between page requests, so that they are spread. */
  #gapMs = 0;
  #consideredAt = 0;
  #readAt = 0;
  #reading = 0;
  #failures = 0;
  /** Number of records on the longest page that was followed by others. */
  #fullSize = 0;

  constructor(kind: Kind, clock: { now(): number }) {
    this.#kind = kind;
    this.#clock = clock;
    this.#places = new ListPlaces(this.jobs, { isPaged: kind.list?.paged === true, size: pageSize });
    this.#trust = new ListTrust(clock, kind.list?.isStale === true ? 'stale' : 'unknown');
  }

  add(job: WatchedJob): void {
    this.jobs.add(job);
    this.#places.add(job);
  }

  /** True if this job is watched through the list instead of by individual queries. */
  tells(job: WatchedJob): boolean {
    if (this.jobs.size < fewestJobs || job.missing >= 2) return false;
    if (this.#trust.isTrusted) return true;
    // Until the first of many jobs ends, the list is used without proof, and the probe is queried individually to
    // verify it.
    const isNew = job.known.samples.length === 0 && !job.isProbe;
    return isNew && this.jobs.size > manyPages * this.#places.size && this.#trust.isAskable;
  }

  nextCheckAt(): number {
    if (this.jobs.size < fewestJobs || !this.#trust.isAskable) return Number.POSITIVE_INFINITY;
    const thinkAt = this.#reading > 0 ? Number.POSITIVE_INFINITY : this.#thinkAt;
    const isFresh = this.#chosen.length > 0 && this.#clock.now() < this.#thinkAt;
    return Math.max(this.#notBefore, isFresh ? Math.min(this.#consideredAt + this.#gapMs, thinkAt) : thinkAt);
  }

  /** Returns the page with the greatest benefit, if that reaches the threshold of a page now. */
  bestPage(now: number): Page | undefined {
    if (this.nextCheckAt() > now) return undefined;
    if (now >= this.#thinkAt) this.#think(now);
    this.#consideredAt = now;
    const best = this.#chosen.at(-1);
    return best && { page: this.#places.pageAt(best.rank), benefit: best.benefit };
  }

  #think(now: number): void {
    const benefits = new Map<number, number>();
    const pages = new Set<number>();
    const pageOf = this.#places.pages();
    let least = Number.POSITIVE_INFINITY;
    let [waiting, oldest, isKnown] = [0, 0, false];
    for (const job of this.jobs) {
      if (job.waiter === undefined || job.missing >= 2) continue;
      const age = now - job.startedAt;
      const last = Math.max(job.lastAge ?? -1, job.listAge ?? -1);
      const isRested = job.listAge === undefined || age - job.listAge >= listFloorMs;
      const page = pageOf(job);
      pages.add(page);
      if (isRested) benefits.set(page, (benefits.get(page) ?? 0) + benefitOf(job, age, last));
      least = Math.min(least, sparingThresholdOf(job.known));
      waiting += 1;
      oldest = Math.max(oldest, age);
      isKnown ||= job.known.samples.length > 0;
    }
    // A page costs at most as much as querying its awaited jobs individually.
    const cost = Math.max(1, Math.min(this.#places.size, waiting) * pageCost);
    const threshold = least * cost * Math.max(1, pages.size / manyPages);
    const chosen = [...benefits].filter(([, benefit]) => benefit >= threshold && benefit > 0);
    // While no durations are known, the newest page shows most of the jobs that might end early.
    const isProbe = !isKnown && now - this.#readAt >= Math.max(listFloorMs, oldest / 4);
    if (chosen.length === 0 && isProbe) chosen.push([1, 0]);
    chosen.sort(([, a], [, b]) => a - b);
    // If there are few pages, the best one may change after each read, so only one is chosen.
    const isMany = isKnown && pages.size > manyPages;
    this.#chosen = (isMany ? chosen : chosen.slice(-1)).map(([page, benefit]) => ({
      rank: this.#places.middleOf(page),
      benefit,
    }));
    const untilNext = Math.max(leastThoughtMs, this.jobs.size * thoughtMsPerJob);
    this.#thinkAt = now + untilNext;
    this.#gapMs = untilNext / Math.max(1, this.#chosen.length);
  }

  async read(page: number, call: (path: string) => Promise<HttpAnswer>): Promise<PageAnswer> {
    const { list } = this.#kind;
    if (list === undefined) return { is: 'unreadable' };
    const asked = this.#places.ask(page, this.#clock.now());
    this.#chosen.pop();
    this.#readAt = asked.at;
    this.#reading += 1;
    const answer = await call(pagePath(list, { page, limit: pageSize }));
    this.#reading -= 1;
    const body = answer.is === 'answer' && answer.status === 200 ? readRecord(answer.json) : undefined;
    const items = body?.[list.items];
    if (body === undefined || !Array.isArray(items)) {
      this.#chosen = [];
      // Pages that were requested together fail together, which counts once.
      if (asked.at >= this.#notBefore) this.#failures += 1;
      this.#notBefore = this.#clock.now() + Math.min(60_000, failureMs * 2 ** Math.min(6, this.#failures));
      if (answer.is !== 'answer' || answer.status !== 429) return { is: 'unreadable' };
      return { is: 'throttled', afterMs: parseRetryAfter(answer.headers[envelope.headers.retryAfter]) };
    }
    this.#failures = 0;
    const isFollowed = hasMore(body, page);
    this.#learnSize(body, items.length, isFollowed);
    const isLast = items.length < this.#places.size || !isFollowed;
    return this.#read(items, asked, { isLast, total: readTotal(body) });
  }

  /**
   * Learns the page size: not every list returns as many records as requested. If full pages differ in length, the
   * longest counts.
   */
  #learnSize(body: Data, count: number, isFollowed: boolean): void {
    const size = readPageSize(body, count);
    const isFull = size === count && isFollowed;
    if (size === undefined || (!isFull && this.#fullSize > 0)) return;
    if (isFull) this.#fullSize = Math.max(this.#fullSize, size);
    this.#places.size = Math.max(this.#fullSize, size);
  }

  #read(items: readonly Json[], asked: AskedPage, list: Pick<ShownPage, 'isLast' | 'total'>): PageAnswer {
    const idField = this.#kind.list?.jobId ?? 'id';
    const records = new Map<string, { index: number; data: Data }>();
    for (const [index, item] of items.entries()) {
      const data = readRecord(item);
      const id = data?.[idField] ?? data?.id;
      if (data !== undefined && typeof id === 'string') records.set(id, { index, data });
    }
    const doubtful = this.#places.note(asked, { ...list, records, count: items.length });
    const answer = { is: 'read' as const, ended: [] as { job: WatchedJob; data: Data }[], doubtful };
    for (const job of this.jobs) {
      const found = records.get(job.jobId);
      if (found !== undefined) this.#apply(job, found.data, { at: asked.at, answer });
    }
    return answer;
  }

  #apply(
    job: WatchedJob,
    data: Data,
    { at, answer }: { at: number; answer: Extract<PageAnswer, { is: 'read' }> },
  ): void {
    if (job.waiter === undefined) return;
    switch (data.status) {
      case envelope.states.completed:
        this.#trust.wasFirst();
        // The answer to a status call would name the job by its own ID.
        if (readResult(this.#kind, data) === undefined) answer.doubtful.push(job);
        else answer.ended.push({ job, data: { ...data, id: job.jobId } });
        return;
      case envelope.states.failed:
        this.#trust.wasFirst();
        answer.doubtful.push(job);
        return;
      default:
        job.listAge = Math.max(0, at - job.startedAt);
        if (this.#trust.isTrusted) job.lastAge = Math.max(job.lastAge ?? 0, job.listAge);
    }
  }

  /** Records that a status call has shown this job to have ended at that age. */
  audit(job: WatchedJob, endedAge: number): void {
    if (job.listAge !== undefined && job.listAge > endedAge + 2000) this.#trust.wasBehind();
  }
}

/**
 * Decides whether a kind's list is used. A final state in a list is always evidence. A running state counts only once
 * the list has shown an end before any status call did, and no longer after the list was outdated twice.
 */
export class ListTrust {
  readonly #clock: { now(): number };
  #state: 'unknown' | 'trusted' | 'stale';
  #strikes = 0;
  #staleSince = 0;

  constructor(clock: { now(): number }, start: 'unknown' | 'stale') {
    this.#clock = clock;
    this.#state = start;
    this.#staleSince = clock.now();
  }

  get isTrusted(): boolean {
    return this.#state === 'trusted';
  }

  /** True unless the list was outdated; an outdated list is tried again after a while. */
  get isAskable(): boolean {
    return this.#state !== 'stale' || this.#clock.now() - this.#staleSince >= retestMs;
  }

  wasFirst(): void {
    this.#state = 'trusted';
    this.#strikes = 0;
  }

  /** Records that the list showed a job as running more than two seconds after the job had ended. */
  wasBehind(): void {
    this.#strikes += 1;
    if (this.#strikes < 2) return;
    this.#state = 'stale';
    this.#strikes = 0;
    this.#staleSince = this.#clock.now();
  }
}

const retestMs = 600_000;
