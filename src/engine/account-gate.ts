import type { Clock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import { steadyClock } from '../contract/steady-clock.ts';
import { BalanceWatch } from './balance-watch.ts';
import { CreateTurns } from './create-turns.ts';
import { CreditWait } from './credit-wait.ts';

/** One kind's creates. */
interface KindTraffic {
  inside: number;
  /** Creates wait for this while the kind's list is being read. */
  closed: Promise<void> | undefined;
  /** Called when the last create inside has left. */
  quiet: (() => void) | undefined;
}

/** Gate that all creates of an account share, of whatever run: its rate, its credits, its lists, the wire. */
export class AccountGate {
  readonly turns: CreateTurns;
  readonly creditWait: CreditWait;
  readonly balance = new BalanceWatch();
  /** Listeners that hear what concerns every run. */
  readonly listeners = new Set<(fact: RunFact) => void>();
  readonly #kinds = new Map<string, KindTraffic>();
  #free: number;
  readonly #waiting: (() => void)[] = [];

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
      for (const hear of this.listeners) hear(fact);
    };
    this.creditWait = new CreditWait({ clock, emit, waitMs: creditWaitMs });
    this.#free = places;
  }

  /** Resolves when no create of this kind is in flight; none leaves until the returned function is called. */
  async close(kind: string): Promise<() => void> {
    const traffic = this.#traffic(kind);
    let open = () => {};
    traffic.closed = new Promise((resolve) => {
      open = () => {
        traffic.closed = undefined;
        traffic.quiet = undefined;
        resolve();
      };
    });
    if (traffic.inside > 0) {
      await new Promise<void>((resolve) => {
        traffic.quiet = resolve;
      });
    }
    return open;
  }

  async enterKind(kind: string): Promise<void> {
    const traffic = this.#traffic(kind);
    while (traffic.closed !== undefined) await traffic.closed;
    traffic.inside += 1;
  }

  leaveKind(kind: string): void {
    const traffic = this.#traffic(kind);
    traffic.inside -= 1;
    if (traffic.inside === 0) traffic.quiet?.();
  }

  async takePlace(): Promise<void> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
  }

  givePlace(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  #traffic(kind: string): KindTraffic {
    const known = this.#kinds.get(kind);
    if (known !== undefined) return known;
    const traffic: KindTraffic = { inside: 0, closed: undefined, quiet: undefined };
    this.#kinds.set(kind, traffic);
    return traffic;
  }
}
