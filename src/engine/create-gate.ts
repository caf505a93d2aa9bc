import type { RunFact, StopReason } from '../contract/event.ts';
import type { CreateGate, Departure } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import { orderId, type StepOrder } from '../plan/plan.ts';
import type { Account } from './account.ts';
import type { AccountGate } from './account-gate.ts';

/**
 * Gate for the create requests of a run, which sends a request only between `enter` and `leave`. Enforces the limits of
 * the account, and admits no new request after the run stopped spending.
 */
export class LocalGate implements CreateGate {
  readonly #account: AccountGate;
  readonly #money: Account;
  readonly #prefix: string;
  readonly #emit: (fact: RunFact) => void;
  readonly #inside = new Map<string, () => void>();
  readonly #stop = new AbortController();
  #stopped: StopReason | undefined;
  readonly #heldPrices = new Set<string>();

  constructor(account: AccountGate, money: Account, { run, emit }: { run: string; emit(fact: RunFact): void }) {
    this.#emit = emit;
    this.#prefix = `${run} `;
    this.#account = account;
    this.#money = money;
    account.listeners.add(emit);
  }

  close(): void {
    this.#account.listeners.delete(this.#emit);
  }

  get stopped(): StopReason | undefined {
    return this.#stopped;
  }

  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Reports, once for each closed price class, that its create requests need a new approval. */
  reportHeld(priceClass: string): void {
    if (this.#heldPrices.has(priceClass)) return;
    this.#heldPrices.add(priceClass);
    this.#emit({ event: 'spending-stopped', because: 'price', detail: priceClass });
  }

  get hasHeldPrices(): boolean {
    return this.#heldPrices.size > 0;
  }

  async enter(order: StepOrder, options: { signal: AbortSignal; isAsked: boolean }): Promise<'in' | 'stop'> {
    const { signal, isAsked } = options;
    const account = this.#account;
    const name = this.#nameOf(order);
    for (;;) {
      if ((await this.#comeToTurn(name, options)) === 'stop') return 'stop';
      this.#inside.set(name, await account.enter(order.kind));
      const isClosed = !isAsked && this.#money.isClosed(order.price.class);
      if (isClosed) this.reportHeld(order.price.class);
      if (signal.aborted || isClosed) {
        this.leave(order, { is: 'undecided' });
        return 'stop';
      }
      // While the request waited at the gate, the run may have stopped spending.
      if (isAsked || !this.#isHeldBack(name)) {
        account.turns.rate.left();
        account.balance.left(name, { isAsked });
        return 'in';
      }
      this.#goOut(name);
    }
  }

  leave(order: StepOrder, departure: Departure): 'again' | 'over' {
    const name = this.#nameOf(order);
    const { creditWait, turns, balance } = this.#account;
    balance.returned(name, { isAnswered: departure.is === 'accepted' });
    this.#goOut(name);
    switch (departure.is) {
      case 'accepted':
        creditWait.accepted(name);
        return 'over';
      case 'returning':
        return 'again';
      case 'throttled':
        turns.rate.complain(departure.afterMs, 0);
        return 'again';
      case 'out-of-credits':
        if (this.#stopped === undefined && creditWait.refused(name, departure.error) === 'waiting') return 'again';
        this.stop('balance', departure.error);
        return 'over';
      case 'undecided':
        creditWait.undecided(name);
        return 'over';
      default:
        return departure satisfies never;
    }
  }

  fallOfBalance(order: StepOrder, after: number | null): number | undefined {
    return this.#account.balance.answered(this.#nameOf(order), after);
  }

  stop(because: StopReason, detail: string, until?: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = because;
    // Wakes all waiting create requests: those of this run end, and those of other runs wait again.
    this.#account.creditWait.wake();
    this.#stop.abort();
    this.#emit({ event: 'spending-stopped', because, detail, ...defined({ until }) });
  }

  async #comeToTurn(
    name: string,
    { signal, isAsked }: { signal: AbortSignal; isAsked: boolean },
  ): Promise<'go' | 'stop'> {
    const { creditWait, turns } = this.#account;
    const isStopped = () => this.#stopped !== undefined;
    const isOff = () => !isAsked && (isStopped() || (!signal.aborted && creditWait.holdsBack(name)));
    for (;;) {
      if (!isAsked) {
        await creditWait.admit(name, signal, isStopped);
        if (isStopped()) return 'stop';
      }
      if ((await turns.next(signal, isOff)) === 'came') return 'go';
    }
  }

  #isHeldBack(name: string): boolean {
    const { creditWait, turns } = this.#account;
    return this.#stopped !== undefined || creditWait.holdsBack(name) || turns.rate.isPaused;
  }

  #goOut(name: string): void {
    this.#inside.get(name)?.();
    this.#inside.delete(name);
  }

  #nameOf(order: StepOrder): string {
    return this.#prefix + orderId(order);
  }
}
