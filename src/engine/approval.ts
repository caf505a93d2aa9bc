import type { RunFact } from '../contract/event.ts';
import { isSpending } from '../plan/actions.ts';
import { addressOf, orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import { type Price, type PriceBook, saidOf } from '../plan/prices/price-book.ts';
import { ceilingOf } from '../plan/prices/prices.ts';
import { shareOf, withMargin } from '../plan/prices/shares.ts';
import type { LocalGate } from './create-gate.ts';

/**
 * The approved plan as a cap: no create leaves whose price, with what is on its way, would pass it (I39). A charge that
 * shows that the rest of its price would pass it ends that price; so does one above what its own price was vouched for.
 * Where nobody could estimate a price, the first charge tells what the others are expected to cost, and they are agreed
 * to with the usual margin – or somebody is asked again.
 */
export class Approval {
  /** Credits that were agreed to, with what was agreed to beside the plan since. */
  #most: number;
  readonly #asksAgain: boolean;
  readonly #prices: PriceBook;
  readonly #gate: Pick<LocalGate, 'closePrice' | 'isClosed'>;
  readonly #emit: (fact: RunFact) => void;
  /** Prices of purchases that are still to be made, by the order's id. */
  readonly #open = new Map<string, Price>();
  /** Classes that nobody could estimate: their share is agreed to when the first is charged. */
  readonly #unpriced = new Set<string>();

  constructor(options: {
    /** Orders that are still to be carried out. */
    orders: readonly StepOrder[];
    totals: Pick<PlanTotals, 'ceiling' | 'asksAgain'>;
    prices: PriceBook;
    gate: Pick<LocalGate, 'closePrice' | 'isClosed'>;
    emit(fact: RunFact): void;
  }) {
    const { orders, totals, prices, gate, emit } = options;
    this.#most = totals.ceiling;
    this.#asksAgain = totals.asksAgain === true;
    this.#prices = prices;
    this.#gate = gate;
    this.#emit = emit;
    for (const order of orders) if (isBought(order)) this.#expect(orderId(order), order.price);
    this.#closeAsBefore(orders);
  }

  /** Closes the price classes that an earlier charge of this run has already closed. */
  #closeAsBefore(orders: readonly StepOrder[]): void {
    let rest = this.#rest;
    for (const { price } of orders) {
      const charged = this.#prices.charged(price.class);
      if (charged === 0 || this.#gate.isClosed(price.class)) continue;
      const isDearer = charged > (ceilingOf(price) ?? Number.POSITIVE_INFINITY);
      const isToAsk = this.#asksAgain && this.#unpriced.has(price.class);
      const isTooMuch = charged > saidOf(price) && rest > this.#most;
      if (!(isDearer || isToAsk || isTooMuch)) continue;
      this.#gate.closePrice(price.class);
      rest = this.#rest;
    }
  }

  /** Whether the price of this purchase fits. `spent`: what was charged, may have been charged, or is on its way. */
  covers(id: string, price: Price, spent: number): boolean {
    if (!this.#open.has(id)) {
      // A purchase after a failed job, or after a pick: agreed to beside the others, for as much as it was shown with.
      this.#most += shareOf(price) ?? withMargin(this.#prices.charged(price.class));
      this.#expect(id, price);
    }
    const cost = this.#prices.expected(price);
    return !(cost > 0 && cost + spent > this.#most); // I39
  }

  /**
   * Takes note of a charge. Where it shows that more would be paid than was agreed to, no other create of its price leaves.
   * `before`: the highest charge of its class before it; `spent`: what was charged, this one included, or may have been.
   */
  charge(
    id: string,
    price: Price,
    { charged, before, spent }: { charged: number; before: number; spent: number },
  ): void {
    const expected = Math.max(before, saidOf(price));
    const isFirst = before === 0 && this.#unpriced.has(price.class);
    const others = isFirst ? [...this.#open.values()].filter((one) => one.class === price.class) : [];
    const isToAsk = isFirst && this.#asksAgain && others.length > 0;
    if (isFirst) this.#most += isToAsk ? charged : withMargin(charged * (1 + others.length));
    const left = this.#most - spent;
    const most = ceilingOf(price);
    const isTooMuch = charged > expected && this.#rest > left;
    let why: string;
    if (most !== undefined && charged > most) why = `and the plan says ${most} at most`;
    else if (isToAsk)
      why = `which nobody could estimate: the others would come to ${this.#sum(others)}, which takes a new yes`;
    else if (isTooMuch) {
      // What was on its way when a price rose may be charged above it.
      const rest = left > 0 ? `${left} is` : 'nothing is';
      why = `where ${expected} was expected: the rest would come to ${this.#rest}, and ${rest} left of what was agreed to`;
    } else return;
    const message = `was charged ${charged}, ${why} (${price.class})`;
    this.#gate.closePrice(price.class); // I14 (ceiling)
    this.#emit({ event: 'noticed', address: addressOf(id), message });
  }

  /** The order buys nothing any more. */
  ended(id: string): void {
    this.#open.delete(id);
  }

  #expect(id: string, price: Price): void {
    this.#open.set(id, price);
    if (price.credits === null && price.likely === undefined) this.#unpriced.add(price.class);
  }

  /** Expected cost of everything that is still to be bought. */
  get #rest(): number {
    return this.#sum([...this.#open.values()].filter((price) => !this.#gate.isClosed(price.class)));
  }

  #sum(prices: readonly Price[]): number {
    return prices.reduce((sum, price) => sum + this.#prices.expected(price), 0);
  }
}

function isBought({ action, jobId, sharesJobOf }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined;
}
