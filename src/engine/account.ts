import { Condition } from '../ground/condition.ts';
import { addressOf } from '../plan/plan.ts';
import type { Cap } from '../plan/prices/caps.ts';
import { type Price, PriceBook } from '../plan/prices/price-book.ts';
import { worstFactor } from '../plan/prices/price-sources.ts';
import { guessText } from '../plan/prices/prices.ts';
import type { Approval } from './approval.ts';

/** Result of an attempt to reserve credits. */
export type Reservation =
  | { is: 'reserved'; credits: number | null }
  /** Wait until `changed()` resolves, then retry: a charge that is not known yet decides, or a price that is found out. */
  | { is: 'later' }
  | { is: 'over-budget' }
  /** It would pass what was agreed to. */
  | { is: 'over-plan' };

/** A reservation; `null`: of unknown price. */
interface Held {
  price: Price;
  credits: number | null;
  /** Expected cost: what counts against the approved plan. */
  expected: number;
  /** True when it was charged, and the service did not say how much. */
  isUnreported?: true;
}

/** The class of what no answer can charge: nothing else waits for it, and it for nothing. */
export const uncharged = 'upload';

/**
 * The account of one run's credits. Invariant: spent + held never exceeds a cap, for any interleaving, while no charge
 * is more than `worstFactor` times what was reserved for it – except by what one step is charged that nobody can price:
 * that is why it goes alone. What a charge beyond that factor costs is bounded by the ramp: creates whose charge is not
 * known yet are few until charges have met their reservations.
 */
export class Account {
  spentNow = 0;
  readonly caps: readonly Cap[];
  readonly prices: PriceBook;
  readonly approval: Approval | undefined;
  readonly #spentBefore: number;
  /** Steps whose answer is to come. */
  readonly #flying = new Map<string, Held>();
  /** Steps that may have been charged, and this run will not find out for how much. */
  readonly #doubtful = new Map<string, Held>();
  readonly #lostBefore: readonly string[];
  readonly #heldUnpriced: number;
  /** Steps of unknown price that wait for a price probe. */
  readonly #waitingCanaries = new Set<string>();
  /** Charges in a row that met their reservations, by price class. */
  readonly #met = new Map<string, number>();
  readonly #changes = new Condition();

  constructor(options: {
    caps: readonly Cap[];
    /** Credits that earlier runs were charged. */
    spentBefore: number;
    /** Price classes of creates whose answers earlier runs lost, and whose prices this run finds out. */
    lostBefore?: readonly string[] | undefined;
    /** Credits reserved for a possible charge without a price. Default: the whole budget. */
    heldUnpriced?: number | undefined;
    prices?: PriceBook;
    approval?: Approval;
  }) {
    const { caps, lostBefore = [] } = options;
    this.caps = caps;
    this.prices = options.prices ?? new PriceBook();
    this.#spentBefore = options.spentBefore;
    this.#heldUnpriced = options.heldUnpriced ?? Number.POSITIVE_INFINITY;
    this.#lostBefore = caps.some(({ name }) => name === 'budget') ? lostBefore : [];
    this.approval = options.approval;
    // Every comparison with NaN is false: such a cap would hold nothing back.
    if (caps.some(({ left }) => Number.isNaN(left))) throw new Error('internal error: a cap that is not a number');
  }

  get spentEver(): number {
    return this.#spentBefore + this.spentNow;
  }

  /** Credits that the caps leave beside what was charged. */
  get unspent(): number {
    return Math.min(...this.caps.map(({ left }) => left)) - this.spentNow;
  }

  /** Credits that a step of known price may still reserve, beside all that may have been charged. */
  get left(): number {
    if (!this.#isCapped) return Number.POSITIVE_INFINITY;
    const isUnknown = this.#lostBefore.some((name) => this.prices.charged(name) === 0);
    return isUnknown ? 0 : this.#leftBesideGuesses - this.#guessed;
  }

  /** The same, where what nobody prices is about to be found out. */
  get #leftBesideGuesses(): number {
    // What earlier runs lost counts over all runs.
    const caps = this.caps.map(({ name, left }) => (name === 'budget' ? left - this.#heldBefore : left));
    return Math.min(...caps) - this.spentNow - this.#heldNow;
  }

  /** Credits of all reservations whose amount is known by now, or was named or guessed. */
  get held(): number {
    const guessed = this.#guessed;
    return this.#heldNow + this.#heldBefore + (Number.isFinite(guessed) ? guessed : 0);
  }

  /** Credits held for what earlier runs lost, as far as its price is known by now. */
  get #heldBefore(): number {
    return this.#lostBefore.reduce((sum, name) => sum + this.prices.charged(name), 0);
  }

  get #heldNow(): number {
    const doubtful = sum(this.#doubtful, (one) => (this.#isGuessed(one) ? 0 : this.#amountOf(one)));
    return sum(this.#flying, ({ credits }) => credits ?? 0) + doubtful;
  }

  /** Credits held for possible charges that nothing prices. */
  get #guessed(): number {
    return sum(this.#doubtful, (one) => (this.#isGuessed(one) ? this.#amountOf(one) : 0));
  }

  /** `isSent`: it has left, and is asked about together with equal ones: one list tells them apart. */
  reserve(address: string, price: Price, { isSent = false } = {}): Reservation {
    const own = this.#flying.get(address);
    if (own !== undefined) return { is: 'reserved', credits: own.credits };
    this.#setAside(address);
    const spent = this.#spentOfPlan + sum(this.#flying, ({ expected }) => expected);
    const isOverPlan = this.approval?.covers(address, price, spent) === false && !isSent;
    const credits = this.prices.known(price);
    if (credits !== null) this.waitNoLonger(address);
    const judge = () => (credits === null ? this.#judgeCanary(price) : this.#judge({ ...price, credits }, isSent));
    const is = isOverPlan ? 'over-plan' : judge();
    if (credits === null && is === 'later') this.#waitingCanaries.add(address);
    else this.waitNoLonger(address);
    if (is !== 'reserved') return { is };
    if (price.class === uncharged) return { is, credits };
    this.#flying.set(address, { price, credits, expected: this.prices.expected(price) });
    return { is, credits };
  }

  /** A possible charge of an earlier job of the step stays held, whatever becomes of the next one. */
  #setAside(address: string): void {
    const before = this.#doubtful.get(address);
    if (before === undefined) return;
    this.#doubtful.delete(address);
    this.#doubtful.set(`${address}\u0000before ${this.#doubtful.size}`, before);
  }

  /**
   * Records a charge, or the proof that there was none (0). `null`: the service did not say, so the reservation counts
   * – and if the price was not known either, the step may have cost anything. `proves`: the price of its class holds
   * from now on; a refusal proves nothing.
   */
  settle(address: string, charged: number | null, proves = charged !== 0): void {
    const own = this.#heldFor(address);
    this.approval?.ended(address);
    if (own?.credits === null && charged === null) {
      this.#doubt(address, { ...own, isUnreported: true });
      return;
    }
    this.#drop(address);
    const credits = charged ?? own?.credits ?? 0;
    this.spentNow += credits;
    if (own !== undefined) {
      const { price, credits: reserved } = own;
      if (charged !== null && charged > 0) {
        const before = this.prices.charged(price.class);
        this.prices.learn(price.class, charged);
        this.approval?.charge(address, price, { charged, before, spent: this.#spentOfPlan });
      }
      // Without a budget, nothing waits for a price that may never be reported.
      const isBorneOut = proves || (charged === null && !this.#isCapped);
      if (charged !== null && reserved !== null && charged > reserved) this.#met.delete(price.class);
      else if (isBorneOut && reserved !== null)
        this.#met.set(price.class, Math.min(mostMet, this.#metBy(price.class) + 1));
    }
    this.#changes.notify();
  }

  /** Credits of the approved plan that were charged, or may have been. */
  get #spentOfPlan(): number {
    return this.spentNow + sum(this.#doubtful, ({ expected }) => expected);
  }

  /** Credits held for a step; `null` when unknown. */
  reserved(address: string): number | null {
    return this.#heldFor(address)?.credits ?? null;
  }

  release(address: string): void {
    this.#drop(address);
    this.#changes.notify();
  }

  /** Keeps a step's credits held: nobody knows its charge, unless the next of its price tells. Nobody waits for it. */
  doubt(address: string): void {
    const own = this.#heldFor(address);
    if (own !== undefined) this.#doubt(address, own);
  }

  #doubt(address: string, held: Held): void {
    this.#drop(address);
    this.approval?.ended(address);
    this.#doubtful.set(address, { ...held, expected: this.prices.expected(held.price) });
    // The next price probe begins first: others would reserve the whole budget.
    setImmediate(() => this.#changes.notify());
  }

  /** Ends the wait of a step. When the last of them stops waiting, steps that wait for its result check again. */
  waitNoLonger(address: string): void {
    if (this.#waitingCanaries.delete(address) && this.#waitingCanaries.size === 0) this.#changes.notify();
  }

  /** Makes every waiting step check again. */
  nudge(): void {
    this.#changes.notify();
  }

  /** Resolves at the next change of the account. */
  changed(): Promise<void> {
    return this.#changes.changed();
  }

  /**
   * Judges a step of known price: it goes when it fits, and what is on its way leaves room for a price that has risen:
   * without a cap as the ramp has it, because what was agreed to is a cap, too.
   */
  #judge(price: Price & { credits: number }, isSent: boolean): Reservation['is'] {
    if (price.class === uncharged) return 'reserved';
    if (this.#isCapped && !this.#fits(price))
      return price.credits > 0 && this.#isPriceAwaited ? 'later' : 'over-budget';
    if (this.#flying.size === 0 || isSent) return 'reserved';
    if (!this.#admits(price.class)) return 'later';
    if (!this.#isCapped) return 'reserved';
    const isTurn = price.credits === 0 || !this.#hasCanary;
    return isTurn && this.#canPayWorst(price) ? 'reserved' : 'later';
  }

  /**
   * Whether one more of this class may be on its way: 1, 2, 4, … with each charge that meets its reservation, and 1 again
   * after one that does not. Prices may have risen since they were charged, and a lock that came with a branch may name
   * any. Of classes that no charge has borne out, one goes at a time.
   */
  #admits(name: string): boolean {
    const flying = [...this.#flying.values()].map(({ price }) => price.class);
    const met = this.#metBy(name);
    if (met === 0) return flying.every((other) => this.#metBy(other) > 0); // I14 (trial)
    return flying.filter((other) => other === name).length < 2 ** met; // I14 (ramp)
  }

  #metBy(name: string): number {
    return this.#met.get(name) ?? 0;
  }

  #fits({ credits, source }: Price & { credits: number }): boolean {
    if (credits > 0) return credits <= this.left; // I14 (cap)
    return source === 'documented' || this.#leftBesideGuesses >= 0; // I14 (free)
  }

  /** Whether the cap bears it when all charges that are not known yet turn out `worstFactor` times as high. */
  #canPayWorst({ credits }: { credits: number }): boolean {
    if (credits === 0) return true;
    const unknown = sum([...this.#flying, ...this.#doubtful], (one) => one.credits ?? 0);
    return worstFactor * (unknown + credits) <= this.left + unknown; // I14 (worst)
  }

  /**
   * Judges a step of unknown price, which finds it out: one at a time, and under a cap with nothing else in flight,
   * because it may cost everything that is left. What is said of its price only holds it back.
   */
  #judgeCanary({ likely = 1 }: Price): Reservation['is'] {
    if (!this.#isCapped) return this.#hasCanary ? 'later' : 'reserved';
    if (this.#flying.size > 0) return 'later'; // I14 (price)
    const unpriced = this.#unpriced();
    const isUnreported = [...this.#doubtful.values()].some((one) => one.isUnreported === true && this.#isGuessed(one));
    // A lost one has cost something, if it was charged at all, and this one tells. Where it would not, guesses count.
    const isTelling = !isUnreported && new Set(unpriced).size === unpriced.length;
    const left = isTelling ? this.#leftBesideGuesses - unpriced.length : this.left;
    return Math.max(1, likely) <= left ? 'reserved' : 'over-budget'; // I14 (listed)
  }

  /** Why a step is over the budget: what it costs, what is left, and what is held for nobody knows how much. */
  describeShortage(address: string, price: Price): string {
    const known = this.prices.known(price);
    const cost = known ?? (price.likely === undefined ? undefined : `≈ ${price.likely}`);
    const says = cost === undefined ? `${address} has no known price` : `${address} costs ${cost}`;
    const left = Math.max(0, this.left);
    const guesses = [...this.#doubtful].flatMap(([id, one]) =>
      this.#isGuessed(one) ? [{ address: addressOf(id), class: one.price.class }] : [],
    );
    const isKnown = guesses.length > 0 && Number.isFinite(this.#heldUnpriced);
    return `${says}, ${left} ${left === 1 ? 'is' : 'are'} left${isKnown ? `; ${guessText(guesses, this.#heldUnpriced)}` : ''}`;
  }

  #heldFor(address: string): Held | undefined {
    return this.#flying.get(address) ?? this.#doubtful.get(address);
  }

  #drop(address: string): void {
    this.#doubtful.delete(address);
    this.#flying.delete(address);
  }

  /** Credits held for a possible charge. */
  #amountOf({ credits, price }: Held): number {
    return credits ?? (this.prices.charged(price.class) || price.held) ?? this.#heldUnpriced;
  }

  /** Whether neither a charge nor anything said prices it. */
  #isGuessed({ credits, price }: Held): boolean {
    return credits === null && price.held === undefined && this.prices.charged(price.class) === 0;
  }

  /** Price classes, with repetitions, of possible charges that nothing prices. */
  #unpriced(): string[] {
    const held = [...this.#doubtful.values()].filter((one) => this.#isGuessed(one)).map(({ price }) => price.class);
    return [...held, ...this.#lostBefore.filter((name) => this.prices.charged(name) === 0)];
  }

  get #isCapped(): boolean {
    return this.caps.length > 0;
  }

  /** Whether a step of unknown price is in flight. */
  get #hasCanary(): boolean {
    return [...this.#flying.values()].some(({ credits }) => credits === null);
  }

  /** Whether a step of unknown price is in flight, or goes next. */
  get #isPriceAwaited(): boolean {
    return this.#waitingCanaries.size > 0 || this.#hasCanary;
  }
}

/** Number of charges beyond which one more makes no difference. */
const mostMet = 20;

function sum(held: Iterable<[string, Held]>, creditsOf: (one: Held) => number): number {
  let total = 0;
  for (const [, one] of held) total += creditsOf(one);
  return total;
}
