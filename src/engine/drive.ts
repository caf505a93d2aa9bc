/*
 * Executes a plan in this process: queue, credit account, create gate, ledger.
 * Takes: a plan with its orders, the lock, and the ports of `contract/ports.ts`.
 * Returns: the end of each order, events, and lock lines, each durable before the run relies on it.
 * Independent of: files, HTTP, users. A run buys only orders of the plan, and nothing above the approved total (I14,
 * I39).
 */

import { failedOutcomes, type StepOutcome } from '../contract/event.ts';
import { isDefect } from '../contract/failure.ts';
import type { Ports } from '../contract/ports.ts';
import { Condition } from '../ground/condition.ts';
import { defined, messageOf } from '../ground/values.ts';
import { waitsFor } from '../plan/actions.ts';
import { type Need, orderId, type Plan, type PlanRow, type StepOrder } from '../plan/plan.ts';
import { endBroken, runStep, saveJob } from '../run/step.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { Account } from './account.ts';
import { SharedSlots } from './account-gate.ts';
import type { Breaker } from './breaker.ts';
import { PostsLast } from './hold-posts.ts';
import { describeHold, isCanaryOf, linkOrders, rankOrders, releasesDependent, urgencyOf } from './order-of-work.ts';
import { Queue } from './queue.ts';

/** Maximum number of orders whose files wait to be saved: they use memory, and download links expire. */
const mostSaving = 1000;

/**
 * Runs a plan in this process. An order keeps its slot from before its create request until its job has ended. Saving
 * the files needs no slot.
 */
export function drive(plan: Plan, ports: Ports, options: DriveOptions): Drive {
  for (const row of plan.rows) if (row.order === undefined) reportSkipped(row, ports);
  return new Drive(plan, ports, options);
}

interface Link {
  dependent: StepOrder;
  on: StepOrder;
  how: StepEnd;
}

export class Drive {
  readonly ends: Promise<DriveResult>;
  readonly defects: unknown[] = [];
  readonly #options: DriveOptions;
  readonly #ports: Ports;
  readonly #orders: Map<string, StepOrder>;
  #dependents: ReadonlyMap<string, string[]>;
  /** Gates that were open when the plan was made. Reviewers wait for the outputs of their steps. */
  readonly #gates: Plan['gates'];
  #waiting: Map<string, number>;
  readonly #begun = new Set<string>();
  readonly #added = new Set<string>();
  readonly #posts: PostsLast;
  readonly #ready: Queue;
  readonly #ended: DriveResult = new Map();
  readonly #errors: unknown[] = [];
  #underWay = 0;
  readonly #slots: SharedSlots;
  #slotsTaken = 0;
  /** A run asks for one slot at a time, and for none after its end. */
  #asks: 'nothing' | 'a slot' | 'no more' = 'nothing';
  readonly #finished = new Condition();

  constructor(plan: Plan, ports: Ports, options: DriveOptions) {
    this.#options = options;
    this.#slots = options.slots ?? new SharedSlots();
    this.#ports = this.#watchPorts(ports);
    this.#orders = new Map(plan.rows.flatMap(({ order }) => (order ? [[orderId(order), order] as const] : [])));
    this.#gates = plan.gates;
    const { counts, dependents } = linkOrders(this.#orders);
    this.#waiting = counts;
    this.#dependents = dependents;
    const ranks = rankOrders(this.#orders, dependents, plan.gates);
    const before = options.ends ?? new Map<string, StepEnd>();
    const open = before.size === 0 ? this.#orders : new Map([...this.#orders].filter(([name]) => !before.has(name)));
    this.#ready = new Queue(open, ranks, { account: options.account, balance: plan.totals.balance });
    this.#posts = new PostsLast(this.#orders, {
      start: (order) => this.#ready.add(order),
      leave: (order, why) => this.#follow(this.#endUnstarted(order, 'blocked', { error: why })),
    });
    this.ends = this.#run();
  }

  get underWay(): number {
    return this.#underWay;
  }

  begun(address: string): StepOrder | undefined {
    return this.#begun.has(address) ? this.#orders.get(address) : undefined;
  }

  endOf(address: string): StepEnd | undefined {
    return this.#ended.get(address);
  }

  /**
   * Adds orders to the run; `orders` must list dependencies first. Removes an order that has not begun if its id is in
   * `unwanted`, or if an earlier call added it and `orders` lacks it.
   */
  mergeOrders(orders: readonly StepOrder[], unwanted: ReadonlySet<string> = new Set()): void {
    const given = new Map(orders.map((order) => [orderId(order), order]));
    const isOver = (id: string) => this.#begun.has(id) || this.#ended.has(id);
    const isSame = (id: string) => given.get(id)?.key === this.#orders.get(id)?.key;
    const mayGo = [...this.#added, ...unwanted];
    const gone = new Set(mayGo.filter((id) => !isOver(id) && this.#orders.has(id) && !isSame(id)));
    for (const id of gone) this.#orders.delete(id);
    const news = [...given].filter(([id]) => !isOver(id) && !this.#orders.has(id));
    for (const [id, order] of news) {
      this.#orders.set(id, order);
      this.#added.add(id);
      this.#posts.expect(order);
    }
    for (const id of gone) if (!this.#orders.has(id)) this.#posts.withdraw(id);
    const { dependents } = linkOrders(this.#orders);
    this.#dependents = dependents;
    this.#waiting = new Map();
    for (const [need, names] of dependents) {
      if (this.#ended.has(need)) continue;
      for (const name of names) this.#waiting.set(name, (this.#waiting.get(name) ?? 0) + 1);
    }
    const ranks = rankOrders(this.#orders, dependents, this.#gates);
    this.#ready.relink({ ranks, added: news.map(([, order]) => order), gone });
    for (const [name, order] of news) {
      const links = this.#brokenNeeds(order);
      if (links.length > 0) this.#follow(links);
      else if (!this.#waiting.has(name)) this.#posts.ready(order);
    }
    this.#fillSlots();
  }

  #brokenNeeds(order: StepOrder): Link[] {
    if (order.jobId !== undefined) return [];
    return waitsFor(order).flatMap((address) => {
      const [on, how] = [this.#orders.get(address), this.#ended.get(address)];
      return on === undefined || how === undefined || releasesDependent(order, on, how)
        ? []
        : [{ dependent: order, on, how }];
    });
  }

  async #run(): Promise<DriveResult> {
    const leaveSlots = this.#slots.join(this.#options.concurrency);
    const first = [...this.#orders].filter(([name]) => !this.#waiting.has(name));
    this.#applyEnds();
    for (const [name, order] of first) if (!this.#ended.has(name)) this.#posts.ready(order);
    this.#posts.release();
    // Fills the slots after every order that can start is ready, so that the highest priority gets the first slot.
    this.#fillSlots();
    try {
      return await this.#untilEnded();
    } finally {
      this.#asks = 'no more';
      leaveSlots();
    }
  }

  /** Applies the step ends that an earlier leader recorded. */
  #applyEnds(): void {
    const links: Link[] = [];
    for (const [name, end] of this.#options.ends ?? []) {
      const order = this.#orders.get(name);
      if (order === undefined) continue;
      this.#ended.set(name, end);
      links.push(...this.#end(order, end));
    }
    this.#follow(links);
  }

  async #untilEnded(): Promise<DriveResult> {
    for (;;) {
      if (this.#underWay > 0 || (this.#asks === 'a slot' && this.#errors.length === 0)) {
        await this.#finished.changed();
      } else if (!(await this.#waitForWork()) && this.#underWay === 0) break;
    }
    if (this.#errors.length > 0) throw this.#errors[0];
    return this.#ended;
  }

  async #waitForWork(): Promise<boolean> {
    return this.#errors.length === 0 && (await this.#options.waitForWork?.()) === true;
  }

  #watchPorts(ports: Ports): Ports {
    return {
      ...ports,
      emit: (fact) => {
        ports.emit(fact);
        if (this.#ready.note(fact)) this.#fillSlots();
      },
    };
  }

  get #mayBegin(): boolean {
    if (this.#slotsTaken >= this.#options.concurrency || this.#underWay - this.#slotsTaken >= mostSaving) return false;
    return this.#ready.hasAny({ isIdle: this.#underWay === 0 });
  }

  #fillSlots(): void {
    const { breaker } = this.#options;
    const givenUp = breaker === undefined ? [] : this.#ready.takeRefused(breaker, this.#ended, this.#ports.emit);
    for (const { order, why } of givenUp) this.#follow(this.#endUnstarted(order, 'left', { error: why }));
    let begun: number;
    do {
      begun = this.#begun.size;
      this.#askForSlot();
    } while (this.#begun.size > begun);
  }

  #askForSlot(): void {
    if (this.#asks !== 'nothing' || !this.#mayBegin) return;
    this.#asks = 'a slot';
    this.#slots.wait(() => this.#begin());
  }

  /** Begins the next order. The order has its job slot until the promise resolves. */
  async #begin(): Promise<void> {
    if (this.#asks === 'no more') return;
    this.#asks = 'nothing';
    const { breaker } = this.#options;
    const order = this.#mayBegin ? this.#ready.take({ isIdle: this.#underWay === 0, breaker }) : undefined;
    if (order === undefined) {
      if (this.#underWay === 0) this.#finished.notify();
      return;
    }
    this.#begun.add(orderId(order));
    breaker?.begin(order);
    this.#slotsTaken += 1;
    this.#underWay += 1;
    queueMicrotask(() => this.#fillSlots());
    await new Promise<void>((free) => void this.#carryOut(order, free));
  }

  async #carryOut(order: StepOrder, giveBack: () => void): Promise<void> {
    const free = this.#slotOf(giveBack);
    try {
      const end = await this.#runStep(order, free).catch((error: unknown) => this.#break(order, error));
      this.#follow(this.#end(order, end));
    } catch (error) {
      this.#errors.push(error);
    }
    this.#underWay -= 1;
    free();
    this.#fillSlots();
    if (this.#underWay === 0) this.#finished.notify();
  }

  async #runStep(order: StepOrder, freeSlot: () => void): Promise<StepEnd> {
    if (!order.asksOnly) this.#reportStart(order);
    const dependents = this.#dependents.get(orderId(order))?.length ?? 0;
    const urgency = () => urgencyOf({ dependents, waiting: this.#ready.size, running: this.#slotsTaken });
    const made = await runStep(order, this.#ports, urgency);
    if ('outcome' in made) return made;
    freeSlot();
    this.#ports.emit({ event: 'job-completed', address: order.address, jobId: made.jobId });
    return saveJob(made, this.#ports);
  }

  /** Returns the function that frees the slot of an order. Further calls of the returned function have no effect. */
  #slotOf(giveBack: () => void): () => void {
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#slotsTaken -= 1;
      giveBack();
      // Fills the slots later, so that the caller can first emit that the job has ended.
      queueMicrotask(() => this.#fillSlots());
    };
  }

  /**
   * Handles an exception in a step. A defect of mediabatch ends only this step. After any other exception, the run buys
   * nothing more, and running steps continue to their end.
   */
  #break(order: StepOrder, error: unknown): StepEnd {
    const end = endBroken(order, this.#ports, error);
    (end === undefined ? this.#errors : this.defects).push(error);
    if (end !== undefined) return end;
    this.#ports.gate.stop('error', messageOf(error));
    return { outcome: 'left', credits: null, error: String(error) };
  }

  /**
   * Starts the dependents of an order that have no other open need, or blocks them and everything that depends on them.
   * Uses a loop, because a chain of dependencies may be too long for recursion.
   */
  #follow(links: Link[]): void {
    for (let link = links.pop(); link !== undefined; link = links.pop()) {
      const { dependent, on, how } = link;
      const name = orderId(dependent);
      if (this.#ended.has(name)) continue;
      if (!releasesDependent(dependent, on, how)) {
        for (const next of this.#block(dependent, on, how.outcome)) links.push(next);
        continue;
      }
      const left = (this.#waiting.get(name) ?? 0) - 1;
      this.#waiting.set(name, left);
      if (left === 0) this.#posts.ready(dependent);
    }
  }

  #end(on: StepOrder, how: StepEnd): Link[] {
    const name = orderId(on);
    if (!this.#ended.has(name)) this.#report(on, how);
    this.#ended.set(name, how);
    if (!on.asksOnly) this.#ready.close(on.address);
    if (this.#options.onError === 'finish' && failedOutcomes.includes(how.outcome)) {
      this.#ports.gate.stop('failure', `${on.address} ${how.outcome}`);
    }
    this.#posts.ended(on, how);
    const dependents = (this.#dependents.get(name) ?? []).flatMap((one) => this.#orders.get(one) ?? []);
    return dependents.reverse().map((dependent) => ({ dependent, on, how }));
  }

  /** Calls the listener `onEnd`. An exception in the listener does not change how the step ended. */
  #report(order: StepOrder, end: StepEnd): void {
    try {
      this.#options.onEnd(orderId(order), end, order);
    } catch (error) {
      (isDefect(error) ? this.defects : this.#errors).push(error);
    }
  }

  #block(order: StepOrder, by: StepOrder, byOutcome: StepOutcome): Link[] {
    // A finished step blocks nothing. An unresolved create request blocks, even if the run only searches for its job.
    const needed = by.asksOnly || byOutcome === 'done' ? 'left' : byOutcome;
    const isOver = needed !== 'left' && needed !== 'running' && needed !== 'unneeded';
    const outcome: StepOutcome = isOver ? 'blocked' : 'left';
    if (isCanaryOf(order, by)) return this.#endUnstarted(order, outcome, { error: describeHold(by, needed) });
    const error = `needs ${by.address}, which is ${needed}`;
    return this.#endUnstarted(order, outcome, { error, need: { address: by.address, is: needed } });
  }

  #endUnstarted(order: StepOrder, outcome: StepOutcome, why: { error: string; need?: Need }): Link[] {
    this.#reportStart(order);
    return this.#end(order, { outcome, credits: 0, ...why });
  }

  #reportStart({ address, task, kind, action }: StepOrder): void {
    this.#ports.emit({ event: 'step-started', address, task, kind, action });
  }
}

export interface DriveOptions {
  concurrency: number;
  /**
   * Behaviour after a failure. `wait`: the run continues, but after five failures for one reason it buys no similar steps.
   * `finish`: the run starts nothing new.
   */
  onError: 'wait' | 'continue' | 'finish';
  account: Pick<Account, 'prices' | 'unspent'>;
  breaker?: Breaker | undefined;
  /**
   * Called when no order is running. If `waitForWork` resolves with true, the run waits for new orders. If omitted, the
   * run ends when no order is running.
   */
  waitForWork?: (() => Promise<boolean>) | undefined;
  /** Step ends that an earlier leader recorded, by order id. Orders with a recorded end do not run again. */
  ends?: ReadonlyMap<string, StepEnd> | undefined;
  slots?: SharedSlots | undefined;
  onEnd: (id: string, end: StepEnd, order: StepOrder) => void;
}

type DriveResult = Map<string, StepEnd>;

export function reportSkipped(row: PlanRow, { emit }: Pick<Ports, 'emit'>): void {
  const { address, task, kind, action, blockedBy, send, unneeded } = row;
  // A plan row for an unresolved create request is not reported, because the row of its step is reported.
  if (send !== undefined) return;
  const { code, text: reason, need, job } = row.reason;
  const by = {
    ...defined({ unneeded, blockedBy, need }),
    ...(code === 'key-known' && { because: code }),
    ...defined({ jobId: job }),
  };
  emit({ event: 'step-left', address, task, kind, action, reason, ...by });
}
