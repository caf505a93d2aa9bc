import { Condition } from '../ground/condition.ts';
import { addressOf, type Price as RowPrice } from '../plan/plan.ts';
import { worstFactor } from '../plan/prices/price-sources.ts';
import { guessText } from '../plan/prices/prices.ts';

/**
 * How many creates of a price class may be on their way: 1, 2, 4, … with each charge that meets its
 * reservation, and 1 again after one that does not. Prices may have risen since they were charged, and a lock that came
 * with a branch may name any.
 */
class Ramp {
  /** Charges in a row that met their reservations, by price class. */
  readonly #met = new Map<string, number>();
  /** Number of creates whose charge is not known yet, by price class. */
  readonly #flying = new Map<string, number>();

  left(name: string): void {
    this.#flying.set(name, (this.#flying.get(name) ?? 0) + 1);
  }

  returned(name: string): void {
    const count = (this.#flying.get(name) ?? 0) - 1;
    if (count > 0) this.#flying.set(name, count);
    else this.#flying.delete(name);
  }

  /** Whether a create of this class may go: of classes that no charge has borne out, one goes at a time. */
  admits(name: string): boolean {
    const met = this.#metBy(name);
    if (met === 0) return [...this.#flying.keys()].every((other) => this.#metBy(other) > 0); // I14 (trial)
    return (this.#flying.get(name) ?? 0) < 2 ** met; // I14 (ramp)
  }

  /** Records a charge. Only an amount reported by the service (`proves`) raises the concurrency of its class. */
  note(
    name: string,
    { reserved, charged, proves }: { reserved: number | null; charged: number | null; proves: boolean },
  ): void {
    if (charged !== null && reserved !== null && charged > reserved) this.#met.delete(name);
    else if (proves && reserved !== null) this.#met.set(name, Math.min(mostMet, this.#metBy(name) + 1));
  }

  #metBy(name: string): number {
    return this.#met.get(name) ?? 0;
  }
}

/** The part of a price that counts here. Estimates hold back, and reserve nothing. */
type Price = Pick<RowPrice, 'class' | 'credits'> & Partial<Pick<RowPrice, 'source' | 'likely' | 'held'>>;

/** Result of an attempt to reserve credits. */
export type Reservation =
  | { is: 'reserved'; credits: number | null }
  /** Wait until `changed()` resolves, then retry: a charge that is not known yet decides, or a price that is found out. */
  | { is: 'later' }
  | { is: 'over-budget' };

/** A reservation; `null`: of unknown price. */
interface Held {
  price: Price;
  credits: number | null;
  /** True when it was charged, and the service did not say how much. */
  isUnreported?: true;
}

/** The class of what no answer can charge: nothing else waits for it, and it for nothing. */
export const uncharged = 'upload';

/**
 * The account of one run's credits. Invariant: spent + held never exceeds the cap, for any interleaving, while no charge
 * is more than `worstFactor` times what was reserved for it – except by what one step is charged that nobody can price:
 * that is why it goes alone. What a charge beyond that factor costs is bounded by the ramp: creates whose charge is not
 * known yet are few until charges have met their reservations.
 */
export class Budget {
  spentNow = 0;
  spentEver: number;
  readonly #caps: { total?: number | undefined; run?: number | undefined };
  /** Steps whose answer is to come. */
  readonly #flying = new Map<string, Held>();
  /** Steps that may have been charged, and this run will not find out for how much. */
  readonly #doubtful = new Map<string, Held>();
  /** Sum of the known prices of what is flying. */
  #flyingCredits = 0;
  readonly #lostBefore: readonly string[];
  readonly #heldUnpriced: number;
  /** Steps of unknown price that wait for a price probe. */
  readonly #waitingCanaries = new Set<string>();
  readonly #prices = new Map<string, number>();
  readonly #ramp = new Ramp();
  readonly #account = new Condition();

  /**
   * `lostBefore`: price classes of creates whose answers earlier runs lost, and whose prices this run finds out.
   * `heldUnpriced`: what is reserved for a possible charge without a price. Defaults to the whole budget.
   */
  constructor(options: {
    spentEver: number;
    heldBefore: number;
    lostBefore?: readonly string[] | undefined;
    heldUnpriced?: number | undefined;
    total?: number | undefined;
    run?: number | undefined;
    /** Charges of others in this run before, by price class. */
    learned?: ReadonlyMap<string, number> | undefined;
  }) {
    for (const [name, credits] of options.learned ?? []) this.#prices.set(name, credits);
    this.spentEver = options.spentEver;
    this.#heldUnpriced = options.heldUnpriced ?? Number.POSITIVE_INFINITY;
    const total = options.total === undefined ? undefined : options.total - options.heldBefore;
    this.#lostBefore = total === undefined ? [] : (options.lostBefore ?? []);
    // Every comparison with NaN is false: such a cap would hold nothing back.
    if (Number.isNaN(total) || Number.isNaN(options.run)) throw new Error('internal error: a budget that is no number');
    this.#caps = { total, run: options.run };
  }

  /** Credits that a step of known price may still reserve, beside all that may have been charged. */
  get left(): number {
    if (!this.#isCapped) return Number.POSITIVE_INFINITY;
    return this.#lostBefore.some((name) => !this.#prices.has(name)) ? 0 : this.#leftBesideGuesses - this.#guessed;
  }

  /** The same, where what nobody prices is about to be found out. */
  get #leftBesideGuesses(): number {
    const { total = Number.POSITIVE_INFINITY, run = Number.POSITIVE_INFINITY } = this.#caps;
    const before = this.#lostBefore.reduce((sum, name) => sum + (this.#prices.get(name) ?? 0), 0);
    return Math.min(total - this.spentEver - before, run - this.spentNow) - this.#heldNow;
  }

  /** Credits of all reservations whose amount is known by now, or was named or guessed. */
  get held(): number {
    const before = this.#lostBefore.reduce((sum, name) => sum + (this.#prices.get(name) ?? 0), 0);
    const guessed = this.#guessed;
    return this.#heldNow + before + (Number.isFinite(guessed) ? guessed : 0);
  }

  get #heldNow(): number {
    let sum = this.#flyingCredits;
    for (const one of this.#doubtful.values()) sum += this.#isGuessed(one) ? 0 : this.#amountOf(one);
    return sum;
  }

  /** Credits held for possible charges that nothing prices. */
  get #guessed(): number {
    let sum = 0;
    for (const one of this.#doubtful.values()) if (this.#isGuessed(one)) sum += this.#amountOf(one);
    return sum;
  }

  /** `isSent`: it has left, and is asked about together with equal ones: one list tells them apart. */
  reserve(address: string, price: Price, { isSent = false } = {}): Reservation {
    const own = this.#heldFor(address);
    if (own !== undefined) return { is: 'reserved', credits: own.credits };
    const credits = this.#knownPrice(price);
    if (credits !== null) this.#waitNoLonger(address);
    const is = credits === null ? this.#judgeCanary(price) : this.#judge({ ...price, credits }, isSent);
    if (credits === null) {
      if (is === 'later') this.#waitingCanaries.add(address);
      else this.#waitNoLonger(address);
    }
    if (is !== 'reserved') return { is };
    if (price.class === uncharged) return { is, credits };
    this.#flying.set(address, { price, credits });
    this.#flyingCredits += credits ?? 0;
    this.#ramp.left(price.class);
    return { is, credits };
  }

  /**
   * Records a charge, or the proof that there was none (0). `null`: the service did not say, so the reservation counts
   * – and if the price was not known either, the step may have cost anything. `proves`: the price of its class holds
   * from now on; a refusal proves nothing.
   */
  settle(address: string, charged: number | null, proves = charged !== 0): void {
    const own = this.#heldFor(address);
    if (own?.credits === null && charged === null) {
      this.#doubt(address, { ...own, isUnreported: true });
      return;
    }
    this.#drop(address);
    const credits = charged ?? own?.credits ?? 0;
    this.spentNow += credits;
    this.spentEver += credits;
    if (own !== undefined) {
      const { price, credits: reserved } = own;
      if (charged !== null && charged > 0) {
        this.#prices.set(price.class, Math.max(charged, this.#prices.get(price.class) ?? 0));
      }
      // Without a budget, nothing waits for a price that may never be reported.
      const isBorneOut = proves || (charged === null && !this.#isCapped);
      this.#ramp.note(price.class, { reserved, charged, proves: isBorneOut });
    }
    this.#account.notify();
  }

  /** Credits held for a step; `null` when unknown. */
  reserved(address: string): number | null {
    return this.#heldFor(address)?.credits ?? null;
  }

  release(address: string): void {
    this.#drop(address);
    this.#account.notify();
  }

  /** Keeps a step's credits held: nobody knows its charge, unless the next of its price tells. Nobody waits for it. */
  doubt(address: string): void {
    const own = this.#heldFor(address);
    if (own !== undefined) this.#doubt(address, own);
  }

  #doubt(address: string, held: Held): void {
    this.#drop(address);
    this.#doubtful.set(address, held);
    // The next price probe begins first: others would reserve the whole budget.
    setImmediate(() => this.#account.notify());
  }

  /** Makes every waiting step check again. */
  nudge(): void {
    this.#account.notify();
  }

  /** Resolves at the next change of the account. */
  changed(): Promise<void> {
    return this.#account.changed();
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
    if (!this.#ramp.admits(price.class)) return 'later';
    if (!this.#isCapped) return 'reserved';
    const isTurn = price.credits === 0 || !this.#hasCanary;
    return isTurn && this.#canPayWorst(price) ? 'reserved' : 'later';
  }

  #fits({ credits, source }: Price & { credits: number }): boolean {
    if (credits > 0) return credits <= this.left; // I14 (cap)
    return source === 'documented' || this.#leftBesideGuesses >= 0; // I14 (free)
  }

  /** Whether the cap bears it when all charges that are not known yet turn out `worstFactor` times as high. */
  #canPayWorst({ credits }: { credits: number }): boolean {
    if (credits === 0) return true;
    let unknown = this.#flyingCredits;
    for (const one of this.#doubtful.values()) unknown += one.credits ?? 0;
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
    const known = this.#knownPrice(price);
    const cost = known ?? (price.likely === undefined ? undefined : `≈ ${price.likely}`);
    const says = cost === undefined ? `${address} has no known price` : `${address} costs ${cost}`;
    const left = Math.max(0, this.left);
    const guesses = [...this.#doubtful].flatMap(([id, one]) =>
      this.#isGuessed(one) ? [{ address: addressOf(id), class: one.price.class }] : [],
    );
    const isKnown = guesses.length > 0 && Number.isFinite(this.#heldUnpriced);
    return `${says}, ${left} ${left === 1 ? 'is' : 'are'} left${isKnown ? `; ${guessText(guesses, this.#heldUnpriced)}` : ''}`;
  }

  /** Ends the wait of a step. When the last of them stops waiting, steps that wait for its result check again. */
  #waitNoLonger(address: string): void {
    if (this.#waitingCanaries.delete(address) && this.#waitingCanaries.size === 0) this.#account.notify();
  }

  #knownPrice(price: Price): number | null {
    const learned = this.#prices.get(price.class);
    if (learned === undefined) return price.credits;
    return Math.max(learned, price.credits ?? 0);
  }

  #heldFor(address: string): Held | undefined {
    return this.#flying.get(address) ?? this.#doubtful.get(address);
  }

  #drop(address: string): void {
    const own = this.#flying.get(address);
    this.#doubtful.delete(address);
    if (!this.#flying.delete(address) || own === undefined) return;
    this.#flyingCredits -= own.credits ?? 0;
    this.#ramp.returned(own.price.class);
  }

  /** Credits held for a possible charge. */
  #amountOf({ credits, price }: Held): number {
    return credits ?? this.#prices.get(price.class) ?? price.held ?? this.#heldUnpriced;
  }

  /** Whether neither a charge nor anything said prices it. */
  #isGuessed({ credits, price }: Held): boolean {
    return credits === null && price.held === undefined && !this.#prices.has(price.class);
  }

  /** Price classes, with repetitions, of possible charges that nothing prices. */
  #unpriced(): string[] {
    const held = [...this.#doubtful.values()].filter((one) => this.#isGuessed(one)).map(({ price }) => price.class);
    return [...held, ...this.#lostBefore.filter((name) => !this.#prices.has(name))];
  }

  get #isCapped(): boolean {
    return this.#caps.total !== undefined || this.#caps.run !== undefined;
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
