import type { RunFact } from '../contract/event.ts';
import { isCharged } from '../plan/actions.ts';
import { addressOf, orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import { type Price, type PriceBook, saidOf } from '../plan/prices/price-book.ts';
import { ceilingOf, shareOf, shareOnceCharged, withMargin } from '../plan/prices/prices.ts';
import type { LocalGate } from './create-gate.ts';

interface Given {
  orders: readonly StepOrder[];
  totals: Pick<PlanTotals, 'ceiling' | 'asksAgain'>;
  prices: PriceBook;
  gate: Pick<LocalGate, 'closePrice' | 'isClosed'>;
  emit(fact: RunFact): void;
}

/**
 * Enforces the approved plan as a cap (I39): a create request is not sent if its price plus all credits in flight would
 * exceed the cap. A charge closes its price class if it is above the approved price, or if the remaining purchases of
 * the class would exceed the plan. If a class had no estimate, its first charge sets the expected cost of the other
 * purchases. These are approved with the usual margin, or the user is asked again.
 */
export class Approval {
  readonly #given: Given;
  #most: number;
  readonly #open = new Map<string, Price>();
  /** Price classes without an estimate. The first charge of such a class sets the approved credits of the class. */
  readonly #unpriced = new Set<string>();

  constructor(given: Given) {
    this.#given = given;
    this.#most = given.totals.ceiling;
    for (const order of given.orders) if (isCharged(order)) this.#expect(orderId(order), order.price);
    if (given.prices.changes === 0) return;
    const different = new Map(given.orders.map(({ price }) => [JSON.stringify(price), price]));
    for (const price of different.values()) this.#closeAsBefore(price);
  }

  /** Closes a price class again that an earlier leader of the run has closed. */
  #closeAsBefore(price: Price): void {
    const { prices, gate, totals } = this.#given;
    const charged = prices.charged(price.class);
    if (charged === 0 || gate.isClosed(price.class)) return;
    const unestimated = totals.asksAgain && this.#unpriced.has(price.class) ? [price] : [];
    const facts = { charged, expected: saidOf(price), left: this.#most, unestimated };
    if (this.#whyClosed(price, facts) !== undefined) gate.closePrice(price.class);
  }

  /** `spent`: credits that are charged, possibly charged, or in flight. */
  covers(id: string, price: Price, spent: number): boolean {
    if (!this.#open.has(id)) {
      // A purchase after a failed job, or after a pick. It is approved in addition to the plan, at the price that was
      // shown for it.
      this.#most += shareOf(price) ?? withMargin(this.#given.prices.charged(price.class));
      this.#expect(id, price);
    }
    const cost = this.#given.prices.expected(price);
    return !(cost > 0 && cost + spent > this.#most); // I39
  }

  /**
   * Closes the price class if a charge shows that the total would exceed the approval. `before`: the highest earlier
   * charge of the class. `spent`: charged and possibly charged credits, including this charge.
   */
  charge(
    id: string,
    price: Price,
    { charged, before, spent }: { charged: number; before: number; spent: number },
  ): void {
    const { asksAgain = false } = this.#given.totals;
    const isFirst = before === 0 && this.#unpriced.has(price.class);
    const others = isFirst ? [...this.#open.values()].filter((one) => one.class === price.class) : [];
    if (isFirst) this.#most += shareOnceCharged(charged, { count: 1 + others.length, asksAgain });
    const why = this.#whyClosed(price, {
      ...{ charged, expected: Math.max(before, saidOf(price)), left: this.#most - spent },
      unestimated: asksAgain ? others : [],
    });
    if (why === undefined) return;
    this.#given.gate.closePrice(price.class); // I14 (ceiling)
    const message = `was charged ${charged}, ${why} (${price.class})`;
    this.#given.emit({ event: 'noticed', address: addressOf(id), message });
  }

  /**
   * Returns why a charge ends the create requests of its price class. `left`: credits of the approved total that are
   * left. `unestimated`: further purchases of a class without an estimate, if a user can be asked.
   */
  #whyClosed(
    price: Price,
    facts: { charged: number; expected: number; left: number; unestimated: readonly Price[] },
  ): string | undefined {
    const { charged, expected, left, unestimated } = facts;
    const most = ceilingOf(price);
    if (most !== undefined && charged > most) return `and the plan says ${most} at most`;
    if (unestimated.length > 0)
      return `which nobody could estimate: the others would come to ${this.#sum(unestimated)}, which needs a new approval`;
    if (charged <= expected || this.#rest <= left) return undefined;
    // Requests in flight when a price rises may be charged the higher price.
    const rest = left > 0 ? `${left} is` : 'nothing is';
    return `where ${expected} was expected: the rest would cost ${this.#rest}, and ${rest} left of the approved total`;
  }

  ended(id: string): void {
    this.#open.delete(id);
  }

  #expect(id: string, price: Price): void {
    this.#open.set(id, price);
    if (price.credits === null && price.likely === undefined) this.#unpriced.add(price.class);
  }

  get #rest(): number {
    return this.#sum([...this.#open.values()].filter((price) => !this.#given.gate.isClosed(price.class)));
  }

  #sum(prices: readonly Price[]): number {
    return prices.reduce((sum, price) => sum + this.#given.prices.expected(price), 0);
  }
}
