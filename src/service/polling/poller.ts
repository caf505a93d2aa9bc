import type { Clock } from '../../contract/clock.ts';
import { AdaptiveRate } from '../../ground/adaptive-rate.ts';
import { Heap } from '../../ground/heap.ts';
import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import type { Kind } from '../../kinds/kind.ts';
import { parseRetryAfter, readRecord } from '../fields.ts';
import type { Http, HttpAnswer } from '../http.ts';
import { Durations, type KnownDurations } from './durations.ts';
import { JobList, type ListPage } from './job-list.ts';
import { dueAt, durationMs, isWaiting, type WatchedJob } from './watched-job.ts';

export interface Observation {
  /**
   * Resolves with the next status of the job, from a status query at `path` or from a list. Resolves with `undefined`
   * if aborted, or if the service demands a wait beyond `untilMs`. `afterMs`: earliest time of the query, in ms from
   * now. `untilMs`: latest time, in ms since 1970.
   */
  next(options: { path: string; afterMs: number; untilMs: number }): Promise<HttpAnswer | undefined>;
  leave(): void;
}

interface PollerOptions {
  http: Http;
  clock: Clock;
  durations?: Durations;
  fixedMs?: number | undefined;
  deadlineMs: number;
}

const mostInFlight = 64;
/** Number of waiting jobs up to which all of them are rescheduled when a job ends. */
const mostHurried = 8;
const longestAgeMs = 7 * 86_400_000;

/**
 * A job's entry in the queue of queries. The entry is valid while the job has the same `turn`. `isSet`: the time of the
 * query does not depend on new durations. `isAlone`: queries the job's own status, not a list.
 */
interface Place {
  job: WatchedJob;
  turn: number;
  isSet: boolean;
  isAlone: boolean;
}

/**
 * Polls all jobs of a run with one timer, up to the service's request rate. Queries a job when it has probably been
 * finished for a share of the median duration. A page of a list replaces the status queries of its jobs.
 */
export class Poller {
  readonly #durations: Durations;
  readonly #rate: AdaptiveRate;
  readonly #options: PollerOptions;
  readonly #clock: Clock;
  readonly #waiting = new Heap<Place, number>((a, b) => a - b);
  readonly #jobs = new Set<WatchedJob>();
  readonly #lists = new Map<string, JobList>();
  /**
   * While no duration is known, only one job is queried, to measure one: the probe. `age`: age at which the previous
   * probe was still running.
   */
  readonly #probes = new Map<KnownDurations, { job: WatchedJob; age: number }>();
  readonly #seekers = new Map<JobList, WatchedJob[]>();
  #inFlight = 0;
  #timer: { at: number; stop: AbortController } | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#durations = options.durations ?? new Durations();
    this.#rate = new AdaptiveRate(options.clock);
  }

  /** Starts watching a job. `fresh`: true if this run has just created the job. */
  observe(
    { kind, jobId, model }: { kind: Kind; jobId: string; model?: string | undefined },
    { fresh, urgency, signal }: { fresh: boolean; urgency: () => number; signal: AbortSignal },
  ): Observation {
    const known = this.#durations.of({ kind: kind.name, model, typicalMs: kind.typicalMs });
    const job: WatchedJob = {
      kind,
      jobId,
      known,
      urgency,
      fresh,
      startedAt: this.#clock.now(),
      lastAge: undefined,
      askedAge: undefined,
      listAge: undefined,
      rank: undefined,
      soughtAt: this.#clock.now(),
      missing: 0,
      notBefore: 0,
      latest: Number.POSITIVE_INFINITY,
      turn: 0,
      waiter: undefined,
      isAsked: false,
    };
    this.#jobs.add(job);
    this.#listOf(kind)?.add(job);
    let isFirst = !fresh;
    return {
      next: ({ path, afterMs, untilMs }) =>
        new Promise((resolve) => {
          if (signal.aborted || this.#isPausedBeyond(untilMs)) return resolve(undefined);
          const onAbort = () => settle(undefined);
          const settle = (answer: HttpAnswer | undefined) => {
            signal.removeEventListener('abort', onAbort);
            job.waiter = undefined;
            job.turn += 1;
            resolve(answer);
          };
          signal.addEventListener('abort', onAbort, { once: true });
          job.waiter = { path, signal, resolve: settle };
          const now = this.#clock.now();
          job.notBefore = afterMs > 0 ? now + afterMs : 0;
          job.latest = Math.max(now, untilMs);
          this.#enqueue(job, isFirst ? now : this.#dueAt(job), { isSet: isFirst, isAlone: isFirst });
          isFirst = false;
        }),
      leave: () => {
        this.#jobs.delete(job);
        this.#lists.get(kind.name)?.jobs.delete(jobId);
        job.turn += 1;
        if (this.#probes.get(known)?.job === job) this.#probes.delete(known);
        if (this.#jobs.size === 0) this.#rest();
        // Reschedules: the fewer jobs remain, the more urgent is each, and a single job is queried without its list.
        else if (this.#jobs.size <= mostHurried) this.#bringForward(this.#jobs);
      },
    };
  }

  #listOf(kind: Kind): JobList | undefined {
    if (kind.list === undefined || this.#options.fixedMs !== undefined) return undefined;
    const list = this.#lists.get(kind.name) ?? new JobList(kind, this.#clock);
    this.#lists.set(kind.name, list);
    return list;
  }

  #dueAt(job: WatchedJob): number {
    const probedAge = job.known.samples.length === 0 ? this.#probedAge(job) : undefined;
    return Math.min(job.latest, dueAt(job, { probedAge, fixedMs: this.#options.fixedMs }));
  }

  /**
   * Makes this job the probe if there is none. If this job is the probe, returns the age at which the last probe was
   * still running, else `undefined`.
   */
  #probedAge(job: WatchedJob): number | undefined {
    const probe = this.#probes.get(job.known) ?? { job, age: 0 };
    this.#probes.set(job.known, probe);
    return probe.job === job ? probe.age : undefined;
  }

  #enqueue(job: WatchedJob, at: number, { isSet = false, isAlone = false } = {}): void {
    job.turn += 1;
    this.#waiting.push(at, { job, turn: job.turn, isSet, isAlone });
    this.#arm();
  }

  #rest(): void {
    this.#timer?.stop.abort();
    this.#timer = undefined;
    this.#waiting.clear();
  }

  #arm(): void {
    const { firstAt } = this.#waiting;
    if (firstAt === undefined || this.#inFlight >= mostInFlight) return;
    const at = Math.max(firstAt, this.#rate.nextAt);
    if (this.#timer !== undefined && this.#timer.at <= at) return;
    this.#timer?.stop.abort();
    const timer = { at, stop: new AbortController() };
    this.#timer = timer;
    void this.#clock.sleep(Math.max(0, at - this.#clock.now()), timer.stop.signal).then(() => {
      if (this.#timer !== timer) return;
      this.#timer = undefined;
      this.#pump();
    });
  }

  #pump(): void {
    const now = this.#clock.now();
    while (this.#inFlight < mostInFlight && this.#rate.nextAt <= now && (this.#waiting.firstAt ?? now + 1) <= now) {
      const place = this.#waiting.pop();
      if (place !== undefined && isWaiting(place.job) && place.job.turn === place.turn) this.#query(place, now);
    }
    this.#arm();
  }

  #query({ job, isSet, isAlone }: Place, now: number): void {
    // The queue entry may be outdated: other jobs may have ended, or a list may have shown this job as running.
    const due = isSet ? now : this.#dueAt(job);
    if (due > now + 1) {
      this.#enqueue(job, due);
      return;
    }
    const list = isAlone || now >= job.latest ? undefined : this.#lists.get(job.kind.name);
    const page = list?.pageFor(job);
    if (list === undefined || page === undefined) {
      void this.#pollJob(job);
      return;
    }
    const seekers = page.isSearch ? this.#seekers.get(list) : undefined;
    const readableAt = page.isSearch ? now : list.readableAt(page.page);
    if (seekers !== undefined) seekers.push(job);
    else if (readableAt > now) this.#enqueue(job, readableAt);
    else void this.#pollPage(list, page, [job]);
  }

  async #call(path: string, signal?: AbortSignal): Promise<HttpAnswer> {
    this.#rate.take();
    this.#inFlight += 1;
    const { http, deadlineMs } = this.#options;
    const answer = await http.call({ method: 'GET', path, deadlineMs, ...(signal && { signal }) });
    this.#inFlight -= 1;
    if (answer.is === 'answer' && answer.status === 429) {
      this.#rate.complain(parseRetryAfter(answer.headers) ?? null, this.#clock.random());
      for (const job of this.#jobs)
        if (isWaiting(job) && this.#isPausedBeyond(job.latest)) job.waiter?.resolve(undefined);
    }
    return answer;
  }

  #isPausedBeyond(time: number): boolean {
    return this.#rate.isPaused && time < this.#rate.nextAt;
  }

  async #pollJob(job: WatchedJob): Promise<void> {
    const { waiter } = job;
    if (waiter === undefined) return;
    job.isAsked = true;
    const sentAt = this.#clock.now();
    const answer = await this.#call(waiter.path, waiter.signal);
    job.askedAge = Math.max(0, sentAt - job.startedAt);
    // The caller continues after this turn of the event loop, so its next query depends on the results below.
    job.isAsked = false;
    if (job.waiter === waiter) waiter.resolve(answer);
    if (answer.is === 'answer' && answer.status === 200) {
      const data = readRecord(readRecord(answer.json)?.data);
      if (data !== undefined && (data.id === undefined || data.id === job.jobId)) this.#learn(job, data, sentAt);
    }
    this.#pump();
  }

  #learn(job: WatchedJob, data: { [key: string]: Json }, sentAt: number): void {
    const before = job.lastAge;
    const createdAt = typeof data.createdAt === 'string' ? Date.parse(data.createdAt) : Number.NaN;
    // The job of an earlier run is older than this run. An implausible age comes from a wrong clock.
    const olderMs = job.startedAt - createdAt;
    if (before === undefined && !job.fresh && olderMs > 5000 && olderMs < longestAgeMs) job.startedAt = createdAt;
    if (data.status === envelope.states.queued) {
      // A job in the service's queue has not begun, so its whole duration remains.
      job.startedAt = Math.max(job.startedAt, sentAt - job.known.medianMs / 2);
    }
    const age = Math.max(0, sentAt - job.startedAt);
    job.lastAge = age;
    job.askedAge = age;
    if (data.status !== envelope.states.completed) {
      if (job.known.samples.length === 0) this.#probeNext(job, age);
      return;
    }
    const took = durationMs(data, age, before);
    this.#lists.get(job.kind.name)?.audit(job, took);
    this.#addSample(job, took);
  }

  /**
   * Makes another job the probe. Prefers a job that was never queried: if it has ended, its status shows a duration.
   */
  #probeNext({ known }: WatchedJob, age: number): void {
    for (const job of this.#jobs) {
      if (job.known !== known || job.lastAge !== undefined || !isWaiting(job)) continue;
      this.#probes.set(known, { job, age });
      this.#enqueue(job, this.#dueAt(job));
      return;
    }
  }

  #addSample({ known }: WatchedJob, took: number): void {
    known.learn(took);
    // Reschedules all jobs: the first durations change the estimate much. Later, a job is rescheduled when it is due.
    const { length } = known.samples;
    if (length <= 32 && (length & (length - 1)) === 0)
      this.#bringForward([...this.#jobs].filter((job) => job.known === known));
  }

  #bringForward(jobs: Iterable<WatchedJob>): void {
    for (const job of jobs) if (isWaiting(job)) this.#enqueue(job, this.#dueAt(job));
  }

  /** `askers`: jobs due for a query that may be on the page. A search adds further jobs that are due. */
  async #pollPage(list: JobList, page: ListPage, askers: WatchedJob[]): Promise<void> {
    if (page.isSearch) this.#seekers.set(list, askers);
    const shown = await list.read(page, (path) => this.#call(path));
    if (page.isSearch) this.#seekers.delete(list);
    const now = this.#clock.now();
    for (const { job, data } of shown?.ended ?? []) {
      const age = now - job.startedAt;
      job.waiter?.resolve({ is: 'answer', status: 200, headers: {}, json: { success: true, data } });
      this.#addSample(job, durationMs(data, age, job.lastAge));
    }
    const left = askers.filter(isWaiting);
    if (page.isSearch && left.every(({ rank }) => rank !== undefined)) list.endSearch();
    for (const job of left) {
      if (shown !== undefined && !page.isSearch && !shown.found.has(job)) list.seek(job);
      if (job.rank === undefined) this.#enqueue(job, now);
      else if (list.isTrusted) this.#enqueue(job, this.#dueAt(job));
      else this.#enqueue(job, now, { isSet: true, isAlone: true });
    }
    for (const job of shown?.doubtful ?? [])
      if (isWaiting(job)) this.#enqueue(job, now, { isSet: true, isAlone: true });
    this.#pump();
  }
}
