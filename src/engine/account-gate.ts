import { type Clock, steadyClock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import { AdaptiveRate } from '../ground/adaptive-rate.ts';
import { Condition } from '../ground/condition.ts';
import { Places } from '../ground/places.ts';

/**
 * Infers the charge of a create request from the balance before and after it. The difference is the charge only if no
 * other create request of the account is in flight, in this process or in another program.
 */
class BalanceWatch {
  #balance: number | undefined;
  readonly #onWire = new Set<string>();
  #isShared = false;
  #alone: { name: string; before: number } | undefined;

  /**
   * `isAsked`: the request only recovers the answer to an earlier create request, which may have been charged long ago.
   */
  left(name: string, { isAsked }: { isAsked: boolean }): void {
    this.#isShared = this.#onWire.size > 0;
    this.#onWire.add(name);
    const before = this.#balance;
    this.#alone = this.#isShared || isAsked || before === undefined ? undefined : { name, before };
  }

  /** Records the balance after a create request. Returns how much the balance fell, or `undefined` if unknown. */
  answered(name: string, balance: number | null): number | undefined {
    const fall = this.#alone?.name === name && balance !== null ? this.#alone.before - balance : undefined;
    this.#alone = undefined;
    // The next create request may be sent before the answer to this one is recorded.
    this.#onWire.delete(name);
    // If several create requests were in flight at once, the lowest balance in their answers is the newest.
    const lowest = this.#isShared ? (this.#balance ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    this.#balance = balance === null ? undefined : Math.min(balance, lowest);
    return fall;
  }

  /** `isAnswered`: the recorded balance includes the charge. */
  returned(name: string, { isAnswered }: { isAnswered: boolean }): void {
    if (!this.#onWire.delete(name) || isAnswered) return;
    this.#alone = undefined;
    this.#balance = undefined;
  }
}

interface Door {
  inside: number;
  isClosed: boolean;
  readonly changed: Condition;
}

/**
 * Gate for the create requests of all runs of an account. Limits their rate and their number in flight, and waits for
 * credits. While a run reads the service's list of a kind's jobs, admits no create request of the kind.
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

  /**
   * Waits until no create request of this kind is in flight. No create request of the kind is sent until the caller
   * calls the returned function.
   */
  async close(kind: string): Promise<() => void> {
    const door = this.#doorOf(kind);
    door.isClosed = true;
    while (door.inside > 0) await door.changed.changed();
    return () => {
      door.isClosed = false;
      door.changed.notify();
    };
  }

  /**
   * Waits until a create request of this kind may be sent. The caller must call the returned function when the request
   * has ended.
   */
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

const leastCreates = 0.05;

/**
 * Adaptive rate limiter. Only the first waiting request has a timer, so that the timer wakes one request, not hundreds.
 */
class CreateTurns {
  readonly rate: AdaptiveRate;
  readonly #clock: Clock;
  readonly #front = new Places(1);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.rate = new AdaptiveRate(clock, { least: leastCreates });
  }

  /** Resolves with `came` when the caller may send its request, or with `off` if `isOff` returns true after a wait. */
  next(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    const isFree = this.#front.taken + this.#front.waiting === 0 && this.rate.nextAt <= this.#clock.now();
    return isFree ? this.#wait(signal, isOff) : this.#front.use(() => this.#wait(signal, isOff));
  }

  async #wait(signal: AbortSignal, isOff: () => boolean): Promise<'came' | 'off'> {
    for (;;) {
      if (isOff()) return 'off';
      const waitMs = this.rate.nextAt - this.#clock.now();
      if (waitMs > 0 && !signal.aborted) {
        await this.#clock.sleep(waitMs, signal);
        continue;
      }
      this.rate.reserve();
      return 'came';
    }
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
 * Holds back create requests while the account has no credits and a user may add some. At growing intervals, the run
 * sends one create request; when the service accepts it, the run sends the others.
 */
class CreditWait {
  readonly #options: { waitMs: number; clock: Clock; emit(fact: RunFact): void };
  #pause: Pause | undefined;
  #changes = new AbortController();

  constructor(given: { waitMs: number; clock: Clock; emit(fact: RunFact): void }) {
    this.#options = given;
  }

  /** Records that the account had no credits for a create request. Returns `over` if the run waits no longer. */
  refused(address: string, detail: string): 'waiting' | 'over' {
    if (this.#options.waitMs <= 0) return 'over';
    const now = this.#options.clock.now();
    const pause = this.#pause;
    if (pause === undefined) {
      this.#schedule({ sinceMs: now, untilMs: now + this.#options.waitMs, intervalMs: firstIntervalMs, detail });
      return 'waiting';
    }
    // Requests in flight when the pause began are refused, too. Only a refused test request extends the pause.
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
   * Resolves when this create request may be sent, the run waits no longer for credits, the signal is aborted, or
   * `isOff`, called at every change, returns true.
   */
  async admit(address: string, signal: AbortSignal, isOff: () => boolean): Promise<void> {
    for (;;) {
      const pause = this.#pause;
      if (pause === undefined || signal.aborted || isOff() || pause.tried === address) return;
      const leftMs = pause.tried === undefined ? pause.nextTryMs - this.#options.clock.now() : this.#options.waitMs;
      if (leftMs <= 0) {
        pause.tried = address;
        return;
      }
      await this.#options.clock.sleep(leftMs, AbortSignal.any([signal, this.#changes.signal]));
    }
  }

  holdsBack(address: string): boolean {
    return this.#pause !== undefined && this.#pause.tried !== address;
  }

  accepted(address: string): void {
    const pause = this.#pause;
    if (pause === undefined || pause.tried !== address) return;
    this.#end();
    this.#options.emit({ event: 'spending-resumed', waitedMs: this.#options.clock.now() - pause.sinceMs });
  }

  /**
   * Call this if the create request that tested whether the account has credits failed for another reason. The next
   * request may then be sent as a test.
   */
  undecided(address: string): void {
    if (this.#pause?.tried !== address) return;
    delete this.#pause.tried;
    this.wake();
  }

  #end(): void {
    this.#pause = undefined;
    this.wake();
  }

  #schedule(pause: Omit<Pause, 'nextTryMs' | 'tried'>): void {
    const { untilMs, intervalMs, detail } = pause;
    const waitMs = Math.min(longestIntervalMs, Math.round(intervalMs * (1 + this.#options.clock.random() / 4)));
    const nextTryMs = Math.min(untilMs, this.#options.clock.now() + waitMs);
    this.#pause = { ...pause, nextTryMs };
    const timeOf = (ms: number) => new Date(ms).toISOString();
    this.#options.emit({ event: 'credits-awaited', until: timeOf(untilMs), nextTryAt: timeOf(nextTryMs), detail });
    this.wake();
  }

  /** Makes all waiting create requests check again whether they may be sent. */
  wake(): void {
    const news = this.#changes;
    this.#changes = new AbortController();
    news.abort();
  }
}

/**
 * Job slots of an account, shared by several plans. There are as many slots as the highest `concurrency` of these
 * plans. Each plan waits for one slot at a time, so that no plan takes all free slots.
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

  /** Calls `begin` when a slot is free. The slot is free again when the promise of `begin` resolves. */
  wait(begin: () => Promise<void>): void {
    void this.#places.use(begin);
  }
}
