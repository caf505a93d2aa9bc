import type { RunFact } from '../contract/event.ts';
import { isCharged } from '../plan/actions.ts';
import { addressOf, orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import { type Price, type PriceBook, saidOf } from '../plan/prices/price-book.ts';
import { ceilingOf, shareOf, shareOnceCharged, withMargin } from '../plan/prices/prices.ts';
import type { LocalGate } from './create-gate.ts';

/**
 * Enforces the approved plan as a cap: no create request is sent if its price, added to all that is in flight, would
 * exceed it (I39). A charge closes its price class if it shows that the remaining purchases of the class would exceed
 * the plan, or if it is above the approved price. If no price could be estimated, the first charge sets the expected
 * cost of the others: they are approved with the usual margin, or the user is asked again.
 */
export class Approval {
  #most: number;
  readonly #asksAgain: boolean;
  readonly #prices: PriceBook;
  readonly #gate: Pick<LocalGate, 'closePrice' | 'isClosed'>;
  readonly #emit: (fact: RunFact) => void;
  readonly #open = new Map<string, Price>();
  /** Price classes without an estimate: their share is approved when the first of them is charged. */
  readonly #unpriced = new Set<string>();

  constructor(options: {
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
    for (const order of orders) if (isCharged(order)) this.#expect(orderId(order), order.price);
    this.#closeAsBefore(orders);
  }

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

  /**
   * Whether the price of this purchase fits the approved plan. `spent`: credits charged, possibly charged, or in
   * flight.
   */
  covers(id: string, price: Price, spent: number): boolean {
    if (!this.#open.has(id)) {
      // A purchase after a failed job, or after a pick. It is approved in addition to the plan, at the price that was
      // shown for it.
      this.#most += shareOf(price) ?? withMargin(this.#prices.charged(price.class));
      this.#expect(id, price);
    }
    const cost = this.#prices.expected(price);
    return !(cost > 0 && cost + spent > this.#most); // I39
  }

  /**
   * Records a charge. If it shows that the total would exceed the approval, no other create request of its price
   * class is sent. `before`: the highest earlier charge of its class; `spent`: credits charged, including this
   * charge, or possibly charged.
   */
  charge(
    id: string,
    price: Price,
    { charged, before, spent }: { charged: number; before: number; spent: number },
  ): void {
    const expected = Math.max(before, saidOf(price));
    const isFirst = before === 0 && this.#unpriced.has(price.class);
    const others = isFirst ? [...this.#open.values()].filter((one) => one.class === price.class) : [];
    const count = 1 + others.length;
    const isToAsk = isFirst && this.#asksAgain && count > 1;
    if (isFirst) this.#most += shareOnceCharged(charged, { count, asksAgain: this.#asksAgain });
    const left = this.#most - spent;
    const most = ceilingOf(price);
    const isTooMuch = charged > expected && this.#rest > left;
    let why: string;
    if (most !== undefined && charged > most) why = `and the plan says ${most} at most`;
    else if (isToAsk)
      why = `which nobody could estimate: the others would come to ${this.#sum(others)}, which needs a new approval`;
    else if (isTooMuch) {
      // Requests in flight when a price rises may be charged the higher price.
      const rest = left > 0 ? `${left} is` : 'nothing is';
      why = `where ${expected} was expected: the rest would cost ${this.#rest}, and ${rest} left of the approved total`;
    } else return;
    const message = `was charged ${charged}, ${why} (${price.class})`;
    this.#gate.closePrice(price.class); // I14 (ceiling)
    this.#emit({ event: 'noticed', address: addressOf(id), message });
  }

  ended(id: string): void {
    this.#open.delete(id);
  }

  #expect(id: string, price: Price): void {
    this.#open.set(id, price);
    if (price.credits === null && price.likely === undefined) this.#unpriced.add(price.class);
  }

  get #rest(): number {
    return this.#sum([...this.#open.values()].filter((price) => !this.#gate.isClosed(price.class)));
  }

  #sum(prices: readonly Price[]): number {
    return prices.reduce((sum, price) => sum + this.#prices.expected(price), 0);
  }
}
