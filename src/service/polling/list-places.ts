import type { WatchedJob } from './watched-job.ts';

/** Distance from the edge of a page, in records, at which a job may just have moved to the next page. */
const edge = 5;
/** Stretches per page: the records of one stretch share the time of their last read. */
const stretchesOnPage = 10;
/** Largest plausible change of a list's length between two reads; a larger one is ignored. */
const mostGrowth = 100_000;
/** Number of pages searched for a job that is not at its expected place. */
const mostPages = 20;
/**
 * Number of pages read in vain, for each page that the watched jobs would fill, after which a job counts as missing,
 * even if the list was not read to its end: its stated length may be wrong. Most of these pages are read for other
 * jobs.
 */
const readsInVain = 20;
const usualPages = 20;

export interface AskedPage {
  page: number;
  /** Time of the request, in ms since 1970. */
  at: number;
  /** Number of jobs that this run had made by then. */
  added: number;
}

export interface ShownPage {
  /** Index of each record within the page, by job ID. */
  records: ReadonlyMap<string, { index: number }>;
  count: number;
  isLast: boolean;
  total?: number | undefined;
}

/**
 * Tracks which page of a list, newest first, contains each job. Later jobs come before it, including those of other
 * users. Requests that were in flight together may be listed in another order than their answers arrived, and many of
 * them are spread over many pages. A job that is not at its expected place is searched around it, and counts as missing
 * only when everything was read. The place of a record grows with each new record before it. Its rank, counted from the
 * end of the list, does not change.
 */
export class ListPlaces {
  #size: number;
  #stretch: number;
  readonly #jobs: ReadonlySet<WatchedJob>;
  readonly #isPaged: boolean;
  /** Time of the last read of each stretch of ranks. */
  readonly #readAt = new Map<number, number>();
  #added = 0;
  /** Number of records of other users that were added since; noticed when a page is read. */
  #others = 0;
  #newest = 0;
  /** Offset of the ranks, which start at any number, from the list's own count. */
  #base: number | undefined;
  #lowest = 0;
  /** Largest observed distance of a job from its expected place. */
  #spread = 0;
  /** Rank of the list's last record; no job is below it. */
  #end = Number.NEGATIVE_INFINITY;

  /** `size`: assumed page size until the list shows its actual one. */
  constructor(jobs: ReadonlySet<WatchedJob>, { isPaged, size }: { isPaged: boolean; size: number }) {
    this.#jobs = jobs;
    this.#isPaged = isPaged;
    this.#size = size;
    this.#stretch = Math.ceil(size / stretchesOnPage);
  }

  get size(): number {
    return this.#size;
  }

  set size(size: number) {
    if (size === this.#size) return;
    this.#size = size;
    this.#stretch = Math.ceil(size / stretchesOnPage);
    this.#readAt.clear();
  }

  /** Adds a job that was made just now, as far as is known. */
  add(job: WatchedJob): void {
    this.#added += 1;
    this.#newest = Math.max(this.#newest, job.number);
  }

  ask(page: number, at: number): AskedPage {
    return { page, at, added: this.#added };
  }

  /** Returns the rank of the record in the middle of this page, if no new record has been added before it. */
  middleOf(page: number): number {
    return this.#top - (page - 1) * this.#size - (this.#size >> 1);
  }

  pageAt(rank: number): number {
    return this.#isPaged ? 1 + Math.floor(Math.max(0, this.#top - rank) / this.#size) : 1;
  }

  pages(): (job: WatchedJob) => number {
    this.#findLowest();
    return (job) => {
      const expected = this.#rankOf(job);
      return this.pageAt(job.isPlaced ? expected : (this.#unreadBy(job, expected) ?? expected));
    };
  }

  note(asked: AskedPage, shown: ShownPage): WatchedJob[] {
    const first = (asked.page - 1) * this.#size;
    const top = this.#topOf(asked, shown);
    // Assigned, not added, because pages that were requested together all include the same new records.
    this.#others = top - asked.added;
    const highest = top - first;
    const lowest = this.#isPaged && !shown.isLast ? highest - this.#size + 1 : Number.NEGATIVE_INFINITY;
    if (shown.isLast) this.#end = highest - shown.count + 1;
    else if (lowest <= this.#end) this.#end = Number.NEGATIVE_INFINITY;
    this.#findLowest();
    const lastRead = this.#stretchOf(Math.max(lowest, this.#lowest));
    for (let at = this.#stretchOf(highest); at >= lastRead; at -= 1) this.#readAt.set(at, asked.at);
    const missing: WatchedJob[] = [];
    // With short pages, or few jobs, individual queries cost less than further reads.
    const pages = Math.max(usualPages, this.#jobs.size / this.#size);
    const mostInVain = Math.min(readsInVain * pages, this.#jobs.size + mostPages);
    for (const job of this.#jobs) {
      // The job existed before the page was requested, so it cannot rank above the newest record of that time.
      if (job.soughtAt <= asked.at) job.mostRank ??= top;
      const found = shown.records.get(job.jobId);
      if (found !== undefined) {
        const rank = highest - found.index;
        this.#spread = Math.max(this.#spread, Math.abs(rank - this.#rankOf(job)));
        job.missing = 0;
        job.inVain = 0;
        job.isPlaced = true;
        job.listRank = rank;
      } else if (job.isPlaced) {
        // No place is above the newest record: if the list has shrunk to fewer records, only the first page is left.
        const isBelow = asked.page === 1 || job.listRank <= highest - edge;
        const isThere = isBelow && job.listRank >= lowest + edge;
        if (!isThere) continue;
        job.isPlaced = false;
        job.soughtAt = asked.at;
      } else if (job.missing < 2) {
        job.inVain += 1;
        const isGivenUp = job.inVain >= mostInVain;
        if (!isGivenUp && this.#unreadBy(job, this.#rankOf(job)) !== undefined) continue;
        job.missing = isGivenUp ? 2 : job.missing + 1;
        job.soughtAt = asked.at + 1;
        if (job.missing >= 2) missing.push(job);
      }
    }
    return missing;
  }

  /** Returns the rank of the newest record when the page was requested. */
  #topOf(asked: AskedPage, { records, total }: ShownPage): number {
    const expected = asked.added + this.#others;
    if (total !== undefined) {
      this.#base ??= expected - total;
      const top = this.#base + total;
      if (Math.abs(top - expected) <= mostGrowth) return top;
    }
    const first = (asked.page - 1) * this.#size;
    const tops: number[] = [];
    for (const job of this.#jobs) {
      const found = job.isPlaced ? records.get(job.jobId) : undefined;
      if (found !== undefined) tops.push(job.listRank + first + found.index);
    }
    // The ranks of some known records may have changed because a record was removed, so the median counts.
    return tops.sort((a, b) => a - b)[tops.length >> 1] ?? expected;
  }

  get #top(): number {
    return this.#added + this.#others;
  }

  #rankOf(job: WatchedJob): number {
    return job.isPlaced ? job.listRank : this.#top - (this.#newest - job.number);
  }

  /** Returns the rank nearest to the job's expected place that was not read since the search for the job began. */
  #unreadBy({ soughtAt, mostRank = this.#top }: WatchedJob, rank: number): number | undefined {
    const high = this.#stretchOf(Math.min(mostRank, this.#top));
    const low = this.#stretchOf(this.#lowest);
    // Ranks outside this range are not tried: a list may claim to be longer or shorter by thousands.
    const wanted = Math.max(low, Math.min(high, this.#stretchOf(rank)));
    for (let distance = 0; wanted - distance >= low || wanted + distance <= high; distance += 1) {
      for (const near of [wanted + distance, wanted - distance]) {
        if (near < low || near > high || (this.#readAt.get(near) ?? Number.NEGATIVE_INFINITY) >= soughtAt) continue;
        return Math.max(this.#end, near * this.#stretch + Math.floor(this.#stretch / 2));
      }
    }
    return undefined;
  }

  /** Updates the lowest rank; a job being searched for may be after all others. */
  #findLowest(): void {
    let lowest = this.#top;
    let isOneSought = false;
    for (const job of this.#jobs) {
      lowest = Math.min(lowest, this.#rankOf(job));
      isOneSought ||= !job.isPlaced;
    }
    const behind = Math.min(Math.max(this.#size, this.#spread), mostPages * this.#size);
    this.#lowest = Math.max(this.#end, isOneSought && this.#isPaged ? lowest - behind : lowest);
  }

  #stretchOf(rank: number): number {
    return Math.floor(rank / this.#stretch);
  }
}
