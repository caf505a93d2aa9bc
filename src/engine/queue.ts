import type { RunFact } from '../contract/event.ts';
import { Heap } from '../ground/heap.ts';
import { waitsFor } from '../plan/actions.ts';
import { orderId, type StepOrder } from '../plan/plan.ts';
import { chainOf, endsOf } from '../plan/prices/fund.ts';
import type { Account } from './account.ts';
import type { Breaker } from './breaker.ts';
import { isPurchase } from './order-of-work.ts';

/**
 * Number of times that the run of a large campaign recomputes which orders may start. More times would gain nothing,
 * because a balance may include charges whose answers arrive later.
 */
const looks = 16;
const smallCampaign = 500;

interface Waiting {
  order: StepOrder;
  arrival: number;
}

/**
 * Queue of orders whose dependencies are done. If the credits may not suffice for all orders, the queue starts one
 * chain of dependencies after the other, as far as the credits go. The queue decides only the order of work; the ledger
 * decides what may be spent.
 */
export class Queue {
  readonly #orders: ReadonlyMap<string, StepOrder>;
  #ranks: ReadonlyMap<string, number>;
  #ends: StepOrder[];
  readonly #open: Map<string, StepOrder>;
  readonly #account: Pick<Account, 'prices' | 'unspent'>;
  readonly #begun = new Set<string>();
  readonly #unreported = new Set<string>();
  /** Address of the price probe for each price class. */
  readonly #askedBy = new Map<string, string>();
  #balance: number | undefined;
  #bought = 0;
  #pricesSeen = 0;
  #allocation: Allocation;
  readonly #ready = new Heap<Waiting, Place>(comparePlaces);
  #held: Waiting[] = [];
  #apart: Waiting[] = [];
  #arrivals = 0;

  constructor(
    orders: ReadonlyMap<string, StepOrder>,
    ranks: ReadonlyMap<string, number>,
    { account, balance }: { account: Pick<Account, 'prices' | 'unspent'>; balance?: number | undefined },
  ) {
    this.#orders = orders;
    this.#ranks = ranks;
    this.#open = new Map([...orders].filter(([, one]) => isPurchase(one)));
    this.#ends = findEnds(orders);
    this.#account = account;
    this.#balance = balance;
    this.#reallocate();
  }

  relink({
    ranks,
    added,
    gone,
  }: {
    ranks: ReadonlyMap<string, number>;
    added: readonly StepOrder[];
    gone: ReadonlySet<string>;
  }): void {
    this.#ranks = ranks;
    for (const id of gone) this.close(id);
    const stays = ({ order }: Waiting) => !gone.has(orderId(order));
    this.#held = [...this.#ready.clear(), ...this.#held].filter(stays);
    this.#apart = this.#apart.filter(stays);
    for (const order of added) if (isPurchase(order)) this.#open.set(order.address, order);
    this.#ends = findEnds(this.#orders);
    this.#reallocate();
  }

  get size(): number {
    return this.#ready.size;
  }

  hasAny({ isIdle }: { isIdle: boolean }): boolean {
    return this.#ready.size > 0 || (isIdle && this.#held.length > 0);
  }

  add(order: StepOrder): void {
    this.#arrivals += 1;
    this.#put({ order, arrival: this.#arrivals });
  }

  #put(waiting: Waiting): void {
    const { order, arrival } = waiting;
    if (this.#isHeld(order)) {
      this.#held.push(waiting);
      return;
    }
    const chain = this.#allocation?.get(order.address) ?? Number.POSITIVE_INFINITY;
    const rank = this.#ranks.get(orderId(order)) ?? 0;
    this.#ready.push([stageOf(order), chain, -rank, arrival], waiting);
  }

  /**
   * Returns the orders that the circuit breaker refuses in this run. The other orders that the breaker held back return
   * to the queue.
   */
  takeRefused(
    breaker: Breaker,
    ended: ReadonlyMap<string, unknown>,
    emit: (fact: RunFact) => void,
  ): { order: StepOrder; why: string }[] {
    const apart = this.#apart;
    this.#apart = [];
    return apart.flatMap((waiting) => {
      const { order } = waiting;
      const why = breaker.refusalOf(order, { orders: this.#orders, ended, emit });
      if (why === undefined) this.#put(waiting);
      return why === undefined ? [] : [{ order, why }];
    });
  }

  /**
   * Takes the next order. `isIdle`: no order is running, so the queue tries the orders again that wait for credits.
   * Puts an order aside if `breaker` holds it back.
   */
  take({ isIdle, breaker }: { isIdle: boolean; breaker?: Breaker | undefined }): StepOrder | undefined {
    for (;;) {
      const waiting = this.#ready.pop();
      if (waiting === undefined) {
        if (!isIdle || this.#held.length === 0) return undefined;
        this.#askedBy.clear();
        this.#reallocate();
        if (this.#ready.size > 0) continue;
        // The remaining credits suffice for no whole chain, so any order may start.
        this.#allocation = undefined;
        this.#resort();
        continue;
      }
      const { order } = waiting;
      if (this.#isHeld(order)) {
        this.#held.push(waiting);
        continue;
      }
      if (breaker?.holds(order) === true) {
        this.#apart.push(waiting);
        continue;
      }
      const { address, price } = order;
      if (this.#open.has(address)) this.#begun.add(address);
      const asks = isPurchase(order) && this.#priceOf(order) === null && !this.#unreported.has(price.class);
      if (asks) this.#askedBy.set(price.class, address);
      return order;
    }
  }

  /** Receives an event of the run. Returns true if other orders may start after the event. */
  note(fact: RunFact): boolean {
    switch (fact.event) {
      case 'job-created':
        return this.#learn(fact);
      case 'create-repeated':
      case 'create-searched':
        // The answer to this create request may take long, so another step may probe the price.
        return this.#stopAsking(fact.address);
      default:
        return false;
    }
  }

  #learn(fact: Extract<RunFact, { event: 'job-created' }>): boolean {
    const order = this.#orders.get(fact.address);
    const isNews = this.#balance === undefined && fact.balance !== null;
    if (fact.balance !== null) this.#balance = fact.balance;
    if (order === undefined) return false;
    const heldBefore = this.#held.length;
    if (fact.credits === null) this.#unreported.add(order.price.class);
    this.close(fact.address);
    this.#bought += 1;
    const isStale = this.#allocation !== undefined && this.#bought > (this.#open.size - smallCampaign) / looks;
    if (isNews || this.#pricesSeen !== this.#account.prices.changes || isStale) this.#reallocate();
    return this.#held.length < heldBefore || this.#allocation !== undefined;
  }

  /** Removes an order that was bought or that this run will not buy. */
  close(address: string): void {
    this.#open.delete(address);
    this.#begun.delete(address);
    this.#stopAsking(address);
  }

  #stopAsking(address: string): boolean {
    const order = this.#orders.get(address);
    if (order === undefined || this.#askedBy.get(order.price.class) !== address) return false;
    this.#askedBy.delete(order.price.class);
    this.#resort();
    return true;
  }

  #priceOf({ price }: StepOrder): number | null {
    return this.#account.prices.known(price);
  }

  #isHeld(order: StepOrder): boolean {
    if (!isPurchase(order) || order.send !== undefined) return false;
    const { address, price } = order;
    const asked = this.#askedBy.get(price.class);
    // If this order got a slot, it would only wait there for the price that another step probes.
    if (asked !== undefined && asked !== address && this.#priceOf(order) === null) return true;
    return this.#allocation?.has(address) === false;
  }

  #reallocate(): void {
    const left = Math.min(this.#account.unspent, this.#balance ?? Number.POSITIVE_INFINITY);
    this.#pricesSeen = this.#account.prices.changes;
    this.#bought = 0;
    this.#allocation = allocate(this.#open, this.#ends, {
      left,
      priceOf: (order) => this.#priceOf(order),
      isMoving: this.#begun.size > 0,
    });
    this.#resort();
  }

  #resort(): void {
    const waiting = [...this.#ready.clear(), ...this.#held];
    this.#held = [];
    for (const one of waiting) this.#put(one);
  }
}

interface Means {
  /** Credits that the run may still spend; infinite without a known limit. */
  left: number;
  priceOf(order: StepOrder): number | null;
  /** True while purchases are in flight: `left` may not include their charges yet. */
  isMoving?: boolean;
}

/**
 * For each order that the credits cover: the position of its dependency chain. Other orders wait. `undefined`: all
 * orders may start, in the sequence of the plan.
 */
type Allocation = ReadonlyMap<string, number> | undefined;

/**
 * Decides which orders may start. If the credits may not suffice for all orders, the run finishes one output after the
 * other, each with everything that it needs. Outputs of the same data row follow each other, so that all outputs of one
 * product are done early. `open`: purchases to make, in topological order. `ends`: final outputs, most important first.
 */
export function allocate(open: ReadonlyMap<string, StepOrder>, ends: readonly StepOrder[], means: Means): Allocation {
  const { left, priceOf } = means;
  if (left === Number.POSITIVE_INFINITY) return undefined;
  const known = [...open.values()].map(priceOf);
  // For an unknown price, counts the estimate or, without one, the highest known price.
  const guess = known.reduce<number>((most, price) => Math.max(most, price ?? 0), 1);
  const costOf = (order: StepOrder) => priceOf(order) ?? order.price.likely ?? guess;
  const total = [...open.values()].reduce((sum, order) => sum + costOf(order), 0);
  if (total <= left && !known.includes(null)) return undefined;
  // A charge below its reservation frees credits, so this output may soon be affordable. No later output may use its credits.
  const isSure = !known.includes(null) && means.isMoving !== true;
  const places = new Map<string, number>();
  let room = left;
  for (const end of ends) {
    if (!open.has(end.address)) continue;
    const chain = chainOf(end, {
      isTaken: ({ address }) => places.has(address),
      needsOf: (order) => waitsFor(order).flatMap((address) => open.get(address) ?? []),
    });
    const cost = chain.reduce((sum, order) => sum + costOf(order), 0);
    if (cost > room && !isSure) break;
    if (cost > room) continue;
    room -= cost;
    const place = places.size;
    for (const { address } of chain) places.set(address, place);
  }
  return places;
}

/** Returns the purchases on which no other order of this run depends, by data row. Ignores orders with a known job. */
export function findEnds(orders: ReadonlyMap<string, StepOrder>): StepOrder[] {
  const rowOf = ({ address }: StepOrder) => /@([^,/]*)/.exec(address)?.[1] ?? '';
  const rows = [...new Set([...orders.values()].map(rowOf))];
  const places = new Map(rows.map((row, place) => [row, place]));
  const placeOf = (order: StepOrder) => places.get(rowOf(order)) ?? 0;
  const open = [...orders.values()].filter(({ jobId, asksOnly }) => jobId === undefined && !asksOnly);
  const ends = endsOf(open, { nameOf: ({ address }) => address, needsOf: (order: StepOrder) => waitsFor(order) });
  return ends.filter(isPurchase).sort((a, b) => placeOf(a) - placeOf(b));
}

/** Position in the queue, compared number by number. The lowest starts first. */
type Place = readonly [stage: number, chain: number, rank: number, arrival: number];

function comparePlaces(a: Place, b: Place): number {
  for (let index = 0; index < a.length; index += 1) {
    const one = a[index] ?? 0;
    const other = b[index] ?? 0;
    if (one !== other) return one < other ? -1 : 1;
  }
  return 0;
}

/** Returns a stage; the lowest starts first: known jobs, downloads, open create requests, new create requests. */
function stageOf({ action, jobId, send }: StepOrder): number {
  if (action === 'download' || action === 'move') return 1;
  // A purchase may have a job that an earlier leader created.
  if (jobId !== undefined) return 0;
  return send === undefined ? 3 : 2;
}
