import type { ListedJob, ListWalk } from '../contract/answer.ts';
import { type Clock, elapsedOf } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { LookUp, LostCreates, LostSend, Service } from '../contract/ports.ts';
import { kinds } from '../kinds/index.ts';
import type { StepRecord } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';
import type { StepOrder } from '../plan/plan.ts';
import { decideLookUp, type LostCreate } from '../run/look-up.ts';

export interface LookUpTimes {
  /** Time after a request was sent in which its job may still appear in the list. */
  graceMs: number;
  /** Time between the two walks through the list. */
  gapMs: number;
  /** How long a fence serves further creates: a newer one makes the walk shorter, but no fence is ever too old. */
  fenceMs: number;
}

/**
 * Times for a search. The embedded sandbox answers, and lists, at once. Anything else may have a request on its way for
 * as long as it may take: an address of this machine may be a tunnel. `createTimeoutMs` is read when a grace is asked
 * for: it may grow.
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
  /** Time of the send, in even time. */
  sentAt: number;
  answer(found: LookUp): void;
  fail(error: unknown): void;
}

/** State of one kind's search in this run. */
interface Room {
  waiting: Waiting[];
  searching: boolean;
  /** Jobs found in this run: assigned from the moment of the verdict, whenever it is recorded. */
  found: Map<string, LostCreate['request']>;
  fence: { readAt: number; id: Promise<string | undefined> } | undefined;
}

/** Keeps creates of a kind from leaving. */
interface KindDoors {
  /** Resolves when none of this kind is in flight; none leaves until the returned function is called. */
  close(kind: string): Promise<() => void>;
}

/**
 * Recovers creates whose answers were lost, for the kinds whose jobs can be listed. While a list is read, no create of
 * its kind is in flight, so whatever it shows is either on record or one of the lost ones.
 */
export class ListLookUp implements LostCreates {
  readonly #records: () => Iterable<StepRecord>;
  readonly #service: Pick<Service, 'newestJob' | 'walkJobs'>;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #times: LookUpTimes;
  readonly #hold: boolean;
  readonly #gate: KindDoors;
  readonly #notBefore: () => number;
  readonly #rooms = new Map<string, Room>();

  constructor(options: {
    /** Records of all runs of the account that are known here. */
    records(): Iterable<StepRecord>;
    service: Pick<Service, 'newestJob' | 'walkJobs'>;
    clock: Clock;
    signal: AbortSignal;
    times: LookUpTimes;
    /** Whether lost creates are left to a person. */
    hold: boolean;
    gate: KindDoors;
    /**
     * Until when, in ms since 1970, a create of somebody who held the account before may still arrive: nothing is concluded
     * from a list earlier. Default: there was nobody.
     */
    notBefore?: () => number;
  }) {
    this.#gate = options.gate;
    this.#hold = options.hold;
    this.#records = options.records;
    this.#notBefore = options.notBefore ?? (() => 0);
    this.#service = options.service;
    this.#clock = options.clock;
    this.#signal = options.signal;
    this.#times = options.times;
  }

  fence(kind: string): Promise<string | undefined> {
    const room = this.#room(kind);
    const now = this.#clock.now();
    if (room.fence === undefined || Math.abs(now - room.fence.readAt) >= this.#times.fenceMs) {
      const fence = { readAt: now, id: this.#readFence(kind) };
      room.fence = fence;
      fence.id.catch(() => {
        if (room.fence === fence) room.fence = undefined;
      });
    }
    return room.fence.id;
  }

  /** Newest job of the list. Without this fence the create is sent all the same: a lost answer then needs a person. */
  async #readFence(kind: string): Promise<string | undefined> {
    try {
      return await this.#service.newestJob(kind);
    } catch (error) {
      if (error instanceof ServiceError && error.why !== 'unreachable') return undefined;
      throw error;
    }
  }

  lookUp(order: StepOrder, { id, sentAt, fence, resent }: LostSend): Promise<LookUp> {
    if (this.#hold) return Promise.resolve({ do: 'held' });
    const room = this.#room(order.kind);
    return new Promise((answer, fail) => {
      const lost = { id, request: order.paidRequest, fence, resent };
      // Sends that a step still wants come first: of equal requests they get the job that was made.
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
      const quietMs = this.#notBefore() - this.#clock.now();
      if (quietMs > 0) await this.#clock.sleep(quietMs, this.#signal);
      // Creates go on while the service adds the first one to its list.
      await this.#waitFor(Math.min(...room.waiting.map(({ sentAt }) => sentAt)));
      open = await this.#gate.close(kind);
      await this.#waitFor(Math.max(...room.waiting.map(({ sentAt }) => sentAt)));
      asked = room.waiting.splice(0);
      const found = await this.#decide(kind, asked);
      for (const { lost, answer } of asked) {
        answer(found.get(lost.id) ?? { do: 'hold', error: 'the list says nothing about it', candidates: [] });
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
      if (this.#signal.aborted) return all({ do: 'stop' });
      const first = await this.#walk(kind, fences);
      await this.#clock.sleep(this.#times.gapMs, this.#signal);
      if (this.#signal.aborted) return all({ do: 'stop' });
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
      return all(this.#signal.aborted ? { do: 'stop' } : { do: 'unread', error: error.message });
    }
  }

  /** Walks through the list. An interrupted walk starts over: half of a list proves nothing. */
  async #walk(kind: string, fences: readonly string[]): Promise<ListWalk<ListedJob>> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#service.walkJobs(kind, fences);
      } catch (error) {
        const mayPass = error instanceof ServiceError && error.why === 'unreachable';
        if (!mayPass || tries >= mostWalks || this.#signal.aborted) throw error;
        const asked = error.retryAfterMs ?? 1000 * 2 ** tries;
        await this.#clock.sleep(Math.min(30_000, Math.max(1000, asked)), this.#signal);
      }
    }
  }

  /** Creates of earlier runs, of steps not asked for now: records in the list may be theirs too. */
  #otherOpenCreates(kind: string, asked: readonly Waiting[]): LostCreate[] {
    const ids = new Set(asked.map(({ lost }) => lost.id));
    const open = new Map<string, LostCreate>();
    for (const record of this.#records()) {
      for (const purchase of record.purchases) {
        if ((purchase.kind ?? record.kind) !== kind || !isOpenSend(purchase)) continue;
        const { send: id, request, resent } = purchase;
        if (!ids.has(id) && request !== undefined) open.set(id, { id, request, resent: resent === true });
      }
    }
    return [...open.values()];
  }

  /** Jobs of this kind on record or found in this run; services may number those of each kind separately. */
  #known(kind: string): Map<string, LostCreate['request'] | undefined> {
    const known = new Map<string, LostCreate['request'] | undefined>(this.#room(kind).found);
    for (const record of this.#records()) {
      for (const { jobId, request, kind: own = record.kind } of record.purchases) {
        if (jobId !== undefined && own === kind && known.get(jobId) === undefined) known.set(jobId, request);
      }
    }
    return known;
  }

  /** A time of now in even time: setting the clock changes no wait. */
  #evenly(time: number): number {
    return elapsedOf(this.#clock) - (this.#clock.now() - time);
  }

  /** Waits until its job must be in the list, if it was made. `sentAt`: in even time. */
  async #waitFor(sentAt: number): Promise<void> {
    const { graceMs } = this.#times;
    const leftMs = Math.min(graceMs, sentAt + graceMs - elapsedOf(this.#clock));
    if (leftMs > 0) await this.#clock.sleep(leftMs, this.#signal);
  }

  #room(kind: string): Room {
    const known = this.#rooms.get(kind);
    if (known !== undefined) return known;
    const room: Room = { waiting: [], searching: false, found: new Map(), fence: undefined };
    this.#rooms.set(kind, room);
    return room;
  }
}
