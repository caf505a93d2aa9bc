import type { ListedJob, ListWalk, LookUpVerdict } from '../contract/answer.ts';
import { type Clock, elapsedOf } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { LookUp, LostCreates, LostSend, Service } from '../contract/ports.ts';
import type { OpenRequest } from '../graph/graph.ts';
import { canonicalJson } from '../ground/json.ts';
import { groupBy } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import type { StepRecord } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import type { StepOrder } from '../plan/plan.ts';
import { compareListed, isOpenField, isSameField, type ListedRecord } from '../plan/purchases/match-listed.ts';
import type { AccountGate } from './account-gate.ts';

export interface LookUpTimes {
  /** Time in ms after a create request in which the service's list may still lack its job. */
  graceMs: number;
  /** Time in ms between the two readings of the service's list. */
  gapMs: number;
  /**
   * Time in ms in which a fence is reused. A fence is the newest job in the service's list before a create request.
   * With an older fence, a search reads more of the list and has the same result.
   */
  fenceMs: number;
}

/**
 * Returns the timing of a search for the job of an unanswered create request. The embedded sandbox lists a job as soon
 * as it exists. Any other service may receive a request until its timeout. A loopback address counts as any other
 * service, because it may be a tunnel. `graceMs` reads `createTimeoutMs` at each access, because the timeout may grow.
 */
export function lookUpTimes(isSandbox: boolean, limits: { readonly createTimeoutMs: number }): LookUpTimes {
  return {
    get graceMs() {
      return isSandbox ? 2000 : Math.max(60_000, limits.createTimeoutMs);
    },
    gapMs: isSandbox ? 500 : 10_000,
    fenceMs: 30_000,
  };
}

const mostWalks = 4;

interface Waiting {
  lost: LostCreate & { fence: string };
  /** Time on the monotonic clock at which the create request was sent. */
  sentAt: number;
  answer(found: LookUp): void;
  fail(error: unknown): void;
}

interface Room {
  waiting: Waiting[];
  searching: boolean;
  /** Jobs that this run found in the service's list, including those that the lock does not contain yet. */
  found: Map<string, LostCreate['request']>;
  fence: { readAt: number; id: Promise<string | undefined> } | undefined;
}

interface LookUpOptions {
  records(): Iterable<StepRecord>;
  service: Pick<Service, 'newestJob' | 'walkJobs'>;
  clock: Clock;
  signal: AbortSignal;
  times: LookUpTimes;
  gate: Pick<AccountGate, 'close'>;
  /**
   * Time in ms since 1970 until which a create request of an earlier leader may still reach the service. The search
   * begins after this time. Defaults to 0.
   */
  notBefore?: () => number;
}

/**
 * Recovers create requests with lost answers, for kinds that have a list of jobs. While a search reads the list of a
 * kind, no create request of the kind is in flight. Each listed job is therefore in the lock, or belongs to a lost
 * request.
 */
export class ListLookUp implements LostCreates {
  readonly #options: LookUpOptions;
  readonly #rooms = new Map<string, Room>();

  constructor(given: LookUpOptions) {
    this.#options = given;
  }

  fence(kind: string): Promise<string | undefined> {
    const room = this.#room(kind);
    const now = this.#options.clock.now();
    if (room.fence === undefined || Math.abs(now - room.fence.readAt) >= this.#options.times.fenceMs) {
      const fence = { readAt: now, id: this.#readFence(kind) };
      room.fence = fence;
      fence.id.catch(() => {
        if (room.fence === fence) room.fence = undefined;
      });
    }
    return room.fence.id;
  }

  /**
   * Returns `undefined` if the list cannot be used. If the answer to a create request without a fence is lost, a user
   * must decide.
   */
  async #readFence(kind: string): Promise<string | undefined> {
    try {
      return await this.#options.service.newestJob(kind);
    } catch (error) {
      if (error instanceof ServiceError && error.why !== 'unreachable') return undefined;
      throw error;
    }
  }

  lookUp(order: StepOrder, { id, sentAt, fence, resent }: LostSend): Promise<LookUp> {
    const room = this.#room(order.kind);
    return new Promise((answer, fail) => {
      const lost = { id, request: order.paidRequest, fence, resent };
      // Requests that a step still needs come first, so that they get the jobs before identical other requests.
      const waiting = { lost, sentAt: this.#evenly(sentAt), answer, fail };
      if (order.asksOnly) room.waiting.push(waiting);
      else room.waiting.unshift(waiting);
      if (!room.searching) void this.#searchAll(order.kind, room);
    });
  }

  async #searchAll(kind: string, room: Room): Promise<void> {
    room.searching = true;
    while (room.waiting.length > 0) await this.#search(kind, room);
    room.searching = false;
  }

  async #search(kind: string, room: Room): Promise<void> {
    let open = () => {};
    let asked: Waiting[] = [];
    try {
      const quietMs = (this.#options.notBefore?.() ?? 0) - this.#options.clock.now();
      if (quietMs > 0) await this.#options.clock.sleep(quietMs, this.#options.signal);
      // While the service adds the job of the first lost request to its list, the run may still send create requests.
      await this.#waitFor(Math.min(...room.waiting.map(({ sentAt }) => sentAt)));
      open = await this.#options.gate.close(kind);
      await this.#waitFor(Math.max(...room.waiting.map(({ sentAt }) => sentAt)));
      asked = room.waiting.splice(0);
      const found = await this.#decide(kind, asked);
      for (const { lost, answer } of asked) {
        answer(found.get(lost.id) ?? { do: 'hold', error: 'the list does not show the job', candidates: [] });
      }
    } catch (error) {
      for (const { fail } of [...asked, ...room.waiting.splice(0)]) fail(error);
    } finally {
      open();
    }
  }

  async #decide(kind: string, asked: readonly Waiting[]): Promise<Map<string, LookUp>> {
    const all = (found: LookUp) => new Map(asked.map(({ lost }) => [lost.id, found]));
    const fences = [...new Set(asked.map(({ lost }) => lost.fence))];
    const fields = Object.keys(kinds[kind]?.list?.echoes ?? {});
    try {
      if (this.#options.signal.aborted) return all({ do: 'stop' });
      const first = await this.#walk(kind, fences);
      await this.#options.clock.sleep(this.#options.times.gapMs, this.#options.signal);
      if (this.#options.signal.aborted) return all({ do: 'stop' });
      const second = await this.#walk(kind, fences);
      const lost = [...asked.map((one) => one.lost), ...this.#otherOpenCreates(kind, asked)];
      const verdicts = decideLookUp<ListedJob>(lost, [first, second], { fields, known: this.#known(kind) });
      for (const { lost: one } of asked) {
        const verdict = verdicts.get(one.id);
        if (verdict?.do === 'adopt') this.#room(kind).found.set(verdict.job.jobId, one.request);
      }
      return verdicts;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return all(this.#options.signal.aborted ? { do: 'stop' } : { do: 'unread', error: error.message });
    }
  }

  /** Reads the list. After an error, reads it again from the start, because a part of the list proves nothing. */
  async #walk(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#options.service.walkJobs(kind, fences);
      } catch (error) {
        const mayPass = error instanceof ServiceError && error.why === 'unreachable';
        if (!mayPass || tries >= mostWalks || this.#options.signal.aborted) throw error;
        const asked = error.retryAfterMs ?? 1000 * 2 ** tries;
        await this.#options.clock.sleep(Math.min(30_000, Math.max(1000, asked)), this.#options.signal);
      }
    }
  }

  /** Returns the other open create requests of this kind, because a listed job may belong to one of them. */
  #otherOpenCreates(kind: string, asked: readonly Waiting[]): LostCreate[] {
    const ids = new Set(asked.map(({ lost }) => lost.id));
    const open = new Map<string, LostCreate>();
    for (const record of this.#options.records()) {
      for (const purchase of record.purchases) {
        if ((purchase.kind ?? record.kind) !== kind || !isOpenSend(purchase)) continue;
        const { send: id, request, resent } = purchase;
        if (!ids.has(id) && request !== undefined) open.set(id, { id, request, resent: resent === true });
      }
    }
    return [...open.values()];
  }

  /**
   * Returns the jobs of one kind that are in the lock or were found by this run. A service may number the jobs of each
   * kind separately.
   */
  #known(kind: string): Map<string, LostCreate['request'] | undefined> {
    const known = new Map<string, LostCreate['request'] | undefined>(this.#room(kind).found);
    for (const record of this.#options.records()) {
      for (const { jobId, request, kind: own = record.kind } of record.purchases) {
        if (jobId !== undefined && own === kind && known.get(jobId) === undefined) known.set(jobId, request);
      }
    }
    return known;
  }

  /** Converts a time of the system clock, which a user may set, to the monotonic clock. */
  #evenly(time: number): number {
    return elapsedOf(this.#options.clock) - (this.#options.clock.now() - time);
  }

  /** Waits until the list must contain the job of a request. `sentAt`: time of the request on the monotonic clock. */
  async #waitFor(sentAt: number): Promise<void> {
    const { graceMs } = this.#options.times;
    const leftMs = Math.min(graceMs, sentAt + graceMs - elapsedOf(this.#options.clock));
    if (leftMs > 0) await this.#options.clock.sleep(leftMs, this.#options.signal);
  }

  #room(kind: string): Room {
    const known = this.#rooms.get(kind);
    if (known !== undefined) return known;
    const room: Room = { waiting: [], searching: false, found: new Map(), fence: undefined };
    this.#rooms.set(kind, room);
    return room;
  }
}

/** A create request without an answer that may have reached the service. */
interface LostCreate {
  id: string;
  request: OpenRequest;
  /** Newest job in the list before the request. Omitted if this search is not for the job of this request. */
  fence?: string;
  /** True if the request was sent again because an earlier search found no job. */
  resent: boolean;
}

/**
 * Decides the outcome of the lost create requests of one kind of job from two readings of the job list. A listed job
 * that fits two different requests is assigned to neither of them; among identical requests (takes), any assignment is
 * correct. `lost`: all create requests of this kind without a recorded answer. `fields`: request fields that the list
 * also shows, most distinctive first. `known`: jobs in the lock. Returns what to do about each create request, by id.
 */
export function decideLookUp<Job extends ListedRecord>(
  lost: readonly LostCreate[],
  walks: readonly [ListWalk<Job>, ListWalk<Job>],
  { fields, known }: { fields: readonly string[]; known: ReadonlyMap<string, OpenRequest | undefined> },
): Map<string, LookUpVerdict<Job>> {
  const all = [...new Map(walks.flatMap(({ jobs }) => jobs.map((job) => [job.jobId, job] as const))).values()];
  const calibrated = findCalibrated([...all, ...walks.flatMap(({ older }) => older)], { fields, known });
  const [notifier] = fields;
  const groups = [...groupBy(lost, ({ request }) => canonicalJson(request)).values()].map((creates) => ({
    creates,
    ...findLike(creates, unrelatedJobs(creates, walks, known), fields, calibrated),
  }));
  const verdicts = new Map<string, LookUpVerdict<Job>>();
  for (const group of groups) {
    const { creates, exact, near } = group;
    const candidates = [...exact, ...near];
    const isShared = groups.some((other) => other !== group && other.exact.some((job) => exact.includes(job)));
    const doubt = !walks.every(({ complete }) => complete)
      ? 'the list could not be read back to the time before the request'
      : creates.some(({ fence }) => fence === '') && !showsAll(walks, known)
        ? 'the list does not show all recorded jobs'
        : notifier === undefined || !calibrated.has(notifier)
          ? 'the list shows no recorded job with the request as sent, so requests cannot be compared'
          : near.length > 0
            ? 'listed jobs match the request only in part'
            : exact.length > creates.length || isShared
              ? 'more listed jobs match than requests were sent'
              : undefined;
    for (const [index, { id, resent }] of creates.entries()) {
      const job = exact[index];
      if (doubt !== undefined) verdicts.set(id, { do: 'hold', error: doubt, candidates });
      else if (job !== undefined) verdicts.set(id, { do: 'adopt', job });
      else if (!resent) verdicts.set(id, { do: 'resend' });
      else
        verdicts.set(id, {
          do: 'hold',
          error: 'the request was sent twice, and the list shows no job for it',
          candidates,
        });
    }
  }
  return verdicts;
}

/** Returns the request fields that the list shows as sent for every known job, and for at least one job. */
function findCalibrated(
  jobs: readonly ListedRecord[],
  { fields, known }: { fields: readonly string[]; known: ReadonlyMap<string, OpenRequest | undefined> },
): Set<string> {
  const isSame = (field: string): boolean[] =>
    jobs.flatMap(({ jobId, echoes }) => {
      const wanted = known.get(jobId)?.[field];
      return wanted === undefined || isOpenField(wanted) ? [] : [isSameField(wanted, echoes[field])];
    });
  return new Set(
    fields.filter((field) => {
      const seen = isSame(field);
      return seen.length > 0 && seen.every(Boolean);
    }),
  );
}

function findLike<Job extends ListedRecord>(
  creates: readonly LostCreate[],
  jobs: readonly Job[],
  fields: readonly string[],
  calibrated: ReadonlySet<string>,
): { exact: Job[]; near: Job[] } {
  const like: { exact: Job[]; near: Job[] } = { exact: [], near: [] };
  const request = creates[0]?.request;
  const [notifier] = fields;
  if (request === undefined || notifier === undefined) return like;
  for (const job of jobs) {
    // A job whose distinguishing field cannot be compared may belong to any of the requests.
    const isOpen = [request[notifier], job.echoes[notifier]].some((value) => typeof value !== 'string');
    const is = isOpen ? 'near' : compareListed(request, job.echoes, fields, (field) => calibrated.has(field));
    if (is !== 'other') like[is].push(job);
  }
  return like;
}

/**
 * Returns the listed jobs that may belong to these create requests: they are not in the lock and newer than the oldest
 * fence.
 */
function unrelatedJobs<Job extends ListedRecord>(
  creates: readonly LostCreate[],
  walks: readonly ListWalk<Job>[],
  known: ReadonlyMap<string, unknown>,
): Job[] {
  const fences = [...new Set(creates.flatMap(({ fence }) => fence ?? []))];
  const found = walks.flatMap(({ jobs }) => {
    const places = fences.map((fence) => jobs.findIndex(({ jobId }) => jobId === fence));
    // A fence that the list does not contain is older than all jobs in the list.
    return places.length === 0 || places.includes(-1) ? jobs : jobs.slice(0, Math.max(...places));
  });
  const strangers = new Map(found.map((job) => [job.jobId, job]));
  return [...strangers.values()].filter(({ jobId }) => !known.has(jobId));
}

/**
 * Returns whether the list contains every known job. A list that was empty before the create request and lacks a known
 * job is incomplete.
 */
function showsAll(walks: readonly ListWalk<ListedRecord>[], known: ReadonlyMap<string, unknown>): boolean {
  const shown = new Set(walks.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)));
  return [...known.keys()].every((jobId) => shown.has(jobId));
}
