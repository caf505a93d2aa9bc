import { Condition } from '../ground/condition.ts';
import { isCharged } from '../plan/actions.ts';
import { addressOf, orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import type { Cap } from '../plan/prices/fund.ts';
import {
  type ClassPrice,
  ceilingOf,
  guessText,
  PriceBook,
  shareOf,
  shareOnceCharged,
  shownPrice,
  withMargin,
  worstFactor,
} from '../plan/prices/prices.ts';

type Reservation =
  | { is: 'reserved'; credits: number | null }
  /** A charge or a price must be known first: call `reserve` again after `changed()`. */
  | { is: 'later' }
  | { is: 'over-budget' }
  /** The approved total does not cover the price, or a charge has closed the price class. */
  | { is: 'over-plan' };

interface Held {
  price: ClassPrice;
  credits: number | null;
  expected: number;
  /** True if the service created the step's job but reported no charge. */
  isUnreported?: true;
}

/** Price class of uploads, which cost nothing. An upload waits for no price, and no step waits for its price. */
export const uncharged = 'upload';

/**
 * Credit account of one run. As long as no charge is more than `worstFactor` times its reservation, spent plus reserved
 * credits never exceed a cap (budget or limit). A step of unknown price can exceed a cap, so it runs alone. The ramp
 * limits the cost of higher charges: a price class has few create requests in flight until its charges match their
 * reservations.
 *
 * The approved total is a cap on expected costs (I39): a create request is not sent if its price plus all credits in
 * flight would exceed the total. A charge closes its price class if it is above the approved price, or if the remaining
 * purchases of the class would exceed the total. If a class had no estimate, its first charge sets the expected cost of
 * its other purchases. The other purchases then count as approved, with the usual margin, or the user must approve
 * them.
 */
export class Account {
  spentNow = 0;
  caps: readonly Cap[];
  readonly prices: PriceBook;
  readonly #asksAgain: boolean;
  /** Credits that the approved plan may cost. Undefined if no plan was approved. */
  #approved: number | undefined;
  /** Prices of the plan's purchases that have no charge yet, by order id. */
  readonly #toCharge = new Map<string, ClassPrice>();
  /** Price classes for which the plan had no estimate. The first charge of a class sets its approved credits. */
  readonly #unestimated = new Set<string>();
  /** Closed price classes: their create requests wait until a user approves a new plan with the charge as price. */
  readonly #closed = new Set<string>();
  #spentBefore: number;
  /** Reservations of create requests that are in flight, by order id. */
  readonly #flying = new Map<string, Held>();
  /** Reservations of create requests whose charge this run can no longer learn. */
  readonly #doubtful = new Map<string, Held>();
  readonly #heldUnpriced: number;
  readonly #guessedBefore: readonly string[];
  readonly #waitingCanaries = new Set<string>();
  readonly #met = new Map<string, number>();
  readonly #changes = new Condition();

  constructor(options: {
    caps: readonly Cap[];
    spentBefore: number;
    /** Credits reserved for a lost create request of unknown price. Defaults to the whole budget. */
    heldUnpriced?: number | undefined;
    /** Price classes of earlier runs' lost create requests. Each counts as `heldUnpriced` against the budget. */
    guessedBefore?: readonly string[] | undefined;
    prices?: PriceBook | undefined;
    /** The approved plan, with the orders that have not ended. If omitted, only the caps limit the run. */
    approved?: { totals: Pick<PlanTotals, 'ceiling' | 'asksAgain'>; orders: readonly StepOrder[] };
  }) {
    const { caps, approved } = options;
    this.caps = caps;
    this.prices = options.prices ?? new PriceBook();
    this.#spentBefore = options.spentBefore;
    this.#heldUnpriced = options.heldUnpriced ?? Number.POSITIVE_INFINITY;
    this.#guessedBefore = options.guessedBefore ?? [];
    // Every comparison with NaN is false, so a cap of NaN would limit nothing.
    if (caps.some(({ left }) => Number.isNaN(left))) throw new Error('internal error: a cap that is not a number');
    this.#asksAgain = approved?.totals.asksAgain ?? false;
    this.#approved = approved?.totals.ceiling;
    for (const order of approved?.orders ?? []) if (isCharged(order)) this.#expectCharge(orderId(order), order.price);
    if (this.prices.changes > 0) this.#closeAsBefore(approved?.orders ?? []);
  }

  get spentEver(): number {
    return this.#spentBefore + this.spentNow;
  }

  /**
   * Counts a job that another run of the campaign bought after this run was planned. Of the caps, only the budget
   * includes other runs.
   */
  countElsewhere(credits: number): void {
    this.#spentBefore += credits;
    this.caps = this.caps.map((cap) => (cap.name === 'budget' ? { ...cap, left: cap.left - credits } : cap));
  }

  get unspent(): number {
    // Lost create requests of earlier runs count only against the budget, which is the only cap on all runs.
    const caps = this.caps.map(({ name, left }) => (name === 'budget' ? left - this.#aboveGuesses : left));
    return Math.min(...caps) - this.spentNow;
  }

  /** Credits by which this run's charges exceed the guesses for earlier runs' lost create requests. */
  get #aboveGuesses(): number {
    const above = this.#guessedBefore.map((name) => Math.max(0, this.prices.charged(name) - this.#heldUnpriced));
    return above.reduce((sum, credits) => sum + credits, 0); // I14 (guessed)
  }

  /** Credits that are left for a step of known price to reserve. */
  get left(): number {
    return this.#isCapped ? this.#leftBesideGuesses - this.#guessed : Number.POSITIVE_INFINITY;
  }

  /**
   * `left` plus the credits reserved for lost create requests at a guessed price. Applies to a step whose charge will
   * show whether the guess is right.
   */
  get #leftBesideGuesses(): number {
    return this.unspent - this.#heldNow;
  }

  get held(): number {
    const guessed = this.#guessed;
    return this.#heldNow + (Number.isFinite(guessed) ? guessed : 0);
  }

  get #heldNow(): number {
    const doubtful = sum(this.#doubtful.values(), (one) => (this.#isGuessed(one) ? 0 : this.#amountOf(one)));
    return sum(this.#flying.values(), ({ credits }) => credits ?? 0) + doubtful;
  }

  get #guessed(): number {
    return sum(this.#doubtful.values(), (one) => (this.#isGuessed(one) ? this.#amountOf(one) : 0));
  }

  /**
   * Tries to reserve the price of a step. `isSent`: the create request of the step was sent before. The ramp does not
   * delay such a request, because the run must search the service's list for identical requests together.
   */
  reserve(address: string, price: ClassPrice, { isSent = false } = {}): Reservation {
    const own = this.#flying.get(address);
    if (own !== undefined) return { is: 'reserved', credits: own.credits };
    this.#setAside(address);
    const credits = this.prices.known(price);
    if (credits !== null) this.#waitNoLonger(address);
    const judge = () => (credits === null ? this.#judgeCanary(price) : this.#judge({ ...price, credits }, isSent));
    const is = this.#isApproved(address, price) || isSent ? judge() : 'over-plan';
    if (credits === null && is === 'later') this.#waitingCanaries.add(address);
    else this.#waitNoLonger(address);
    if (is !== 'reserved') return { is };
    if (price.class === uncharged) return { is, credits };
    this.#flying.set(address, { price, credits, expected: this.prices.expected(price) });
    return { is, credits };
  }

  #setAside(address: string): void {
    const before = this.#doubtful.get(address);
    if (before === undefined) return;
    this.#doubtful.delete(address);
    this.#doubtful.set(`${address}\u0000before ${this.#doubtful.size}`, before);
  }

  /**
   * Records the charge of a step: 0 if the step was certainly not charged, `null` if the service reported no charge.
   * For `null`, the reserved credits count as spent; if the price is unknown, the step may have cost any amount.
   * `proves`: whether the charge confirms the price of the class. A refusal does not.
   *
   * @returns why the charge closed the price class, if it did
   */
  settle(address: string, charged: number | null, proves = charged !== 0): string | undefined {
    const own = this.#heldFor(address);
    if (own?.credits === null && charged === null) {
      this.#doubt(address, { ...own, isUnreported: true });
      return undefined;
    }
    this.endOrder(address);
    this.#drop(address);
    let closed: string | undefined;
    const credits = charged ?? own?.credits ?? 0;
    this.spentNow += credits;
    if (own !== undefined) {
      const { price, credits: reserved } = own;
      if (charged !== null && charged > 0) {
        const before = this.prices.charged(price.class);
        this.prices.learn(price.class, charged);
        closed = this.#checkCharge(price, charged, before);
      }
      // Without a cap, a job without a reported charge confirms the price: steps must not wait for a charge forever.
      const isBorneOut = proves || (charged === null && !this.#isCapped);
      if (charged !== null && reserved !== null && charged > reserved) this.#met.delete(price.class);
      else if (isBorneOut && reserved !== null)
        this.#met.set(price.class, Math.min(mostMet, this.#metBy(price.class) + 1));
    }
    this.#changes.notify();
    return closed;
  }

  reserved(address: string): number | null {
    return this.#heldFor(address)?.credits ?? null;
  }

  release(address: string): void {
    this.#drop(address);
    this.#changes.notify();
  }

  /**
   * Keeps the credits of a step reserved because its charge stays unknown. No other step waits for this charge. If the
   * price is unknown, the next charge of the price class sets the reserved amount.
   */
  doubt(address: string): void {
    const own = this.#heldFor(address);
    if (own !== undefined) this.#doubt(address, own);
  }

  #doubt(address: string, held: Held): void {
    this.#drop(address);
    this.endOrder(address);
    this.#doubtful.set(address, { ...held, expected: this.prices.expected(held.price) });
    // Notifies later, so that the next price probe reserves before other steps, which would reserve the whole budget.
    setImmediate(() => this.#changes.notify());
  }

  /**
   * Records that a price probe no longer waits to reserve. When none waits, the steps that wait for a price try to
   * reserve again.
   */
  #waitNoLonger(address: string): void {
    if (this.#waitingCanaries.delete(address) && this.#waitingCanaries.size === 0) this.#changes.notify();
  }

  /** Removes an ended order from the purchases without a charge, so that the rest of the plan costs less. */
  endOrder(address: string): void {
    this.#toCharge.delete(address);
  }

  isClosed(priceClass: string): boolean {
    return this.#closed.has(priceClass);
  }

  nudge(): void {
    this.#changes.notify();
  }

  changed(): Promise<void> {
    return this.#changes.changed();
  }

  #expectCharge(address: string, price: ClassPrice): void {
    this.#toCharge.set(address, price);
    if (price.credits === null && price.likely === undefined) this.#unestimated.add(price.class);
  }

  /** Closes the price classes that an earlier leader closed in this run. */
  #closeAsBefore(orders: readonly StepOrder[]): void {
    const prices = new Map(orders.map(({ price }) => [JSON.stringify(price), price]));
    for (const price of prices.values()) {
      const charged = this.prices.charged(price.class);
      if (charged === 0 || this.isClosed(price.class)) continue;
      const others = this.#asksAgain && this.#unestimated.has(price.class) ? [price] : [];
      const why = this.#whyClosed(price, { charged, expected: shownPrice(price), others });
      if (why !== undefined) this.#closed.add(price.class);
    }
  }

  #isApproved(address: string, price: ClassPrice): boolean {
    if (this.#approved === undefined) return true;
    if (this.isClosed(price.class)) return false;
    if (!this.#toCharge.has(address)) {
      // The plan did not contain a purchase after a failed job or a pick. The user approved such a purchase separately,
      // at the price shown for it.
      this.#approved += shareOf(price) ?? withMargin(this.prices.charged(price.class));
      this.#expectCharge(address, price);
    }
    const cost = this.prices.expected(price);
    const inFlight = sum(this.#flying.values(), ({ expected }) => expected);
    return !(cost > 0 && cost + inFlight > this.#approvedLeft); // I39
  }

  /** Credits left of the approved total after all charges and all create requests that may have been charged. */
  get #approvedLeft(): number {
    const doubtful = sum(this.#doubtful.values(), ({ expected }) => expected);
    return (this.#approved ?? Number.POSITIVE_INFINITY) - this.spentNow - doubtful;
  }

  /**
   * Closes the price class if the charge shows that the run would exceed the approved total. `before`: the highest
   * earlier charge of the class.
   */
  #checkCharge(price: ClassPrice, charged: number, before: number): string | undefined {
    if (this.#approved === undefined) return undefined;
    const isFirst = before === 0 && this.#unestimated.has(price.class);
    const others = isFirst ? [...this.#toCharge.values()].filter((one) => one.class === price.class) : [];
    if (isFirst) this.#approved += shareOnceCharged(charged, { count: 1 + others.length, asksAgain: this.#asksAgain });
    const expected = Math.max(before, shownPrice(price));
    const why = this.#whyClosed(price, { charged, expected, others: this.#asksAgain ? others : [] });
    if (why === undefined) return undefined;
    this.#closed.add(price.class); // I14 (ceiling)
    return `was charged ${charged}, ${why} (${price.class})`;
  }

  /**
   * Returns why a charge closes its price class. `others`: remaining purchases of a class without an estimate. Empty if
   * no user can be asked to approve them.
   */
  #whyClosed(
    price: ClassPrice,
    { charged, expected, others }: { charged: number; expected: number; others: readonly ClassPrice[] },
  ): string | undefined {
    const most = ceilingOf(price);
    if (most !== undefined && charged > most) return `but the approved plan allows at most ${most}`;
    if (others.length > 0)
      return `which could not be estimated: the remaining purchases would cost ${this.#sumExpected(others)}, which needs a new approval`;
    const left = this.#approvedLeft;
    const rest = this.#sumExpected([...this.#toCharge.values()].filter((one) => !this.isClosed(one.class)));
    if (charged <= expected || rest <= left) return undefined;
    // `left` may be negative: requests that were in flight when the price rose may be charged the higher price.
    const leftText = left > 0 ? `${left} is` : 'nothing is';
    return `but ${expected} was expected: the remaining steps would cost ${rest}, and ${leftText} left of the approved total`;
  }

  #sumExpected(prices: readonly ClassPrice[]): number {
    return sum(prices, (price) => this.prices.expected(price));
  }

  /**
   * Decides about a step of known price. The step may start if the caps cover it even if the prices of all requests in
   * flight rise. Without a cap, only the ramp delays the step, because the approved plan limits the total.
   */
  #judge(price: ClassPrice & { credits: number }, isSent: boolean): Reservation['is'] {
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
   * Returns whether one more request of this price class may be in flight. The limit is 1, 2, 4, …: each charge that
   * matches its reservation doubles the limit, and a charge that does not match resets it to 1. Classes without a
   * matching charge share one request in flight. Prices in the lock may be too low: prices rise, and a git branch may
   * contain any price.
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

  #fits({ credits, source }: ClassPrice & { credits: number }): boolean {
    if (credits > 0) return credits <= this.left; // I14 (cap)
    return source === 'documented' || this.#leftBesideGuesses >= 0; // I14 (free)
  }

  #canPayWorst({ credits }: { credits: number }): boolean {
    if (credits === 0) return true;
    const unknown = sum([...this.#flying.values(), ...this.#doubtful.values()], (one) => one.credits ?? 0);
    return worstFactor * (unknown + credits) <= this.left + unknown; // I14 (worst)
  }

  /**
   * A step of unknown price runs as a price probe, one at a time. If the run has a cap, a probe waits until no other
   * request is in flight, because it may cost all credits that are left. An estimate can only delay or refuse the step.
   */
  #judgeCanary({ likely = 1 }: ClassPrice): Reservation['is'] {
    if (!this.#isCapped) return this.#hasCanary ? 'later' : 'reserved';
    if (this.#flying.size > 0) return 'later'; // I14 (price)
    const unpriced = this.#unpriced();
    const isUnreported = [...this.#doubtful.values()].some((one) => one.isUnreported === true && this.#isGuessed(one));
    // The charge of this step may show what the lost requests cost: at least 1 credit each if they were charged. If the
    // charge cannot show this, the guessed prices of the lost requests count.
    const isTelling = !isUnreported && new Set(unpriced).size === unpriced.length;
    const left = isTelling ? this.#leftBesideGuesses - unpriced.length : this.left;
    return Math.max(1, likely) <= left ? 'reserved' : 'over-budget'; // I14 (listed)
  }

  describeShortage(address: string, price: ClassPrice): string {
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

  #amountOf({ credits, price }: Held): number {
    return credits ?? (this.prices.charged(price.class) || price.held) ?? this.#heldUnpriced;
  }

  #isGuessed({ credits, price }: Held): boolean {
    return credits === null && price.held === undefined && this.prices.charged(price.class) === 0;
  }

  #unpriced(): string[] {
    return [...this.#doubtful.values()].filter((one) => this.#isGuessed(one)).map(({ price }) => price.class);
  }

  get #isCapped(): boolean {
    return this.caps.length > 0;
  }

  get #hasCanary(): boolean {
    return [...this.#flying.values()].some(({ credits }) => credits === null);
  }

  get #isPriceAwaited(): boolean {
    return this.#waitingCanaries.size > 0 || this.#hasCanary;
  }
}

/** Number of matching charges of a price class after which its limit in the ramp no longer rises. */
const mostMet = 20;

function sum<Item>(items: Iterable<Item>, creditsOf: (one: Item) => number): number {
  let total = 0;
  for (const one of items) total += creditsOf(one);
  return total;
}
