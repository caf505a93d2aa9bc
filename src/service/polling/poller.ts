import type { Clock } from '../../contract/clock.ts';
import { AdaptiveRate } from '../../ground/adaptive-rate.ts';
import { Heap } from '../../ground/heap.ts';
import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import type { Kind } from '../../kinds/kind.ts';
import { parseRetryAfter, readRecord } from '../fields.ts';
import type { Http, HttpAnswer } from '../http.ts';
import { dueAt, passOn, usefulInFlight } from './due-at.ts';
import { Durations } from './durations.ts';
import { JobList, type Page } from './job-list.ts';
import { isCurrent, type Place, ReadyQueue } from './ready-queue.ts';
import { isWaiting, newlyWatched, tookMs, type WatchedJob } from './watched-job.ts';

export interface Observation {
  /**
   * Resolves with the next status of the job, from its status call at `path` or from a list: not before `afterMs` from
   * now, and at the latest at `untilMs` since 1970. `undefined` once the signal is aborted.
   */
  next(options: { path: string; afterMs: number; untilMs: number }): Promise<HttpAnswer | undefined>;
  leave(): void;
}

export interface PollerOptions {
  http: Http;
  clock: Clock;
  durations?: Durations;
  onSeen?: ((lagMs: number) => void) | undefined;
  fixedMs?: number | undefined;
  deadlineMs: number;
}

const mostInFlight = 64;
/**
 * If requests are limited, a due query may be delayed by more useful ones for as long as one query of every job takes,
 * but at least this time in ms.
 */
const leastPatienceMs = 10_000;
/** Number of waiting jobs up to which all are rescheduled when one ends. */
const mostHurried = 8;
/** Highest plausible age of a job in ms; a higher one is ignored. */
const longestAgeMs = 7 * 86_400_000;

/**
 * Polls all jobs of a run with a single timer. A job is queried when the expected time since its undetected end reaches
 * its threshold; if a list shows many jobs at once, the list is read. The only limit is the service's request rate.
 */
export class Poller {
  readonly #durations: Durations;
  readonly #rate: AdaptiveRate;
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  readonly #waiting = new Heap<Place, number>((a, b) => a - b);
  readonly #ready = new ReadyQueue();
  readonly #jobs = new Set<WatchedJob>();
  readonly #lists = new Map<string, JobList>();
  readonly #numbers = new Map<string, number>();
  #inFlight = 0;
  #timer: { at: number; stop: AbortController } | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#durations = options.durations ?? new Durations();
    this.#rate = new AdaptiveRate(options.clock);
  }

  /**
   * Starts watching a job. `fresh`: just created. `urgency`: importance of detecting its end; 1 for a job on its own.
   */
  observe(
    job: { kind: Kind; jobId: string; model?: string | undefined },
    options: { fresh: boolean; urgency: () => number; signal: AbortSignal },
  ): Observation {
    const { kind, jobId, model } = job;
    const { fresh, urgency, signal } = options;
    const known = this.#durations.of({ kind: kind.name, model, typicalMs: kind.typicalMs });
    const number = (this.#numbers.get(kind.name) ?? 0) + 1;
    this.#numbers.set(kind.name, number);
    const [startedAt, luck] = [this.#clock.now(), this.#clock.random()];
    const watched = newlyWatched({ kind, jobId, known, urgency, number, fresh, startedAt, luck });
    this.#jobs.add(watched);
    this.#listOf(kind)?.add(watched);
    let isFirst = !fresh;
    return {
      next: ({ path, afterMs, untilMs }) =>
        new Promise((resolve) => {
          if (signal.aborted) return resolve(undefined);
          const onAbort = () => settle(undefined);
          const settle = (answer: HttpAnswer | undefined) => {
            signal.removeEventListener('abort', onAbort);
            watched.waiter = undefined;
            watched.turn += 1;
            resolve(answer);
          };
          signal.addEventListener('abort', onAbort, { once: true });
          watched.waiter = { path, signal, resolve: settle };
          const now = this.#clock.now();
          watched.notBefore = afterMs > 0 ? now + afterMs : 0;
          const latest = Math.max(now, untilMs);
          const due = isFirst ? now : this.#dueAt(watched);
          // A query requested for a given time is not postponed again.
          this.#enqueue(watched, Math.min(due, latest), isFirst || latest <= due);
          isFirst = false;
        }),
      leave: () => {
        this.#jobs.delete(watched);
        this.#lists.get(kind.name)?.jobs.delete(watched);
        watched.turn += 1;
        if (this.#jobs.size === 0) this.#rest();
        // The remaining jobs are more urgent, and a list no longer covers the last one.
        else if (this.#jobs.size <= mostHurried) this.#bringForward(this.#jobs);
      },
    };
  }

  get usefulInFlight(): number {
    const isListed = [...this.#lists.values()].some(({ jobs }) => jobs.size > 0);
    if (isListed || this.#options.fixedMs !== undefined) return Number.POSITIVE_INFINITY;
    return usefulInFlight(this.#jobs, this.#rate.gapMs);
  }

  #listOf(kind: Kind): JobList | undefined {
    if (kind.list === undefined || this.#options.fixedMs !== undefined) return undefined;
    let list = this.#lists.get(kind.name);
    if (list === undefined) {
      list = new JobList(kind, this.#clock);
      this.#lists.set(kind.name, list);
    }
    return list;
  }

  #dueAt(job: WatchedJob): number {
    const listed = this.#lists.get(job.kind.name)?.tells(job) ?? false;
    return dueAt(job, { fixedMs: this.#options.fixedMs, listed, isLimited: this.#rate.isLimited });
  }

  #enqueue(job: WatchedJob, at: number, isSet = false): void {
    job.turn += 1;
    job.queuedAt = at;
    this.#waiting.push(at, { job, turn: job.turn, isSet });
    this.#arm();
  }

  /** Stops the timer because no job is watched: nothing may keep the process alive. */
  #rest(): void {
    this.#timer?.stop.abort();
    this.#timer = undefined;
    this.#ready.clear();
    this.#waiting.clear();
  }

  #arm(): void {
    const now = this.#clock.now();
    let at = this.#waiting.firstAt ?? Number.POSITIVE_INFINITY;
    if (!this.#ready.isEmpty) at = Math.min(at, Math.max(now, this.#rate.nextAt));
    for (const list of this.#lists.values()) at = Math.min(at, Math.max(list.nextCheckAt(), this.#rate.nextAt));
    if (at === Number.POSITIVE_INFINITY || this.#inFlight >= mostInFlight) return;
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.stop.abort();
    const stop = new AbortController();
    const timer = { at, stop };
    this.#timer = timer;
    void this.#clock.sleep(Math.max(0, at - now), stop.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = undefined;
      this.#pump();
    });
  }

  #pump(): void {
    const now = this.#clock.now();
    while ((this.#waiting.firstAt ?? Number.POSITIVE_INFINITY) <= now) {
      const place = this.#waiting.pop();
      if (place === undefined || !isCurrent(place)) continue;
      // A list may have shown the job, or become reliable, since the job was queued.
      const due = place.isSet ? now : this.#dueAt(place.job);
      if (due <= now + 1) {
        this.#ready.push(place);
        continue;
      }
      place.job.queuedAt = due;
      this.#waiting.push(due, place);
    }
    while (this.#inFlight < mostInFlight && this.#rate.nextAt <= now) {
      if (!this.#lookAtBest(now)) break;
    }
    this.#arm();
  }

  #lookAtBest(now: number): boolean {
    const best = this.#bestPage(now);
    const patienceMs = Math.max(leastPatienceMs, this.#jobs.size * this.#rate.gapMs);
    const limits = { leastBenefit: best?.benefit, overdueAt: now - patienceMs };
    const single = this.#rate.isLimited ? this.#ready.takeBest(now, limits) : this.#ready.takeFirst();
    if (single !== undefined) {
      void this.#lookAtJob(single);
      return true;
    }
    if (best === undefined) return false;
    void this.#lookAtList(best.list, best.page);
    return true;
  }

  #bestPage(now: number): (Page & { list: JobList }) | undefined {
    let best: (Page & { list: JobList }) | undefined;
    for (const list of this.#lists.values()) {
      const page = list.bestPage(now);
      if (page !== undefined && (best === undefined || page.benefit > best.benefit)) best = { list, ...page };
    }
    return best;
  }

  async #lookAtJob(job: WatchedJob): Promise<void> {
    const { waiter } = job;
    if (waiter === undefined) return;
    job.isAsked = true;
    const sentAt = this.#clock.now();
    this.#rate.take();
    this.#inFlight += 1;
    const { http, deadlineMs } = this.#options;
    const answer = await http.call({ method: 'GET', path: waiter.path, deadlineMs, signal: waiter.signal });
    job.askedAge = Math.max(0, sentAt - job.startedAt);
    this.#inFlight -= 1;
    // The waiting caller continues after this turn of the event loop, so results recorded here affect its next query.
    job.isAsked = false;
    if (job.waiter === waiter) waiter.resolve(answer);
    if (answer.is === 'answer') {
      if (answer.status === 429) {
        this.#rate.complain(parseRetryAfter(answer.headers[envelope.headers.retryAfter]), this.#clock.random());
      }
      const data = answer.status === 200 ? readRecord(readRecord(answer.json)?.data) : undefined;
      if (data !== undefined && (data.id === undefined || data.id === job.jobId)) this.#learn(job, data, sentAt);
    }
    this.#pump();
  }

  #learn(job: WatchedJob, data: { [key: string]: Json }, sentAt: number): void {
    const before = job.lastAge;
    const createdAt = typeof data.createdAt === 'string' ? Date.parse(data.createdAt) : Number.NaN;
    // A job of an earlier run is older than this run. A clock that is far off is ignored.
    const olderMs = job.startedAt - createdAt;
    if (before === undefined && !job.fresh && olderMs > 5000 && olderMs < longestAgeMs) job.startedAt = createdAt;
    if (data.status === envelope.states.queued) {
      // The job has not started, so its whole duration is still to come.
      job.startedAt = Math.max(job.startedAt, sentAt - job.known.distribution.quantile(0.5) / 2);
    }
    const age = Math.max(0, sentAt - job.startedAt);
    job.lastAge = age;
    job.askedAge = age;
    if (data.status !== envelope.states.completed) {
      const next = passOn(job, age, this.#jobs);
      if (next !== undefined) this.#enqueue(next, this.#dueAt(next));
      return;
    }
    const took = tookMs(data, age, before);
    this.#lists.get(job.kind.name)?.audit(job, took);
    this.#addSample(job, { took, age });
  }

  /** Adds a duration. `age`: age at which the job was seen to be over. */
  #addSample({ known }: WatchedJob, { took, age }: { took: number; age: number }): void {
    this.#options.onSeen?.(Math.max(0, age - took));
    known.learn(took);
    if (!known.isStale) return;
    const others = [...this.#jobs].filter((job) => job.known === known);
    known.refresh(others.flatMap(({ lastAge }) => (lastAge === undefined || lastAge === 0 ? [] : [lastAge])));
    this.#bringForward(others);
  }

  /** Moves jobs only forward; a job that is now due later is rescheduled when its turn comes. */
  #bringForward(jobs: Iterable<WatchedJob>): void {
    for (const job of jobs) {
      if (!isWaiting(job)) continue;
      const due = this.#dueAt(job);
      if (due < job.queuedAt) this.#enqueue(job, due);
    }
  }

  async #lookAtList(list: JobList, page: number): Promise<void> {
    this.#rate.take();
    this.#inFlight += 1;
    const { http, deadlineMs } = this.#options;
    const answer = await list.read(page, (path) => http.call({ method: 'GET', path, deadlineMs }));
    this.#inFlight -= 1;
    if (answer.is === 'throttled') this.#rate.complain(answer.afterMs, this.#clock.random());
    if (answer.is === 'read') {
      for (const { job, data } of answer.ended) {
        const age = this.#clock.now() - job.startedAt;
        job.waiter?.resolve({ is: 'answer', status: 200, headers: {}, json: { success: true, data } });
        if (data.status === envelope.states.completed)
          this.#addSample(job, { took: tookMs(data, age, job.lastAge), age });
      }
      // The list was read in place of queries that were due, so these are queued again.
      for (const place of this.#ready.takeAll()) this.#waiting.push(this.#clock.now(), place);
      for (const job of answer.doubtful) if (isWaiting(job)) this.#enqueue(job, this.#clock.now(), true);
    }
    this.#pump();
  }
}
