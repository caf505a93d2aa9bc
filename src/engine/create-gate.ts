import type { Clock } from '../contract/clock.ts';
import type { RunFact, StopReason } from '../contract/event.ts';
import type { CreateGate, Departure } from '../contract/ports.ts';
import { orderName, type StepOrder } from '../plan/plan.ts';
import { CreateTurns } from './create-turns.ts';
import { CreditWait } from './credit-wait.ts';

/** One kind's creates of this run. */
interface KindTraffic {
  inside: number;
  /** Creates wait for this while the kind's list is being read. */
  closed: Promise<void> | undefined;
  /** Called when the last create inside has left. */
  quiet: (() => void) | undefined;
}

/**
 * The only way for a create to leave: at the rate that the service bears, within the limit of requests in flight, not
 * while the account is empty, not while the list of its kind is being read, and not after spending was stopped.
 */
export class LocalGate implements CreateGate {
  readonly #turns: CreateTurns;
  readonly #creditWait: CreditWait;
  readonly #emit: (fact: RunFact) => void;
  readonly #kinds = new Map<string, KindTraffic>();
  readonly #inside = new Set<string>();
  readonly #stop = new AbortController();
  #stopped: StopReason | undefined;
  /** Price classes that were charged more than the plan says. */
  readonly #closedPrices = new Set<string>();
  readonly #heldPrices = new Set<string>();
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(options: {
    clock: Clock;
    /** Creates in flight at once: each may have a connection of its own. */
    places: number;
    /** How long to wait for an empty account, in ms. Default: not at all. */
    creditWaitMs?: number;
    emit(fact: RunFact): void;
  }) {
    const { clock, emit, places, creditWaitMs = 0 } = options;
    this.#turns = new CreateTurns(clock);
    this.#creditWait = new CreditWait({ clock, emit, waitMs: creditWaitMs });
    this.#emit = emit;
    this.#free = places;
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  /** Aborted when spending is stopped. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Nothing more of this price leaves: a plan that knows the charge has to be agreed to first. */
  closePrice(priceClass: string): void {
    this.#closedPrices.add(priceClass);
  }

  /** True when a create of this price must not leave. Told once for each price. */
  holdsPrice({ price }: StepOrder): boolean {
    if (!this.#closedPrices.has(price.class)) return false;
    if (!this.#heldPrices.has(price.class)) {
      this.#heldPrices.add(price.class);
      this.#emit({ event: 'spending-stopped', because: 'price', detail: price.class });
    }
    return true;
  }

  /** True when creates were held back by their price. */
  get hasHeldPrices(): boolean {
    return this.#heldPrices.size > 0;
  }

  async enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'> {
    const { signal, isAsked } = options;
    const name = orderName(order);
    for (;;) {
      if ((await this.#comeToTurn(name, options)) === 'stop') return 'stop';
      const traffic = await this.#enterKind(order.kind);
      await this.#takePlace();
      this.#inside.add(name);
      if (signal.aborted || (!isAsked && this.holdsPrice(order))) {
        this.leave(order, { is: 'undecided' });
        return 'stop';
      }
      // Permission given before the wait for a place may be gone by now.
      if (isAsked || !this.#isHeldBack(name)) {
        this.#turns.left();
        return 'in';
      }
      this.#inside.delete(name);
      this.#givePlace();
      leaveKind(traffic);
    }
  }

  leave(order: StepOrder, departure: Departure): 'again' | 'over' {
    const name = orderName(order);
    if (this.#inside.delete(name)) {
      this.#givePlace();
      leaveKind(this.#traffic(order.kind));
    }
    switch (departure.is) {
      case 'accepted':
        this.#creditWait.accepted(name);
        return 'over';
      case 'returning':
        return 'again';
      case 'throttled':
        this.#turns.penalize(departure.afterMs);
        return 'again';
      case 'out-of-credits':
        if (this.#stopped === undefined && this.#creditWait.refused(name, departure.error) === 'waiting')
          return 'again';
        this.stop('balance', departure.error);
        return 'over';
      case 'undecided':
        this.#creditWait.undecided(name);
        return 'over';
      default:
        return departure satisfies never;
    }
  }

  stop(because: StopReason, detail: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = because;
    this.#creditWait.cancel();
    this.#stop.abort();
    this.#emit({ event: 'spending-stopped', because, detail });
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

  async #comeToTurn(
    name: string,
    { signal, isAsked }: { signal: AbortSignal; isAsked: boolean },
  ): Promise<'go' | 'stop'> {
    const isOff = () =>
      !isAsked && (this.#stopped !== undefined || (!signal.aborted && this.#creditWait.holdsBack(name)));
    for (;;) {
      if (!isAsked) {
        await this.#creditWait.admit(name, signal);
        if (this.#stopped !== undefined) return 'stop';
      }
      if ((await this.#turns.next(signal, isOff)) === 'came') return 'go';
    }
  }

  #isHeldBack(name: string): boolean {
    return this.#stopped !== undefined || this.#creditWait.holdsBack(name) || this.#turns.isPaused;
  }

  async #enterKind(kind: string): Promise<KindTraffic> {
    const traffic = this.#traffic(kind);
    while (traffic.closed !== undefined) await traffic.closed;
    traffic.inside += 1;
    return traffic;
  }

  async #takePlace(): Promise<void> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free -= 1;
  }

  #givePlace(): void {
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

function leaveKind(traffic: KindTraffic): void {
  traffic.inside -= 1;
  if (traffic.inside === 0) traffic.quiet?.();
}
