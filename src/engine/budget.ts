import type { Price } from '../plan/plan.ts';

/** What became of a wish to spend. */
export type Reservation =
  | { is: 'reserved'; credits: number | null }
  /** Wait until `changed()` resolves, then ask again: another step is finding out a price, or holds what is left. */
  | { is: 'later' }
  | { is: 'over-budget' };

/**
 * The account of one run's credits. Invariant: spent + held never exceeds the cap, for any interleaving – except by what
 * a step of unknown price is charged above all that was left, which is why such a step always goes alone.
 */
export class Budget {
  spentNow = 0;
  spentEver: number;
  readonly #caps: { total?: number; run?: number };
  /** `doubtful`: it may have been charged, and this run will not find out. */
  readonly #held = new Map<string, { price: Price; credits: number | null; doubtful?: true }>();
  readonly #prices = new Map<string, number>();
  #waiting: (() => void)[] = [];

  constructor(options: { spentEver: number; heldBefore: number; total?: number; run?: number }) {
    this.spentEver = options.spentEver;
    this.#caps = {
      ...(options.total !== undefined && { total: options.total - options.heldBefore }),
      ...(options.run !== undefined && { run: options.run }),
    };
  }

  /** What may still be reserved. */
  get left(): number {
    const { total, run } = this.#caps;
    if (this.#isCapped && this.#mayHaveCostAnything()) return 0;
    const ever = total === undefined ? Number.POSITIVE_INFINITY : total - this.spentEver;
    const now = run === undefined ? Number.POSITIVE_INFINITY : run - this.spentNow;
    return Math.min(ever, now) - this.held;
  }

  /** Credits of all reservations whose amount is known by now. */
  get held(): number {
    let sum = 0;
    for (const { credits, price, doubtful } of this.#held.values()) {
      sum += credits ?? (doubtful ? (this.#prices.get(price.class) ?? 0) : 0);
    }
    return sum;
  }

  reserve(address: string, price: Price): Reservation {
    const own = this.#held.get(address);
    if (own !== undefined) return { is: 'reserved', credits: own.credits };
    const credits = this.#knownPrice(price);
    if (credits === null) return this.#reserveCanary(address, price);
    if (credits === 0) {
      this.#held.set(address, { price, credits });
      return { is: 'reserved', credits };
    }
    if (credits > this.left) return this.#hasCanary() && this.#isCapped ? { is: 'later' } : { is: 'over-budget' };
    if (this.#isCapped && this.#hasCanary()) return { is: 'later' };
    this.#held.set(address, { price, credits });
    return { is: 'reserved', credits };
  }

  /**
   * A charge, or the proof that there was none (0). `null`: the service did not say, so the reservation counts – and where
   * the price was not known either, the step may have cost anything.
   */
  settle(address: string, charged: number | null): void {
    const own = this.#held.get(address);
    if (own !== undefined && own.credits === null && charged === null) {
      this.doubt(address);
      return;
    }
    this.#held.delete(address);
    const credits = charged ?? own?.credits ?? 0;
    this.spentNow += credits;
    this.spentEver += credits;
    if (own !== undefined && charged !== null && charged > 0) {
      this.#prices.set(own.price.class, Math.max(charged, this.#prices.get(own.price.class) ?? 0));
    }
    this.#wake();
  }

  /** What is held for a step; `null` when that is not known. */
  reserved(address: string): number | null {
    return this.#held.get(address)?.credits ?? null;
  }

  release(address: string): void {
    this.#held.delete(address);
    this.#wake();
  }

  /** Nobody will know in this run whether it was charged: it stays held, and nobody waits for it. */
  doubt(address: string): void {
    const own = this.#held.get(address);
    if (own !== undefined) this.#held.set(address, { ...own, doubtful: true });
    this.#wake();
  }

  /** Everybody who waits looks again. */
  nudge(): void {
    this.#wake();
  }

  /** Resolves at the next change of the account. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * The first step of an unknown price goes alone: one per price, and under a cap with nothing else on its way, because
   * it may cost whatever is left.
   */
  #reserveCanary(address: string, price: Price): Reservation {
    for (const { price: held, credits, doubtful } of this.#held.values()) {
      if (doubtful) continue;
      if (this.#isCapped || (credits === null && held.class === price.class)) return { is: 'later' };
    }
    if (this.left < 1) return { is: 'over-budget' };
    this.#held.set(address, { price, credits: null });
    return { is: 'reserved', credits: null };
  }

  #knownPrice(price: Price): number | null {
    const learned = this.#prices.get(price.class);
    if (learned === undefined) return price.credits;
    return Math.max(learned, price.credits ?? 0);
  }

  /** A purchase of a price that nobody knows, and nobody will say in this run whether it was charged. */
  #mayHaveCostAnything(): boolean {
    for (const { credits, price, doubtful } of this.#held.values()) {
      if (doubtful && credits === null && !this.#prices.has(price.class)) return true;
    }
    return false;
  }

  get #isCapped(): boolean {
    return this.#caps.total !== undefined || this.#caps.run !== undefined;
  }

  #hasCanary(): boolean {
    for (const { credits, doubtful } of this.#held.values()) if (credits === null && !doubtful) return true;
    return false;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
