import { type Clock, steadyClock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import { AdaptiveRate } from '../ground/adaptive-rate.ts';
import { Condition } from '../ground/condition.ts';
import { Places } from '../ground/places.ts';

/**
 * Infers the charge of a create request from the account balance before and after it, if this process had no other
 * create request of the account in flight meanwhile. Other programs may use the account, too.
 */
export class BalanceWatch {
  /** Balance after the newest answer; `undefined` once another charge may have happened since. */
  #balance: number | undefined;
  readonly #onWire = new Set<string>();
  /** Whether any of the create requests now in flight overlapped another one. */
  #isShared = false;
  #alone: { name: string; before: number } | undefined;

  /**
   * Records that a create request is sent. `isAsked`: it only requests the answer of an earlier create request, which
   * may have been charged long ago.
   */
  left(name: string, { isAsked }: { isAsked: boolean }): void {
    this.#isShared = this.#onWire.size > 0;
    this.#onWire.add(name);
    const before = this.#balance;
    this.#alone = this.#isShared || isAsked || before === undefined ? undefined : { name, before };
  }

  /** Records the balance in the answer to a create request. Returns by how much it fell; `undefined` if unknown. */
  answered(name: string, balance: number | null): number | undefined {
    const fall = this.#alone?.name === name && balance !== null ? this.#alone.before - balance : undefined;
    this.#alone = undefined;
    // The next request may leave before this answer is recorded.
    this.#onWire.delete(name);
    // When several requests were in flight at once, the lowest balance is the newest.
    const lowest = this.#isShared ? (this.#balance ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    this.#balance = balance === null ? undefined : Math.min(balance, lowest);
    return fall;
  }

  /** Records that a create request has ended. `isAnswered`: the recorded balance already includes its charge. */
  returned(name: string, { isAnswered }: { isAnswered: boolean }): void {
    if (!this.#onWire.delete(name) || isAnswered) return;
    this.#alone = undefined;
    this.#balance = undefined;
  }
}

/** Create requests of one kind, which are kept out while the list of their kind is read. */
interface Door {
  inside: number;
  isClosed: boolean;
  readonly changed: Condition;
}

/**
 * Gate that all create requests of an account pass, from all its runs: limits the rate, waits for credits, keeps
 * creates out while a list is read, and limits requests in flight.
 */
export class AccountGate {
  readonly turns: CreateTurns;
  readonly creditWait: CreditWait;
  readonly balance = new BalanceWatch();
  readonly listeners = new Set<(fact: RunFact) => void>();
  readonly slots = new SharedSlots();
  readonly #doors = new Map<string, Door>();
  readonly #wire: Places;

  constructor(options: {
    clock: Clock;
    places: number;
    creditWaitMs?: number;
  }) {
    const { places, creditWaitMs = 0 } = options;
    const clock = steadyClock(options.clock);
    this.turns = new CreateTurns(clock);
    const emit = (fact: RunFact) => {
      for (const listener of this.listeners) listener(fact);
    };
    this.creditWait = new CreditWait({ clock, emit, waitMs: creditWaitMs });
    this.#wire = new Places(places);
  }

  get onWire(): number {
    return this.#wire.taken;
  }

  /** Resolves when no create request of this kind is in flight; none is sent until the returned function is called. */
  async close(kind: string): Promise<() => void> {
    const door = this.#doorOf(kind);
    door.isClosed = true;
    while (door.inside > 0) await door.changed.changed();
    return () => {
      door.isClosed = false;
      door.changed.notify();
    };
  }

  /** Resolves when a create request of this kind may be sent, with a function to call when it has ended. */
  async enter(kind: string): Promise<() => void> {
    const door = this.#doorOf(kind);
    while (door.isClosed) await door.changed.changed();
    door.inside += 1;
    const free = await this.#wire.take();
    return () => {
      free();
      door.inside -= 1;
      if (door.inside === 0) door.changed.notify();
    };
  }

  #doorOf(kind: string): Door {
    const known = this.#doors.get(kind) ?? { inside: 0, isClosed: false, changed: new Condition() };
    this.#doors.set(kind, known);
    return known;
  }
}

/** Lowest rate of create requests per second: some services allow only a few per minute. */
const leastCreates = 0.05;

/**
 * Adaptive rate limiter for create requests. Only the first in the queue waits for its turn: otherwise hundreds would
 * all wake up for each turn.
 */
class CreateTurns {
  readonly #clock: Clock;
  readonly #rate: AdaptiveRate;
  readonly #front = new Places(1);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new AdaptiveRate(clock, { least: leastCreates });
  }

  /**
   * Resolves with `came` at the caller's turn, with `off` when it no longer needs one: `isOff` is checked again after
   * each wait.
   */
  next(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    const isFree = this.#front.taken + this.#front.waiting === 0 && this.#rate.nextAt <= this.#clock.now();
    return isFree ? this.#wait(signal, isOff) : this.#front.use(() => this.#wait(signal, isOff));
  }

  async #wait(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    for (;;) {
      if (isOff()) return 'off';
      const waitMs = this.#rate.nextAt - this.#clock.now();
      if (waitMs > 0 && !signal.aborted) {
        await this.#clock.sleep(waitMs, signal);
        continue;
      }
      this.#rate.reserve();
      return 'came';
    }
  }

  get isPaused(): boolean {
    return this.#rate.isPaused;
  }

  left(): void {
    this.#rate.left();
  }

  penalize(ms: number): void {
    this.#rate.complain(ms, 0);
  }
}

const firstIntervalMs = 30_000;
const longestIntervalMs = 5 * 60_000;

interface Pause {
  sinceMs: number;
  untilMs: number;
  nextTryMs: number;
  intervalMs: number;
  detail: string;
  tried?: string;
}

/**
 * Holds back create requests while the account is empty and a user may be adding credits. One request at a time is
 * tried, at growing intervals; the first accepted one releases all others. Reads no balance and sends nothing itself.
 */
class CreditWait {
  readonly #given: { waitMs: number; clock: Clock; emit(fact: RunFact): void };
  #pause: Pause | undefined;
  #news = new AbortController();

  constructor(given: { waitMs: number; clock: Clock; emit(fact: RunFact): void }) {
    this.#given = given;
  }

  /** Records that a create request was refused for lack of credits. `over`: the wait is disabled, or has ended. */
  refused(address: string, detail: string): 'waiting' | 'over' {
    if (this.#given.waitMs <= 0) return 'over';
    const now = this.#given.clock.now();
    const pause = this.#pause;
    if (pause === undefined) {
      this.#schedule({ sinceMs: now, untilMs: now + this.#given.waitMs, intervalMs: firstIntervalMs, detail });
      return 'waiting';
    }
    // Refusals of requests that were in flight when the pause began give no new information.
    if (pause.tried !== address) return 'waiting';
    if (now >= pause.untilMs) {
      this.#end();
      return 'over';
    }
    const { sinceMs, untilMs, intervalMs } = pause;
    this.#schedule({ sinceMs, untilMs, intervalMs: Math.min(longestIntervalMs, 2 * intervalMs), detail });
    return 'waiting';
  }

  /**
   * Resolves when this step's create request may be sent, when the wait is over, when the signal is aborted, or when
   * `isOff` returns true; `isOff` is called again at every change.
   */
  async admit(address: string, signal: AbortSignal, isOff: () => boolean): Promise<void> {
    for (;;) {
      const pause = this.#pause;
      if (pause === undefined || signal.aborted || isOff() || pause.tried === address) return;
      const leftMs = pause.tried === undefined ? pause.nextTryMs - this.#given.clock.now() : this.#given.waitMs;
      if (leftMs <= 0) {
        pause.tried = address;
        return;
      }
      await this.#given.clock.sleep(leftMs, AbortSignal.any([signal, this.#news.signal]));
    }
  }

  holdsBack(address: string): boolean {
    return this.#pause !== undefined && this.#pause.tried !== address;
  }

  accepted(address: string): void {
    const pause = this.#pause;
    if (pause === undefined || pause.tried !== address) return;
    this.#end();
    this.#given.emit({ event: 'spending-resumed', waitedMs: this.#given.clock.now() - pause.sinceMs });
  }

  /** Records that the tried create request failed for another reason, so the next one may be tried. */
  undecided(address: string): void {
    if (this.#pause?.tried !== address) return;
    delete this.#pause.tried;
    this.#wake();
  }

  #end(): void {
    this.#pause = undefined;
    this.#wake();
  }

  #schedule(pause: Omit<Pause, 'nextTryMs' | 'tried'>): void {
    const { untilMs, intervalMs, detail } = pause;
    const waitMs = Math.min(longestIntervalMs, Math.round(intervalMs * (1 + this.#given.clock.random() / 4)));
    const nextTryMs = Math.min(untilMs, this.#given.clock.now() + waitMs);
    this.#pause = { ...pause, nextTryMs };
    const timeOf = (ms: number) => new Date(ms).toISOString();
    this.#given.emit({ event: 'credits-awaited', until: timeOf(untilMs), nextTryAt: timeOf(nextTryMs), detail });
    this.#wake();
  }

  nudge(): void {
    this.#wake();
  }

  #wake(): void {
    const news = this.#news;
    this.#news = new AbortController();
    news.abort();
  }
}

/**
 * Job slots of an account, shared by several plans: their number is the highest `concurrency` of these plans. Each plan
 * waits for one slot at a time, in order of request, so no plan waits until another has ended.
 */
export class SharedSlots {
  readonly #places = new Places(1);
  readonly #members = new Map<symbol, number>();

  join(concurrency: number): () => void {
    const member = Symbol();
    this.#members.set(member, concurrency);
    this.#resize();
    return () => {
      this.#members.delete(member);
      this.#resize();
    };
  }

  get taken(): number {
    return this.#places.taken;
  }

  #resize(): void {
    this.#places.resize(Math.max(1, ...this.#members.values()));
  }

  /** Calls `begin` when a slot is free, perhaps at once. The slot is occupied until the promise of `begin` resolves. */
  wait(begin: () => Promise<void>): void {
    void this.#places.use(begin);
  }
}
