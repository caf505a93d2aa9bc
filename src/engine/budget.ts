import type { Price as RowPrice } from '../plan/plan.ts';

/** What counts of a price here: estimates reserve nothing. */
type Price = Pick<RowPrice, 'class' | 'credits'> & Partial<Pick<RowPrice, 'source'>>;

/** Result of an attempt to reserve credits. */
export type Reservation =
  | { is: 'reserved'; credits: number | null }
  /** Wait until `changed()` resolves, then retry: another step is finding out a price, or holds the remainder. */
  | { is: 'later' }
  | { is: 'over-budget' };

/** A reservation. `doubtful`: it may have been charged, and this run will not find out. */
interface Held {
  price: Price;
  credits: number | null;
  /** `lost`: its answer was lost. `silent`: the service made it, and does not say at what price. */
  doubtful?: 'lost' | 'silent';
}

/**
 * The account of one run's credits. Invariant: spent + held never exceeds the cap, for any interleaving – except by the
 * amount that one step is charged beyond what was left: of unknown price, which is why such a step always goes alone, or
 * the first of a price that turns out to be wrong. When a canary's
 * answer is lost, the next one of unknown price also goes alone, and its charge prices the lost one; until then no
 * step of known price goes, and a second one lost at the same price ends spending.
 */
export class Budget {
  spentNow = 0;
  spentEver: number;
  readonly #caps: { total?: number | undefined; run?: number | undefined };
  readonly #held = new Map<string, Held>();
  readonly #lostBefore: readonly string[];
  /** Steps of unknown price that were told to wait. */
  readonly #waitingCanaries = new Set<string>();
  readonly #prices = new Map<string, number>();
  /** Price classes that were charged in this run; no call of an upload can charge anything. */
  readonly #proven = new Set(['upload']);
  #waiting: (() => void)[] = [];

  /** `lostBefore`: price classes of creates whose answers earlier runs lost, and whose prices are unknown. */
  constructor(options: {
    spentEver: number;
    heldBefore: number;
    lostBefore?: readonly string[] | undefined;
    total?: number | undefined;
    run?: number | undefined;
    /** What others were charged in this run before, by price class. */
    learned?: ReadonlyMap<string, number> | undefined;
  }) {
    for (const [name, credits] of options.learned ?? []) this.#prices.set(name, credits);
    this.#lostBefore = options.lostBefore ?? [];
    this.spentEver = options.spentEver;
    const total = options.total === undefined ? undefined : options.total - options.heldBefore;
    // Every comparison with NaN is false: such a cap would hold nothing back.
    if (Number.isNaN(total) || Number.isNaN(options.run)) throw new Error('internal error: a budget that is no number');
    this.#caps = { total, run: options.run };
  }

  /** Credits that a step of known price may still reserve. */
  get left(): number {
    return this.#isCapped && this.#unpriced().length > 0 ? 0 : this.#leftAsKnown;
  }

  get #leftAsKnown(): number {
    const { total, run } = this.#caps;
    const ever = total === undefined ? Number.POSITIVE_INFINITY : total - this.spentEver - this.#heldBefore;
    const now = run === undefined ? Number.POSITIVE_INFINITY : run - this.spentNow;
    return Math.min(ever, now) - this.#heldNow;
  }

  /** Credits of all reservations whose amount is known by now. */
  get held(): number {
    return this.#heldNow + this.#heldBefore;
  }

  get #heldNow(): number {
    let sum = 0;
    for (const { credits, price, doubtful } of this.#held.values()) {
      sum += credits ?? (doubtful === undefined ? 0 : (this.#prices.get(price.class) ?? 0));
    }
    return sum;
  }

  /** Credits held for creates that earlier runs lost, at prices known by now. */
  get #heldBefore(): number {
    return this.#lostBefore.reduce((sum, name) => sum + (this.#prices.get(name) ?? 0), 0);
  }

  reserve(address: string, price: Price): Reservation {
    const own = this.#held.get(address);
    if (own !== undefined) return { is: 'reserved', credits: own.credits };
    const credits = this.#knownPrice(price);
    if (credits === null) return this.#reserveCanary(address, price);
    this.#waitNoLonger(address);
    if (credits === 0) {
      const isTrial = this.#isCapped && !this.#proven.has(price.class); // I14 (free)
      if (isTrial && price.source !== 'documented' && this.#leftAsKnown < 0) return { is: 'over-budget' };
      if (isTrial && this.#triesFree()) return { is: 'later' };
      this.#held.set(address, { price, credits });
      return { is: 'reserved', credits };
    }
    // I14 (cap)
    if (credits > this.left) return this.#isPriceAwaited() && this.#isCapped ? { is: 'later' } : { is: 'over-budget' };
    if (this.#isCapped && this.#hasCanary()) return { is: 'later' };
    if (this.#isCapped && !this.#proven.has(price.class) && this.#isOnTrial()) return { is: 'later' }; // I14 (trial)
    this.#held.set(address, { price, credits });
    return { is: 'reserved', credits };
  }

  /**
   * Records a charge, or the proof that there was none (0). `null`: the service did not say, so the reservation counts
   * – and if the price was not known either, the step may have cost anything. `proves`: the price of its class holds
   * from now on; a refusal proves nothing.
   */
  settle(address: string, charged: number | null, proves = charged !== 0): void {
    const own = this.#held.get(address);
    if (own !== undefined && own.credits === null && charged === null) {
      this.#doubt(address, 'silent');
      return;
    }
    this.#held.delete(address);
    // A service that does not say what it charges never will.
    if (own !== undefined && proves) this.#proven.add(own.price.class);
    const credits = charged ?? own?.credits ?? 0;
    this.spentNow += credits;
    this.spentEver += credits;
    if (own !== undefined && charged !== null && charged > 0) {
      this.#prices.set(own.price.class, Math.max(charged, this.#prices.get(own.price.class) ?? 0));
    }
    this.#wake();
  }

  /** Credits held for a step; `null` when unknown. */
  reserved(address: string): number | null {
    return this.#held.get(address)?.credits ?? null;
  }

  release(address: string): void {
    this.#held.delete(address);
    this.#wake();
  }

  /** This run will not learn whether it was charged: it stays held, and nobody waits for it. */
  doubt(address: string): void {
    this.#doubt(address, 'lost');
  }

  #doubt(address: string, doubtful: 'lost' | 'silent'): void {
    const own = this.#held.get(address);
    if (own !== undefined) this.#held.set(address, { ...own, doubtful });
    this.#wake();
  }

  /** Makes every waiting step check again. */
  nudge(): void {
    this.#wake();
  }

  /** Resolves at the next change of the account. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /**
   * Sends the first step of an unknown price alone: one per price, and under a cap with nothing else in flight, because
   * it may cost everything that is left.
   */
  #reserveCanary(address: string, price: Price): Reservation {
    for (const { price: held, credits, doubtful } of this.#held.values()) {
      if (doubtful !== undefined) continue;
      // I14 (price)
      if (this.#isCapped || (credits === null && held.class === price.class)) return this.#waitForPrice(address);
    }
    this.#waitNoLonger(address);
    if (this.#isCapped && !this.#mayFindPrice()) return { is: 'over-budget' };
    this.#held.set(address, { price, credits: null });
    return { is: 'reserved', credits: null };
  }

  #waitForPrice(address: string): Reservation {
    this.#waitingCanaries.add(address);
    return { is: 'later' };
  }

  /** When the last of them stops waiting, steps that wait for its result check again. */
  #waitNoLonger(address: string): void {
    if (this.#waitingCanaries.delete(address) && this.#waitingCanaries.size === 0) this.#wake();
  }

  #knownPrice(price: Price): number | null {
    const learned = this.#prices.get(price.class);
    if (learned === undefined) return price.credits;
    return Math.max(learned, price.credits ?? 0);
  }

  /** Price classes, with repetitions, of possible charges at unknown prices. */
  #unpriced(): string[] {
    const held = [...this.#held.values()].filter(({ credits, doubtful }) => doubtful !== undefined && credits === null);
    const before = this.#caps.total === undefined ? [] : this.#lostBefore;
    return [...held.map(({ price }) => price.class), ...before].filter((name) => !this.#prices.has(name));
  }

  /** True when one more step of unknown price may go. Each lost one has cost something, if it was charged at all. */
  #mayFindPrice(): boolean {
    const unpriced = this.#unpriced();
    const isSilent = [...this.#held.values()].some(
      ({ doubtful, price, credits }) => doubtful === 'silent' && credits === null && !this.#prices.has(price.class),
    );
    return !isSilent && new Set(unpriced).size === unpriced.length && this.#leftAsKnown - unpriced.length >= 1;
  }

  get #isCapped(): boolean {
    return this.#caps.total !== undefined || this.#caps.run !== undefined;
  }

  /**
   * A step is on its way whose price no charge of this run has shown to hold. Prices may have risen since they were
   * charged, and a lock that came with a branch may name any: under a cap one such step goes at a time.
   */
  #isOnTrial(): boolean {
    return [...this.#held.values()].some(
      ({ price, credits, doubtful }) => credits !== 0 && doubtful === undefined && !this.#proven.has(price.class),
    );
  }

  /** A step is on its way that is said to be free, by a manifest or by a charge before this run. */
  #triesFree(): boolean {
    return [...this.#held.values()].some(
      ({ price, credits, doubtful }) => credits === 0 && doubtful === undefined && !this.#proven.has(price.class),
    );
  }

  #hasCanary(): boolean {
    return [...this.#held.values()].some(({ credits, doubtful }) => credits === null && doubtful === undefined);
  }

  /** A step of unknown price is in flight, or goes next. */
  #isPriceAwaited(): boolean {
    return this.#hasCanary() || this.#waitingCanaries.size > 0;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
