import type { WatchedJob } from './watched-job.ts';

/** This close to the edge of a page, a job may just have been pushed onto the next one. */
const edge = 5;
/** Stretches per page: records of one stretch count as read together. */
const stretchesOnPage = 10;
/** A list that claims to have grown or shrunk by more than this between two reads is not believed. */
const mostGrowth = 100_000;
/** Number of pages searched for a job that is not where it should be. */
const mostPages = 20;
/**
 * Pages without it, for each page that our jobs would fill, after which a job is missing, however much of the list is
 * unread: its length may be anything. Most of the pages are read for others.
 */
const readsInVain = 20;
const usualPages = 20;

export interface AskedPage {
  page: number;
  /** Milliseconds since 1970. */
  at: number;
  /** Number of our jobs made by then. */
  added: number;
}

export interface ShownPage {
  /** Index within the page, by ID. */
  records: ReadonlyMap<string, { index: number }>;
  count: number;
  /** Nothing comes after it. */
  isLast: boolean;
  /** Number of records in the whole list, if stated. */
  total?: number | undefined;
}

/**
 * Tracks which page of a list, newest first, holds each job. Before a job come later ones, and other people's; creates
 * that were in flight together are listed in another order than their answers came, and a burst of them is spread over
 * many pages. A job that is not where it should be is sought around that place, and is missing only when everything was
 * read.
 *
 * The place of a record grows with each new one before it. Its rank, counted from below, does not.
 */
export class ListPlaces {
  #size: number;
  #stretch: number;
  readonly #jobs: ReadonlySet<WatchedJob>;
  readonly #isPaged: boolean;
  /** Times at which stretches of ranks were last read. */
  readonly #readAt = new Map<number, number>();
  /** Number of our jobs made so far. */
  #added = 0;
  /** Number of other people's records that came since; noticed when a page is read. */
  #others = 0;
  #newest = 0;
  /** Ranks start anywhere: this is their offset from the list's own count. */
  #base: number | undefined;
  /** The lowest rank that one of our jobs may have. */
  #lowest = 0;
  /** Largest distance of jobs from their expected place. */
  #spread = 0;
  /** No job of the list is below this rank. */
  #end = Number.NEGATIVE_INFINITY;

  /** `size`: until the list shows how many records its pages have. */
  constructor(jobs: ReadonlySet<WatchedJob>, { isPaged, size }: { isPaged: boolean; size: number }) {
    this.#jobs = jobs;
    this.#isPaged = isPaged;
    this.#size = size;
    this.#stretch = Math.ceil(size / stretchesOnPage);
  }

  /** Records per page. */
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

  /** Rank of the record in the middle of this page, as long as nothing comes before it. */
  middleOf(page: number): number {
    return this.#top - (page - 1) * this.#size - (this.#size >> 1);
  }

  pageAt(rank: number): number {
    return this.#isPaged ? 1 + Math.floor(Math.max(0, this.#top - rank) / this.#size) : 1;
  }

  /** Returns the page on which to search each job. */
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
    // Set, not added to: pages that were requested together have all seen the same records come.
    this.#others = top - asked.added;
    const highest = top - first;
    const lowest = this.#isPaged && !shown.isLast ? highest - this.#size + 1 : Number.NEGATIVE_INFINITY;
    if (shown.isLast) this.#end = highest - shown.count + 1;
    else if (lowest <= this.#end) this.#end = Number.NEGATIVE_INFINITY;
    this.#findLowest();
    const lastRead = this.#stretchOf(Math.max(lowest, this.#lowest));
    for (let at = this.#stretchOf(highest); at >= lastRead; at -= 1) this.#readAt.set(at, asked.at);
    const missing: WatchedJob[] = [];
    // With short pages, and with few jobs, queries one by one cost less than that.
    const pages = Math.max(usualPages, this.#jobs.size / this.#size);
    const mostInVain = Math.min(readsInVain * pages, this.#jobs.size + mostPages);
    for (const job of this.#jobs) {
      // It existed before the page was requested: no record that came later can be it.
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
        // No place is above the newest record: the list has shrunk, and only the first page is left there.
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

  /** Rank of the newest record when the page was requested. */
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
    // Some may have moved: a record was removed.
    return tops.sort((a, b) => a - b)[tops.length >> 1] ?? expected;
  }

  /** Rank of the newest record, as far as it is known. */
  get #top(): number {
    return this.#added + this.#others;
  }

  #rankOf(job: WatchedJob): number {
    return job.isPlaced ? job.listRank : this.#top - (this.#newest - job.number);
  }

  /** The rank nearest to its expected place that was not read since the search for it began. */
  #unreadBy({ soughtAt, mostRank = this.#top }: WatchedJob, rank: number): number | undefined {
    const high = this.#stretchOf(Math.min(mostRank, this.#top));
    const low = this.#stretchOf(this.#lowest);
    // Ranks outside are not walked: a list may claim to be longer or shorter by thousands.
    const wanted = Math.max(low, Math.min(high, this.#stretchOf(rank)));
    for (let distance = 0; wanted - distance >= low || wanted + distance <= high; distance += 1) {
      for (const near of [wanted + distance, wanted - distance]) {
        if (near < low || near > high || (this.#readAt.get(near) ?? Number.NEGATIVE_INFINITY) >= soughtAt) continue;
        return Math.max(this.#end, near * this.#stretch + Math.floor(this.#stretch / 2));
      }
    }
    return undefined;
  }

  /** A job being sought may come after all others. */
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
