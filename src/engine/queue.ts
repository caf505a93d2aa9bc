import type { RunFact } from '../contract/event.ts';
import { Heap } from '../ground/heap.ts';
import { orderId, type StepOrder } from '../plan/plan.ts';
import type { Account } from './account.ts';
import type { Breaker } from './breaker.ts';
import { type Allotment, allot, findEnds, isBought } from './chains.ts';
import { comparePlaces, type Place, stageOf } from './order-of-work.ts';

/**
 * Number of times that the allotment is recomputed in a large campaign, instead of at every answer. Answers cross each
 * other, so a balance may know more than the answers so far.
 */
const looks = 16;
const smallCampaign = 500;

/** How the orders of a run hang together. */
interface Links {
  dependents: ReadonlyMap<string, string[]>;
  ranks: ReadonlyMap<string, number>;
}

/** An order that could start. `arrival`: its number among them. */
interface Waiting {
  order: StepOrder;
  arrival: number;
}

/**
 * Queue of orders that could start, limited to those that the credits carry: while the credits do not carry everything,
 * or nobody knows, chain goes before chain. It only decides who goes first; the ledger decides what may be spent.
 * Learns the balance from events.
 */
export class Queue {
  readonly #orders: ReadonlyMap<string, StepOrder>;
  #ranks: ReadonlyMap<string, number>;
  #ends: StepOrder[];
  /** Orders not bought and not given up yet, in topological order. */
  readonly #open: Map<string, StepOrder>;
  readonly #account: Pick<Account, 'prices' | 'unspent'>;
  /** Orders that have begun, and are neither bought nor given up. */
  readonly #begun = new Set<string>();
  /** Classes whose price the service was asked for and did not tell. */
  readonly #unreported = new Set<string>();
  /** Classes whose price the step under way will tell. */
  readonly #askedBy = new Map<string, string>();
  #balance: number | undefined;
  /** Purchases since the last allotment, and the prices that it knew. */
  #bought = 0;
  #pricesSeen = 0;
  #allotment: Allotment = { is: 'all' };
  readonly #ready = new Heap<Waiting, Place>(comparePlaces);
  /** Orders that could start, but for the credits. */
  #held: Waiting[] = [];
  /** Orders that could start, but for others like them that fail. */
  #apart: Waiting[] = [];
  #arrivals = 0;

  constructor(
    orders: ReadonlyMap<string, StepOrder>,
    order: Links,
    { account, balance }: { account: Pick<Account, 'prices' | 'unspent'>; balance?: number | undefined },
  ) {
    this.#orders = orders;
    this.#ranks = order.ranks;
    this.#open = new Map([...orders].filter(([, one]) => isBought(one)));
    this.#ends = findEnds(orders, order.dependents);
    this.#account = account;
    this.#balance = balance;
    this.#reallot();
  }

  /** Updates the chains after orders were added or removed. */
  relink({ dependents, ranks, added, gone }: Links & { added: readonly StepOrder[]; gone: ReadonlySet<string> }): void {
    this.#ranks = ranks;
    for (const id of gone) this.#close(id);
    const stays = ({ order }: Waiting) => !gone.has(orderId(order));
    this.#held = [...this.#ready.clear(), ...this.#held].filter(stays);
    this.#apart = this.#apart.filter(stays);
    for (const order of added) if (isBought(order)) this.#open.set(order.address, order);
    this.#ends = findEnds(this.#orders, dependents);
    this.#reallot();
  }

  get size(): number {
    return this.#ready.size;
  }

  /** Whether `take` may return one. */
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
    const { places } = this.#allotment;
    const chain = places?.get(order.address) ?? Number.POSITIVE_INFINITY;
    const rank = this.#ranks.get(orderId(order)) ?? 0;
    this.#ready.push([stageOf(order), chain, -rank, arrival], waiting);
  }

  /** Lets orders that were set apart go on once others like them have ended; those it returns are given up. */
  giveUp(
    breaker: Breaker,
    ended: ReadonlyMap<string, unknown>,
    emit: (fact: RunFact) => void,
  ): { order: StepOrder; why: string }[] {
    const apart = this.#apart;
    this.#apart = [];
    return apart.flatMap((waiting) => {
      const { order } = waiting;
      const why = breaker.giveUp(order, { orders: this.#orders, ended, emit });
      if (why === undefined) this.#put(waiting);
      return why === undefined ? [] : [{ order, why }];
    });
  }

  /**
   * Takes the next order. `isIdle`: nothing under way could let another one start. Then orders that wait for credits
   * are tried after all. Orders that `breaker` holds are set apart.
   */
  take({ isIdle, breaker }: { isIdle: boolean; breaker?: Breaker | undefined }): StepOrder | undefined {
    for (;;) {
      const waiting = this.#ready.pop();
      if (waiting === undefined) {
        if (!isIdle || this.#held.length === 0) return undefined;
        this.#askedBy.clear();
        this.#reallot();
        if (this.#ready.size === 0) this.#letAllGo();
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
      const asks = isBought(order) && this.#priceOf(order) === null && !this.#unreported.has(price.class);
      if (asks) this.#askedBy.set(price.class, address);
      return order;
    }
  }

  /** True when the event may let others start. */
  note(fact: RunFact): boolean {
    switch (fact.event) {
      case 'job-created':
        return this.#learn(fact);
      case 'step-finished':
        return this.#close(fact.address);
      case 'create-repeated':
      case 'create-searched':
        // Its answer may take long: another one may ask.
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
    this.#close(fact.address);
    this.#bought += 1;
    const isStale = this.#allotment.is === 'chains' && this.#bought > (this.#open.size - smallCampaign) / looks;
    if (isNews || this.#pricesSeen !== this.#account.prices.changes || isStale) this.#reallot();
    return this.#held.length < heldBefore || this.#allotment.is === 'chains';
  }

  /** Closes an order that is bought, or will not be: it takes no more credits, and nobody waits for its price. */
  #close(address: string): boolean {
    this.#open.delete(address);
    this.#begun.delete(address);
    return this.#stopAsking(address);
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
    if (!isBought(order) || order.send !== undefined) return false;
    const { address, price } = order;
    const asked = this.#askedBy.get(price.class);
    // It would only wait for that price in place of another.
    if (asked !== undefined && asked !== address && this.#priceOf(order) === null) return true;
    return this.#allotment.places?.has(address) === false;
  }

  #reallot(): void {
    const left = Math.min(this.#account.unspent, this.#balance ?? Number.POSITIVE_INFINITY);
    this.#pricesSeen = this.#account.prices.changes;
    this.#bought = 0;
    this.#allotment = allot(this.#open, this.#ends, {
      left,
      priceOf: (order) => this.#priceOf(order),
      isMoving: this.#begun.size > 0,
    });
    this.#resort();
  }

  /** Lets all orders go: the remaining credits can finish nothing more, so let them begin, as far as the credits go. */
  #letAllGo(): void {
    this.#allotment = { is: 'all' };
    this.#resort();
  }

  #resort(): void {
    const waiting = [...this.#ready.clear(), ...this.#held];
    this.#held = [];
    for (const one of waiting) this.#put(one);
  }
}
