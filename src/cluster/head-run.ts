import type { Clock } from '../contract/clock.ts';
import type { RunFact } from '../contract/event.ts';
import type { Downloads, Service } from '../contract/ports.ts';
import type { LockFile } from '../contract/state.ts';
import { type CarriedOut, carryOut, type SharedAccount } from '../engine/carry-out.ts';
import { endOfRun } from '../engine/end-of-run.ts';
import { messageOf } from '../ground/values.ts';
import { readLock } from '../lock/read.ts';
import { type Lock, lockVersion, type StepRecord } from '../lock/record.ts';
import { writeHeader } from '../lock/write.ts';
import { countSteps, isWork } from '../plan/actions.ts';
import { orderId, type PlanRow, rowId, type StepOrder } from '../plan/plan.ts';
import { type ResumedPlan, resumePlan } from '../run/resume-plan.ts';
import type { StepEnd } from '../run/step-end.ts';
import type { CreateRoutes } from '../service/create.ts';
import type { Seat } from './account.ts';
import { openBodies } from './bodies.ts';
import type { Database } from './database.ts';
import { EndWriter } from './end-writer.ts';
import { EventWriter } from './events.ts';
import type { FileDesk, OwnHand } from './file-desk.ts';
import { openLines, readLines } from './lines.ts';
import type { RunHeader, RunRecord } from './run-record.ts';
import { endRun, readEnds, readHeader, readOrders } from './runs.ts';
import type { Seal } from './seal.ts';
import { factsBefore, isLettingGo, readToldEvents, type ToldEvents } from './told-events.ts';

/** Everything that the runs of a head share. */
export interface HeadRunGround {
  db: Database;
  account: string;
  seat: Seat;
  seal: Seal;
  /** Where files are given to hands. */
  desk: FileDesk;
  /** Means of this process to fetch files itself. */
  own: OwnHand | undefined;
  /** Hears how many steps a run has before they are read. */
  onSize(known: { steps: number }): void;
  /** Digest of a send's id and the credential. */
  accountOf(send: string): string | undefined;
  /** Whether the same key gives the same job, with this credential. */
  replays: 'yes' | 'no';
  clock: Clock;
  /** Aborted: nothing new is paid for; what is on the wire is awaited, everything is recorded, and the next head goes on. */
  signal: AbortSignal;
  service: Service & Downloads;
  shared: SharedAccount;
  /** Routes of creates, which grow with each run. */
  routes: { [kind: string]: CreateRoutes[string] };
}

/** A run as the last head left it. */
interface Found {
  header: RunHeader;
  lock: Lock;
  resumed: ResumedPlan;
  /** Events that earlier heads have told; grows with what this one tells. */
  told: ToldEvents;
}

/** One open run under a head, from what is on record of it to its end. */
export class HeadRun {
  readonly #record: RunRecord;
  readonly #ground: HeadRunGround;
  readonly #term: { account: string; epoch: number; run: string };
  readonly #events: EventWriter;
  readonly #ends: EndWriter;
  /** Ends by address that are told when they are on record: no other head can come to another one then. */
  readonly #untold = new Map<string, RunFact>();
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

  /** Records of its steps. */
  records(): Iterable<StepRecord> {
    return this.#carried?.ledger.lock.steps.values() ?? [];
  }

  /** Whether anything of it may have been sent by this head. */
  get hasBegun(): boolean {
    return this.#carried !== undefined;
  }

  /** Cancels the run: nothing more is bought; what runs is collected. */
  cancel(): void {
    this.#isCancelled = true;
    this.#carried?.gate.stop('signal', 'cancelled');
  }

  /** Resolves when the run has ended, or the head leaves. Rejects when it cannot go on here. */
  async drive(): Promise<void> {
    const { db, signal } = this.#ground;
    const found = await this.#find();
    if (signal.aborted) return;
    await this.#ends.flush();
    this.#tellBefore(found);
    const lines = openLines(db, this.#term);
    const carried = this.#carryOut(found, lines);
    this.#carried = carried;
    for (const { price, charged } of found.resumed.charges) carried.ledger.estimates.note(price, charged);
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
    const { db, clock, accountOf, replays } = this.#ground;
    const { id, totals, settings } = this.#record;
    const header = await readHeader(db, id);
    this.#ground.onSize({ steps: header.plan.rows.length });
    Object.assign(this.#ground.routes, header.createRoutes);
    const orders = new Map<string, StepOrder>();
    for await (const order of readOrders(db, id)) orders.set(orderId(order), order);
    const told = await readToldEvents(db, id);
    const rows = header.plan.rows.map((row) => withOrder(row, orders));
    const lock = await this.#readLock('all');
    const resumed = resumePlan(
      { ...header.plan, rows, totals },
      {
        ...{ now: clock.now(), accountOf, replays, onUnknown: settings.onUnknown, prices: header.prices },
        lock,
        before: await this.#readLock('submitted'),
        ends: await readEnds(db, id),
      },
    );
    for (const [name, end] of resumed.newEnds) this.#ends.add(name, end);
    return { header, resumed, lock, told };
  }

  async #readLock(which: 'all' | 'submitted'): Promise<Lock> {
    const { db } = this.#ground;
    // The submitter's lock may have had no lines, and so no header.
    const texts = [writeHeader({ version: lockVersion })];
    for (let after: string | undefined; ; ) {
      const { lines, next } = await readLines(db, this.#record.id, after, which);
      if (lines.length === 0) break;
      texts.push(...lines);
      after = next;
    }
    const { lock, diagnostics } = readLock(`the lock of run ${this.#record.id}`, Buffer.from(texts.join('')));
    const [wrong] = diagnostics.filter(({ severity }) => severity === 'error');
    if (wrong !== undefined) throw new Error(`the lock of this run on the engine is damaged: ${wrong.message}`);
    return lock;
  }

  #carryOut({ lock, resumed, told }: Found, lines: LockFile): CarriedOut {
    const { db, seal, clock, signal, service, shared, accountOf, desk, own } = this.#ground;
    const { id, settings } = this.#record;
    const { plan, ends, learned } = resumed;
    return carryOut(plan, {
      ...{ lock, ends, learned, service, clock, signal, accountOf },
      file: lines,
      bodies: openBodies(db, this.#term, seal),
      outputs: desk.outputsOf(this.#record, own),
      emit: (fact) => this.#emit(withBefore(fact, { ...resumed, told }), told),
      // Whether it is, every line asks the database.
      isAlone: () => Promise.resolve(true),
      times: { graceMs: 0, gapMs: 0, fenceMs: 0 },
      creditWaitMs: settings.creditWaitMs,
      onUnknown: settings.onUnknown,
      onError: settings.onError,
      account: shared,
      run: id,
      onEnd: (name, end) => this.#noteEnd(name, { ...end, credits: addUp(end.credits, resumed.spent.get(name)) }, told),
    });
  }

  /** Puts an end on record, unless it comes because this head leaves: only what is done is done for all heads. */
  #noteEnd(name: string, end: StepEnd, told: ToldEvents): void {
    const fact = this.#untold.get(name);
    this.#untold.delete(name);
    if (this.#failure !== undefined || (this.#ground.signal.aborted && end.outcome !== 'done')) return;
    this.#ends.add(name, end, () => fact && this.#tell(fact, told));
  }

  /** Tells a fact, but not what begins or ends only because this head leaves: that goes on under the next one. */
  #emit(fact: RunFact, told: ToldEvents): void {
    const isLeaving = this.#ground.signal.aborted || this.#failure !== undefined;
    if (isLeaving && isLettingGo(fact)) return;
    // Whether something is done, the lock tells every head.
    if (fact.event === 'step-finished' && fact.outcome !== 'done') this.#untold.set(fact.address, fact);
    else this.#tell(fact, told);
  }

  #tell(fact: RunFact, told: ToldEvents): void {
    if (told.note(fact)) this.#events.add({ at: new Date(this.#ground.clock.now()).toISOString(), ...fact });
  }

  /** Tells the beginning of the run; then what is on record, and died with the head that was about to tell it. */
  #tellBefore({ header, lock, resumed: { plan, ends }, told }: Found): void {
    this.#tell(
      {
        event: 'run-started',
        version: 1,
        campaign: plan.campaign,
        steps: countSteps(header.plan),
        concurrency: plan.concurrency,
        totals: this.#record.totals,
        tasks: header.outline.tasks,
      },
      told,
    );
    for (const fact of factsBefore(plan, ends, { lock, told })) this.#tell(fact, told);
  }

  async #end({ header, resumed, told }: Found, carried: CarriedOut, ends: ReadonlyMap<string, StepEnd>): Promise<void> {
    const { db, clock } = this.#ground;
    const found = endOfRun({
      plan: header.plan,
      ends,
      carried,
      interrupted: this.#isCancelled,
      needsPeople: false,
      held: resumed.plan.totals.held,
      elapsedMs: clock.now() - this.#record.submitted.getTime(),
      earlier: {
        spent: resumed.spentBefore,
        stopped: told.stopped,
        hasStopped: (because) => told.hasStopped(because),
        balance: told.balance,
      },
    });
    const { exit, outcomes } = found;
    const end = { at: new Date(clock.now()).toISOString(), ...found.end };
    this.#events.add(end);
    await this.#events.flush();
    await endRun(db, this.#term, { exit, outcomes: Object.fromEntries(outcomes), end });
  }

  /** Gives up: nothing counts any more, work under way runs to its end, and the next head finds what became of it. */
  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#carried?.gate.stop('error', messageOf(error));
  }
}

/** Adds what earlier heads of the run were charged to a fact: it is told as this one's. */
function withBefore(fact: RunFact, { spentBefore, spent, told }: ResumedPlan & { told: ToldEvents }): RunFact {
  if (fact.event === 'credits-changed') {
    return { ...fact, spentNow: fact.spentNow + spentBefore, balance: fact.balance ?? told.balance };
  }
  if (fact.event !== 'step-finished') return fact;
  return { ...fact, credits: addUp(fact.credits, spent.get(fact.address)) };
}

function addUp(credits: number | null, before: number | null = 0): number | null {
  return credits === null || before === null ? null : credits + before;
}

function withOrder(row: PlanRow, orders: ReadonlyMap<string, StepOrder>): PlanRow {
  const order = orders.get(rowId(row));
  return order === undefined || !isWork(row) ? row : { ...row, order };
}
