import type { Clock } from '../contract/clock.ts';
import type { RunEvent, RunFact, StepOutcome } from '../contract/event.ts';
import type { Outputs, Service } from '../contract/ports.ts';
import type { LockFile } from '../contract/state.ts';
import { type CarriedOut, carryOut, type SharedAccount } from '../engine/carry-out.ts';
import { exitCodeOf } from '../engine/exit-code.ts';
import { messageOf } from '../ground/values.ts';
import { readLock } from '../lock/read.ts';
import { type Lock, lockVersion, type StepRecord } from '../lock/record.ts';
import { hasOpenSends } from '../lock/sends.ts';
import { writeHeader } from '../lock/write.ts';
import { countSteps } from '../plan/actions.ts';
import { orderName, type Plan, type PlanRow, type StepOrder } from '../plan/plan.ts';
import { resumeOrder, totalsOfFold } from '../run/resume-order.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { CreateRoutes } from '../service/create.ts';
import type { Seat } from './account.ts';
import { openBodies } from './bodies.ts';
import type { Database } from './database.ts';
import { EndWriter } from './end-writer.ts';
import { EventWriter, readEvents } from './events.ts';
import type { FileDesk, OwnHand } from './file-desk.ts';
import { openLines, readLines } from './lines.ts';
import type { RunHeader, RunRecord } from './run-record.ts';
import { endRun, readEnds, readHeader, readOrders } from './runs.ts';
import type { Seal } from './seal.ts';

/** What the runs of a head share. */
export interface HeadRunGround {
  db: Database;
  account: string;
  seat: Seat;
  seal: Seal;
  /** Where files are given to hands. */
  desk: FileDesk;
  /** What this process fetches with itself. */
  own: OwnHand | undefined;
  /** Digest of a send's id and the credential. */
  accountOf(send: string): string | undefined;
  clock: Clock;
  /** Aborted: nothing new is paid for; what is on the wire is awaited, everything is recorded, and the next head goes on. */
  signal: AbortSignal;
  service: Service;
  shared: SharedAccount;
  /** Grow with each run. */
  routes: { [kind: string]: CreateRoutes[string] };
}

/** A run as the last head left it. */
interface Found {
  header: RunHeader;
  lock: Lock;
  plan: Plan;
  ends: Map<string, StepEnd>;
  /** Price classes of which something was charged more than the plan says. */
  closedPrices: ReadonlySet<string>;
  learned: ReadonlyMap<string, number>;
  /** Nobody has told anything of it yet. */
  isNew: boolean;
}

/** One open run under a head, from what is on record of it to its end. */
export class HeadRun {
  readonly #record: RunRecord;
  readonly #ground: HeadRunGround;
  readonly #term: { account: string; epoch: number; run: string };
  readonly #events: EventWriter;
  readonly #ends: EndWriter;
  #failure: { error: unknown } | undefined;
  #carried: CarriedOut | undefined;
  #isCancelled = false;

  constructor(record: RunRecord, ground: HeadRunGround) {
    this.#record = record;
    this.#ground = ground;
    const { db, account, seat } = ground;
    this.#term = { account, epoch: seat.epoch, run: record.id };
    const fail = (error: unknown) => this.#fail(error);
    this.#events = new EventWriter(db, this.#term, fail);
    this.#ends = new EndWriter(db, this.#term, fail);
  }

  /** What is on record of its steps. */
  records(): Iterable<StepRecord> {
    return this.#carried?.ledger.lock.steps.values() ?? [];
  }

  /** Nothing more is bought; what runs is collected. */
  cancel(): void {
    this.#isCancelled = true;
    this.#carried?.gate.stop('signal', 'cancelled');
  }

  /** Resolves when the run has ended, or the head leaves. Rejects when it cannot go on here. */
  async drive(): Promise<void> {
    const { db, signal } = this.#ground;
    const found = await this.#find();
    if (signal.aborted) return;
    if (found.isNew) this.#tellStart(found);
    const lines = openLines(db, this.#term);
    const carried = this.#carryOut(found, lines);
    this.#carried = carried;
    for (const name of found.closedPrices) carried.gate.closePrice(name);
    if (this.#isCancelled) this.cancel();
    try {
      const ends = await carried.driven.ends;
      await this.#ends.flush();
      if (!signal.aborted && this.#failure === undefined) {
        await this.#end(found, carried, ends);
      }
    } finally {
      carried.gate.close();
      await this.#events.flush();
      await lines.close();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #find(): Promise<Found> {
    const { db, clock, accountOf, service } = this.#ground;
    const { id, totals: submitted, settings } = this.#record;
    const header = await readHeader(db, id);
    Object.assign(this.#ground.routes, header.createRoutes);
    const lock = await this.#readLock();
    const ends = await readEnds(db, id);
    const planned: StepOrder[] = [];
    const orders = new Map<string, StepOrder>();
    for await (const order of readOrders(db, id)) {
      const name = orderName(order);
      const replays = service.replays(order.kind) ? ('yes' as const) : ('no' as const);
      const facts = { now: clock.now(), accountOf, replays, onUnknown: settings.onUnknown };
      const next = ends.has(name) ? { order } : resumeOrder(order, lock, facts);
      planned.push(order);
      orders.set(name, 'order' in next ? next.order : order);
      if ('end' in next) {
        ends.set(name, next.end);
        this.#ends.add(name, next.end);
      }
    }
    const open = [...orders].flatMap(([name, { send }]) => (send === undefined || ends.has(name) ? [] : [send.id]));
    const { totals, closedPrices, learned } = totalsOfFold(submitted, { planned, lock, asked: new Set(open) });
    const { events } = await readEvents(db, id);
    const isNew = events.length === 0;
    const rows = header.plan.rows.flatMap((row) => rowsOf(row, orders, isNew));
    return { header, lock, plan: { ...header.plan, rows, totals }, closedPrices, learned, ends, isNew };
  }

  async #readLock(): Promise<Lock> {
    const { db } = this.#ground;
    // The submitter's lock may have had no lines, and so no header.
    const texts = [writeHeader({ version: lockVersion })];
    for (let after: string | undefined; ; ) {
      const { lines, next } = await readLines(db, this.#record.id, after);
      if (lines.length === 0) break;
      texts.push(...lines);
      after = next;
    }
    const { lock, diagnostics } = readLock(`the lock of run ${this.#record.id}`, Buffer.from(texts.join('')));
    const [wrong] = diagnostics.filter(({ severity }) => severity === 'error');
    if (wrong !== undefined) throw new Error(`the lock of this run on the engine is damaged: ${wrong.message}`);
    return lock;
  }

  #carryOut({ plan, lock, ends, learned }: Found, lines: LockFile): CarriedOut {
    const { db, seal, clock, signal, service, shared, accountOf } = this.#ground;
    const { id, settings } = this.#record;
    return carryOut(plan, {
      ...{ lock, ends, learned, service, clock, signal, accountOf },
      file: lines,
      bodies: openBodies(db, this.#term, seal),
      outputs: this.#openOutputs(),
      emit: (fact) => this.#emit(fact),
      // Whether it is, every line asks the database.
      isAlone: () => Promise.resolve(true),
      times: { graceMs: 0, gapMs: 0, fenceMs: 0 },
      creditWaitMs: settings.creditWaitMs,
      onUnknown: settings.onUnknown,
      onError: settings.onError,
      account: shared,
      run: id,
      onEnd: (name, end) => this.#noteEnd(name, end),
    });
  }

  #openOutputs(): Outputs {
    const { desk, own } = this.#ground;
    return desk.outputsOf(this.#record, own);
  }

  /** Of what ends because this head leaves, the next one decides: only what is done is done for all. */
  #noteEnd(name: string, end: StepEnd): void {
    if (this.#failure !== undefined) return;
    if (this.#ground.signal.aborted && end.outcome !== 'done') return;
    this.#ends.add(name, end);
  }

  #emit(fact: RunFact): void {
    // A step that was only let go of goes on under the next head.
    const isLeaving = this.#ground.signal.aborted || this.#failure !== undefined;
    if (isLeaving && fact.event === 'step-finished' && fact.outcome !== 'done') return;
    this.#events.add({ at: new Date(this.#ground.clock.now()).toISOString(), ...fact });
  }

  #tellStart({ header, plan }: Found): void {
    this.#emit({
      event: 'run-started',
      version: 1,
      campaign: plan.campaign,
      steps: countSteps(plan),
      concurrency: plan.concurrency,
      totals: this.#record.totals,
      tasks: header.outline.tasks,
    });
  }

  async #end({ header, plan }: Found, carried: CarriedOut, ends: ReadonlyMap<string, StepEnd>): Promise<void> {
    const { db, clock } = this.#ground;
    const { totals, submitted } = this.#record;
    const { ledger, gate } = carried;
    const outcomes = new Map([...ends].map(([name, { outcome }]) => [name, outcome]));
    const exit = exitCodeOf({
      plan: header.plan,
      outcomes: outcomes.values(),
      stopped: gate.stopped,
      overBudget: ledger.overBudget,
      overPrice: gate.hasHeldPrices,
      hasOpenSends: hasOpenSends(ledger.lock),
      interrupted: this.#isCancelled,
      needsPeople: false,
    });
    const unsaved = [...ends.values()].filter((step) => step.unsaved).length;
    const before = plan.totals.alreadyPaid - totals.alreadyPaid;
    const end: Extract<RunEvent, { event: 'run-ended' }> = {
      at: new Date(clock.now()).toISOString(),
      event: 'run-ended',
      exit,
      outcomes: count(outcomes.values()),
      ...(unsaved > 0 && { unsaved }),
      kept: header.plan.rows.filter(({ action }) => action === 'keep').length,
      spentNow: before + ledger.budget.spentNow,
      spentEver: ledger.budget.spentEver,
      held: ledger.budget.held + plan.totals.held,
      balance: ledger.balance,
      elapsedMs: clock.now() - submitted.getTime(),
      ...(ledger.estimates.result !== undefined && { estimated: ledger.estimates.result }),
    };
    this.#events.add(end);
    await this.#events.flush();
    await endRun(db, this.#term, { exit, outcomes: Object.fromEntries(outcomes), end });
  }

  /** Nothing of it counts any more: what is under way runs to its end, and the next head finds out what became of it. */
  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#carried?.gate.stop('error', messageOf(error));
  }
}

/** The row with its order. Rows without one are told of once. */
function rowsOf(row: PlanRow, orders: ReadonlyMap<string, StepOrder>, isNew: boolean): PlanRow[] {
  const order = orders.get(row.send === undefined ? row.address : `${row.address}\u0000${row.send}`);
  if (order !== undefined) return [{ ...row, order }];
  return isNew ? [row] : [];
}

function count(outcomes: Iterable<StepOutcome>): { [outcome in StepOutcome]?: number } {
  const counts: { [outcome in StepOutcome]?: number } = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}
