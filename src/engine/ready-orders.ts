import { Heap } from '../ground/heap.ts';
import type { StepOrder } from '../plan/plan.ts';

/** More orders than a campaign can have, so that no number of places outweighs a priority. */
const places = 2 ** 30;

/**
 * Queue of orders that wait for a slot: highest priority first, then first come. It holds the orders themselves, in a heap:
 * p-queue keeps a closure and its promises for each of them, and moves the others at each insertion.
 */
export class ReadyOrders {
  readonly #heap = new Heap<StepOrder>();
  readonly #priorityOf: (order: StepOrder) => number;
  #added = 0;

  constructor(priorityOf: (order: StepOrder) => number) {
    this.#priorityOf = priorityOf;
  }

  get size(): number {
    return this.#heap.size;
  }

  add(order: StepOrder): void {
    this.#heap.push(this.#added - this.#priorityOf(order) * places, order);
    this.#added += 1;
  }

  take(): StepOrder | undefined {
    return this.#heap.pop();
  }

  takeAll(): StepOrder[] {
    const orders: StepOrder[] = [];
    for (let order = this.take(); order !== undefined; order = this.take()) orders.push(order);
    return orders;
  }
}
