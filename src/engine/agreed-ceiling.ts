import type { RunFact } from '../contract/event.ts';
import { isSpending } from '../plan/actions.ts';
import { orderId, type PlanTotals, type StepOrder } from '../plan/plan.ts';
import { ceilingOf } from '../plan/prices/prices.ts';
import { shareOf, withMargin } from '../plan/prices/shares.ts';

/** Why no more is bought at a price. */
type Passed =
  | { is: 'dearer'; most: number }
  | { is: 'too-much'; expected: number; total: number; most: number }
  | { is: 'to-ask'; total: number };

/** Purchases at one price that are still to be made: what each is expected to cost, by the order's name. */
interface PriceClass {
  open: Map<string, number>;
  /** Sum of `open` at the price as it is known by now. */
  sum: number;
  /** The highest charge of this run. */
  learned: number;
  /** How many of `open` nobody could estimate; their share is agreed to when the first is charged. */
  unpriced: number;
  /** Whether no more is bought at it. */
  isClosed: boolean;
}

/**
 * The ceiling of what somebody said yes to: no create leaves whose price, with what is on its way, would pass it (I39).
 * A charge that shows that the rest of its price would pass it ends that price; so does one above what its own price
 * was vouched for. Where nobody could estimate a price, the first charge tells what the others are expected to cost,
 * and they are agreed to with the usual margin – or somebody is asked again.
 */
export class AgreedCeiling {
  /** Credits that may still be charged. */
  #left: number;
  readonly #asksAgain: boolean;
  readonly #gate: { closePrice(priceClass: string): void };
  readonly #emit: (fact: RunFact) => void;
  readonly #classes = new Map<string, PriceClass>();
  readonly #inFlight = new Map<string, number>();

  constructor(options: {
    /** Orders that are still to be carried out. */
    orders: readonly StepOrder[];
    totals: Pick<PlanTotals, 'ceiling' | 'asksAgain'>;
    /** Charges in this run before, by price class. */
    learned?: ReadonlyMap<string, number> | undefined;
    gate: { closePrice(priceClass: string): void };
    emit(fact: RunFact): void;
  }) {
    const { orders, totals, learned = [], gate, emit } = options;
    this.#left = totals.ceiling;
    this.#asksAgain = totals.asksAgain === true;
    this.#gate = gate;
    this.#emit = emit;
    for (const [name, credits] of learned) this.#class(name).learned = credits;
    for (const order of orders) if (isBought(order)) this.#expect(order);
    this.#closeAsBefore(orders);
  }

  /** Closes the price classes that an earlier charge of this run has already closed. */
  #closeAsBefore(orders: readonly StepOrder[]): void {
    for (const order of orders) {
      const { price } = order;
      const known = this.#class(price.class);
      if (known.learned === 0 || known.isClosed) continue;
      const isDearer = known.learned > (ceilingOf(price) ?? Number.POSITIVE_INFINITY);
      const isToAsk = this.#asksAgain && known.unpriced > 0;
      const isTooMuch = known.learned > (expectedOf(order) ?? 0) && this.#projected > this.#left;
      if (isDearer || isToAsk || isTooMuch) this.#close(price.class);
    }
  }

  /** Counts the price of this order as on its way, until it is charged or dropped. False: it would pass the ceiling. */
  reserve(order: StepOrder): boolean {
    const name = orderId(order);
    const known = this.#class(order.price.class);
    if (!known.open.has(name)) {
      // A purchase after a failed job, or after a pick: agreed to beside the others, for as much as it was shown with.
      this.#left += shareOf(order.price) ?? withMargin(known.learned);
      this.#expect(order);
    }
    const cost = this.#costOf(order);
    this.#inFlight.delete(name);
    if (cost > 0 && cost + sum(this.#inFlight.values()) > this.#left) return false; // I39
    this.#inFlight.set(name, cost);
    return true;
  }

  /**
   * Records a charge; `null`: the service did not say. Where it shows that more would be paid than was agreed to, no
   * other create of its price leaves. Called before the reservation is settled, because that lets others go on.
   */
  charge(order: StepOrder, charged: number | null): void {
    const { price } = order;
    const known = this.#class(price.class);
    const expected = this.#costOf(order);
    const count = known.open.size;
    const isFirst = known.unpriced > 0 && known.learned === 0;
    this.ended(order);
    this.#left -= charged ?? expected;
    if (charged === null || charged === 0) return;
    if (charged > known.learned) this.#learn(known, charged);
    const isToAsk = isFirst && this.#asksAgain && known.open.size > 0;
    if (isFirst) this.#left += isToAsk ? charged : withMargin(charged * Math.max(1, count));
    const passed = this.#findPassed(order, { charged, expected, isToAsk });
    if (passed === undefined) return;
    this.#close(price.class); // I14 (ceiling)
    const message = describePassed(passed, { charged, priceClass: price.class });
    this.#emit({ event: 'noticed', address: order.address, message });
  }

  #findPassed(
    { price }: StepOrder,
    { charged, expected, isToAsk }: { charged: number; expected: number; isToAsk: boolean },
  ): Passed | undefined {
    const most = ceilingOf(price);
    if (most !== undefined && charged > most) return { is: 'dearer', most };
    const total = this.#class(price.class).sum;
    if (isToAsk) return { is: 'to-ask', total };
    if (charged <= expected || this.#projected <= this.#left) return undefined;
    return { is: 'too-much', expected, total: this.#projected + charged, most: this.#left + charged };
  }

  /** Counts an order that may have been charged and stays unresolved in this run. */
  doubt(order: StepOrder): void {
    this.#left -= this.#costOf(order);
    this.ended(order);
  }

  /** Takes note that the create did not leave, was refused, or is settled. */
  drop(name: string): void {
    this.#inFlight.delete(name);
  }

  /** Takes note that the order has ended: it buys nothing any more. */
  ended(order: StepOrder): void {
    this.drop(orderId(order));
    this.#forget(order.price.class, orderId(order));
  }

  /** Expected cost of everything that is still to be bought. */
  get #projected(): number {
    let total = 0;
    for (const known of this.#classes.values()) total += known.isClosed ? 0 : known.sum;
    return total;
  }

  #costOf(order: StepOrder): number {
    return Math.max(this.#class(order.price.class).learned, expectedOf(order) ?? 0);
  }

  #expect(order: StepOrder): void {
    const known = this.#class(order.price.class);
    const expected = expectedOf(order);
    known.open.set(orderId(order), expected ?? 0);
    known.sum += Math.max(known.learned, expected ?? 0);
    if (expected === undefined) known.unpriced += 1;
  }

  #forget(priceClass: string, name: string): void {
    const known = this.#class(priceClass);
    const expected = known.open.get(name);
    if (expected === undefined) return;
    known.open.delete(name);
    known.sum -= Math.max(known.learned, expected);
  }

  #close(name: string): void {
    this.#class(name).isClosed = true;
    this.#gate.closePrice(name);
  }

  #learn(known: PriceClass, charged: number): void {
    known.learned = charged;
    known.sum = sum([...known.open.values()].map((expected) => Math.max(charged, expected)));
  }

  #class(name: string): PriceClass {
    const known = this.#classes.get(name);
    if (known !== undefined) return known;
    const fresh: PriceClass = { open: new Map(), sum: 0, learned: 0, unpriced: 0, isClosed: false };
    this.#classes.set(name, fresh);
    return fresh;
  }
}

/** Tells of a charge, after the step's address, why no more is bought at its price. */
function describePassed(passed: Passed, { charged, priceClass }: { charged: number; priceClass: string }): string {
  switch (passed.is) {
    case 'dearer':
      return `was charged ${charged}, and the plan says ${passed.most} at most (${priceClass})`;
    case 'too-much': {
      const { expected, total, most } = passed;
      // What was on its way when a price rose may be charged above it.
      const left = most > charged ? `${most - charged} is` : 'nothing is';
      return `was charged ${charged}, where ${expected} was expected: the rest would come to ${total - charged}, and ${left} left of what was agreed to (${priceClass})`;
    }
    case 'to-ask':
      return `was charged ${charged}, which nobody could estimate: the others would come to ${passed.total}, which takes a new yes (${priceClass})`;
    default:
      return passed satisfies never;
  }
}

function isBought({ action, jobId, sharesJobOf }: StepOrder): boolean {
  return isSpending(action) && jobId === undefined && sharesJobOf === undefined;
}

/** Expected cost of a purchase; `undefined`: nobody can estimate it. */
function expectedOf({ price }: StepOrder): number | undefined {
  return price.credits ?? price.likely;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const one of numbers) total += one;
  return total;
}
