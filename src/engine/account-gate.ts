import { type Clock, steadyClock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import { AdaptiveRate } from '../ground/adaptive-rate.ts';
import { Places } from '../ground/places.ts';
import { CreditWait } from './credit-wait.ts';

/**
 * Tells what a create was charged by the balance before it and after it, where nothing else of this account was on the
 * wire meanwhile, as far as it is known here. Others may use the account, too.
 */
export class BalanceWatch {
  /** After the newest answer; unknown once something may have been charged since. */
  #balance: number | undefined;
  readonly #onWire = new Set<string>();
  /** Whether any of those on the wire had company. */
  #isShared = false;
  /** The create that is on the wire alone, and the balance before it. */
  #alone: { name: string; before: number } | undefined;

  /** `isAsked`: it asks for the answer of an earlier create, which may have been charged long ago. */
  left(name: string, { isAsked }: { isAsked: boolean }): void {
    this.#isShared = this.#onWire.size > 0;
    this.#onWire.add(name);
    const before = this.#balance;
    this.#alone = this.#isShared || isAsked || before === undefined ? undefined : { name, before };
  }

  /** Takes the balance after a create that is on the wire. Returns by how much it fell; `undefined`: nobody knows. */
  answered(name: string, balance: number | null): number | undefined {
    const fall = this.#alone?.name === name && balance !== null ? this.#alone.before - balance : undefined;
    this.#alone = undefined;
    // The next one may leave before this one is recorded.
    this.#onWire.delete(name);
    // Of answers to creates side by side the lowest is the newest.
    const lowest = this.#isShared ? (this.#balance ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    this.#balance = balance === null ? undefined : Math.min(balance, lowest);
    return fall;
  }

  /** `isAnswered`: what it was charged is in the balance. */
  returned(name: string, { isAnswered }: { isAnswered: boolean }): void {
    if (!this.#onWire.delete(name) || isAnswered) return;
    this.#alone = undefined;
    this.#balance = undefined;
  }
}

/** Gate that all creates of an account share, of whatever run: its rate, its credits, its lists, the wire. */
export class AccountGate {
  readonly turns: CreateTurns;
  readonly creditWait: CreditWait;
  readonly balance = new BalanceWatch();
  readonly listeners = new Set<(fact: RunFact) => void>();
  readonly #kinds = new Map<string, Places>();
  readonly #wire: Places;

  constructor(options: {
    clock: Clock;
    /** Creates in flight at once: each may have a connection of its own. */
    places: number;
    /** How long to wait for an empty account, in ms. Default: not at all. */
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

  /** Resolves when no create of this kind is in flight; none leaves until the returned function is called. */
  close(kind: string): Promise<() => void> {
    return this.#ofKind(kind).close();
  }

  /** Resolves when a create of this kind may go on the wire, with what is to be called when it is back. */
  async enter(kind: string): Promise<() => void> {
    const leaveKind = await this.#ofKind(kind).take();
    const leaveWire = await this.#wire.take();
    return () => {
      leaveWire();
      leaveKind();
    };
  }

  #ofKind(kind: string): Places {
    const known = this.#kinds.get(kind) ?? new Places();
    this.#kinds.set(kind, known);
    return known;
  }
}

/** Creates per second: some services allow only a few per minute. */
const leastCreates = 0.05;

/** Adaptive rate limiter for creates. Only one waits at a time: hundreds would all wake up for each turn. */
class CreateTurns {
  readonly #clock: Clock;
  readonly #rate: AdaptiveRate;
  readonly #front = new Places(1);

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#rate = new AdaptiveRate(clock, { least: leastCreates });
  }

  /** Resolves at the caller's turn, or when it need not wait any more: `isOff` is checked again after each wait. */
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

  /** True while a pause that the service asked for lasts. */
  get isPaused(): boolean {
    return this.#rate.isPaused;
  }

  left(): void {
    this.#rate.left();
  }

  /** A 429. */
  penalize(ms: number): void {
    this.#rate.complain(ms, 0);
  }
}
