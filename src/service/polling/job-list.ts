import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import type { Kind } from '../../kinds/kind.ts';
import { readRecord, readResult } from '../fields.ts';
import type { HttpAnswer } from '../http.ts';
import { hasMore, pagePath, pageSize, readPageSize } from '../listing.ts';
import type { WatchedJob } from './watched-job.ts';

type Data = { [key: string]: Json };

export interface ListPage {
  page: number;
  isSearch: boolean;
}

interface ShownPage {
  found: ReadonlySet<WatchedJob>;
  ended: { job: WatchedJob; data: Data }[];
  doubtful: WatchedJob[];
}

/** Minimum time in ms between two reads of a page. The service allows a read “every few seconds”. */
const leastGapMs = 2000;
const failureMs = 1000;
const fewestJobs = 2;
/** Number of failed searches for a job in the list after which the job itself is queried. */
const mostMissing = 2;
/** Number of times that a list may show an ended job as running before it is no longer read. */
const mostStrikes = 2;
/** If only the list has shown a job as running for this share of its age, the job is queried. The minimum is 10 s. */
const unverifiedShare = 1 / 4;
const leastUnverifiedMs = 10_000;
/** Maximum number of pages that a search reads, in addition to a multiple of the pages that the watched jobs fill. */
const leastSearched = 20;
const searchedTimes = 5;

/**
 * The service's list of one kind's jobs, newest first. One page replaces the status queries of all jobs on it. A final
 * state in the list is always trusted. A running state is trusted only after the list has shown an ended job. To find
 * the positions of jobs, a search reads pages from the first on.
 */
export class JobList {
  readonly jobs = new Map<string, WatchedJob>();
  readonly #kind: Kind;
  readonly #clock: { now(): number };
  readonly #readAt = new Map<number, number>();
  isTrusted = false;
  #strikes = 0;
  #notBefore = 0;
  #failures = 0;
  #size = pageSize;
  #isSizeShown = false;
  /**
   * Number of records that this run has added to the list. `#others`: number of other users' records on these pages.
   */
  #added = 0;
  #others = 0;
  readonly #search = { page: 1, since: 0 };

  constructor(kind: Kind, clock: { now(): number }) {
    this.#kind = kind;
    this.#clock = clock;
    if (kind.list?.isStale) this.#strikes = mostStrikes;
  }

  add(job: WatchedJob): void {
    this.jobs.set(job.jobId, job);
    this.#added += 1;
  }

  /** Returns the page to read instead of a status query for this job, or `undefined` if the job must be queried. */
  pageFor(job: WatchedJob): ListPage | undefined {
    const { missing, rank } = job;
    const now = this.#clock.now();
    const isUseless = this.#strikes >= mostStrikes || missing >= mostMissing || this.jobs.size < fewestJobs;
    if (isUseless || now < this.#notBefore) return undefined;
    const age = now - job.startedAt;
    const verifiedAge = Math.max(job.askedAge ?? 0, 2 * job.known.medianMs);
    if (age - verifiedAge > Math.max(leastUnverifiedMs, age * unverifiedShare)) return undefined;
    if (rank === undefined) {
      if (this.#search.page === 1) this.#search.since = now;
      return { page: this.#search.page, isSearch: true };
    }
    return { page: Math.max(1, 1 + Math.floor((this.#added + this.#others - rank) / this.#size)), isSearch: false };
  }

  seek(job: WatchedJob): void {
    job.rank = undefined;
    job.soughtAt = this.#clock.now();
  }

  endSearch(): void {
    this.#search.page = 1;
  }

  readableAt(page: number): number {
    return (this.#readAt.get(page) ?? Number.NEGATIVE_INFINITY) + leastGapMs;
  }

  async read(
    { page, isSearch }: ListPage,
    call: (path: string) => Promise<HttpAnswer>,
  ): Promise<ShownPage | undefined> {
    const { list } = this.#kind;
    if (list === undefined) return undefined;
    const [added, at] = [this.#added, this.#clock.now()];
    this.#readAt.set(page, at);
    const answer = await call(pagePath(list, { page, limit: pageSize }));
    const body = answer.is === 'answer' && answer.status === 200 ? readRecord(answer.json) : undefined;
    const items = body?.[list.items];
    if (body === undefined || !Array.isArray(items)) {
      // If several pages that were requested together fail, this counts as one failure.
      if (at >= this.#notBefore) this.#failures += 1;
      this.#notBefore = this.#clock.now() + Math.min(60_000, failureMs * 2 ** Math.min(6, this.#failures));
      return undefined;
    }
    this.#failures = 0;
    const first = (page - 1) * this.#size;
    const isFollowed = list.paged && items.length > 0 && hasMore(body, page);
    this.#learnSize(body, items.length, isFollowed);
    const shown = this.#note(items, { added, at, first });
    if (isSearch) this.#continueReading(page, isFollowed && items.length >= this.#size);
    return shown;
  }

  /** Derives the page size, because some lists ignore the requested size. A page is full if another page follows it. */
  #learnSize(body: Data, count: number, isFollowed: boolean): void {
    const size = readPageSize(body, count);
    const isFull = size === count && isFollowed;
    if (size === undefined || (!isFull && this.#isSizeShown)) return;
    this.#size = isFull && this.#isSizeShown ? Math.max(this.#size, size) : size;
    this.#isSizeShown ||= isFull;
  }

  #continueReading(page: number, isFollowed: boolean): void {
    const most = leastSearched + (searchedTimes * this.jobs.size) / this.#size;
    if (isFollowed && page < most) {
      this.#search.page = page + 1;
      return;
    }
    for (const job of this.jobs.values())
      if (job.rank === undefined && job.soughtAt <= this.#search.since) job.missing += 1;
    this.#search.page = 1;
  }

  #note(items: readonly Json[], asked: { added: number; at: number; first: number }): ShownPage {
    const idField = this.#kind.list?.jobId ?? 'id';
    const found = items.flatMap((item, index) => {
      const data = readRecord(item);
      const id = data?.[idField] ?? data?.id;
      const job = typeof id === 'string' ? this.jobs.get(id) : undefined;
      return job === undefined || data === undefined ? [] : [{ job, position: asked.first + index, data }];
    });
    // New records of other users move jobs down the list. Uses the median move: single records may be removed.
    const tops = found.flatMap(({ job, position }) => (job.rank === undefined ? [] : [job.rank + position]));
    const top = tops.sort((a, b) => a - b)[tops.length >> 1] ?? asked.added + this.#others;
    this.#others = top - asked.added;
    const { isTrusted } = this;
    const shown: ShownPage = { found: new Set(found.map(({ job }) => job)), ended: [], doubtful: [] };
    for (const { job, position, data } of found) {
      job.rank = top - position;
      job.missing = 0;
      if (job.waiter === undefined) continue;
      if (data.status === envelope.states.completed || data.status === envelope.states.failed) {
        this.isTrusted = true;
        const isWhole = data.status === envelope.states.completed && readResult(this.#kind, data) !== undefined;
        // The record must have the ID of the job, like the answer to a status query.
        if (isWhole) shown.ended.push({ job, data: { ...data, id: job.jobId } });
        else shown.doubtful.push(job);
      } else {
        job.listAge = Math.max(0, asked.at - job.startedAt);
        if (isTrusted) job.lastAge = Math.max(job.lastAge ?? 0, job.listAge);
      }
    }
    return shown;
  }

  /**
   * Counts an error of the list if it showed a job as running after the job had ended. `endedAge`: age at which the job
   * ended, by its status.
   */
  audit(job: WatchedJob, endedAge: number): void {
    if (job.listAge !== undefined && job.listAge > endedAge + 2000) this.#strikes += 1;
  }
}
