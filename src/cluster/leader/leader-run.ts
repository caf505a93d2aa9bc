import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../contract/clock.ts';
import type { WorkerEvent } from '../../contract/engine-state.ts';
import { failedOutcomes, type RunEvent, type RunFact } from '../../contract/event.ts';
import type { Downloads, LockFile, RequestBodies, Service } from '../../contract/ports.ts';
import { type CarriedOut, carryOut, type SharedAccount } from '../../engine/carry-out.ts';
import { endOfRun } from '../../engine/end-of-run.ts';
import { Batches } from '../../ground/batches.ts';
import { messageOf } from '../../ground/values.ts';
import { readLock } from '../../lock/read.ts';
import { type Lock, lockVersion, type StepRecord } from '../../lock/record.ts';
import { writeHeader } from '../../lock/write.ts';
import { countForRun, isWork } from '../../plan/actions.ts';
import { orderId, type PlanRow, type PlanTotals, rowId, type StepOrder } from '../../plan/plan.ts';
import { type ResumedPlan, resumePlan } from '../../run/resume-plan.ts';
import { addCredits } from '../../run/step.ts';
import { type StepEnd, stepFinished } from '../../run/step-end.ts';
import type { CreateRoutes } from '../../service/create.ts';
import type { Database } from '../database/database.ts';
import { changedPlan, type RunHeader, type RunRecord, readHeader, readOrders } from '../runs/run-record.ts';
import { endRun, readEnds, writeEnds } from '../runs/runs.ts';
import type { Seal } from '../seal.ts';
import { keepMark, type Marks, refusePutBack } from '../store/run-mark.ts';
import type { Leadership } from './account.ts';
import type { AccountSpending } from './account-spending.ts';
import type { FileDispatcher, OwnFetchWorker } from './file-dispatcher.ts';
import { eventsOfLeaving, ReportedEvents, unreportedEnds, workerEventOf } from './reported-events.ts';
import {
  held,
  insertEvents,
  openLines,
  RowWriter,
  type RunTerm,
  readAllLines,
  readEarlierLines,
  readEvents,
  writeAsLeader,
} from './rows.ts';

export interface LeaderRunGround {
  db: Database;
  account: string;
  leadership: Leadership;
  seal: Seal;
  dispatcher: FileDispatcher;
  own: (OwnFetchWorker & { marks: Marks }) | undefined;
  onSize(known: { steps: number }): void;
  log(news: WorkerEvent): void;
  accountOf(send: string): string | undefined;
  replays: 'yes' | 'no';
  clock: Clock;
  /** After an abort, the leader sends no create requests, and records the answers to requests in flight. */
  signal: AbortSignal;
  service: Service & Downloads;
  shared: SharedAccount;
  spending: AccountSpending;
  routes: { [kind: string]: CreateRoutes[string] };
}

const gatherMs = 100;

interface Found {
  header: RunHeader;
  lock: Lock;
  earlier: Lock;
  lines: number;
  resumed: ResumedPlan;
  reported: ReportedEvents;
}

export class LeaderRun {
  readonly #record: RunRecord;
  readonly #ground: LeaderRunGround;
  readonly #term: RunTerm;
  readonly #events: RowWriter;
  readonly #ends: Batches<{ id: string; end: StepEnd }>;
  #failure: { error: unknown } | undefined;
  #carried: CarriedOut | undefined;
  #isCancelled = false;
  #isPaused: boolean;

  constructor(record: RunRecord, ground: LeaderRunGround) {
    this.#record = record;
    this.#isPaused = record.paused !== null;
    this.#ground = ground;
    const { db, account, leadership } = ground;
    this.#term = { account, epoch: leadership.epoch, run: record.id };
    this.#events = new RowWriter(db, this.#term, { statement: insertEvents, gather: () => wait(gatherMs) });
    this.#ends = new Batches({
      gather: () => wait(gatherMs),
      write: (ended) => writeEnds(db, this.#term, new Map(ended.map(({ id, end }) => [id, end]))),
    });
  }

  records(): Iterable<StepRecord> {
    return this.#carried?.ledger.lock.steps.values() ?? [];
  }

  get hasBegun(): boolean {
    return this.#carried !== undefined;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.#carried?.gate.stop('signal', 'cancelled');
  }

  /** Stops create requests. The run ends when all running jobs are saved. A new `LeaderRun` can resume the run. */
  pause(): void {
    this.#isPaused = true;
    this.#carried?.gate.stop('signal', 'paused'); // I51
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** True while the leader hands the run over or pauses it. A step may then end only for that reason. */
  get #isLeaving(): boolean {
    return this.#ground.signal.aborted || this.#failure !== undefined || this.#isPaused;
  }

  /** Resolves when the run ends, is paused or is handed over. Rejects if this leader cannot continue the run. */
  async drive(): Promise<void> {
    const { db, signal } = this.#ground;
    const found = await this.#find();
    if (signal.aborted) return;
    await this.#ends.idle();
    this.#reportBefore(found);
    const lines = openLines(db, this.#term);
    const marks = this.#marks();
    const lock = () => this.#carried?.ledger.lock ?? found.lock;
    const marked = marks && keepMark(lines, marks, { run: this.#record.id, lines: found.lines, lock });
    const carried = this.#carryOut(found, marked ?? lines);
    this.#carried = carried;
    for (const { price, charged } of found.resumed.charges) carried.ledger.estimates.note(price, charged);
    if (this.#isCancelled) this.cancel();
    if (this.#isPaused) this.pause();
    try {
      const ends = await carried.driven.ends;
      await this.#ends.idle();
      if (!this.#isLeaving) await this.#end(found, carried, ends);
    } finally {
      carried.gate.close();
      await this.#events.idle();
      await Promise.all([lines.close(), marked?.idle()]);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #find(): Promise<Found> {
    const { db, seal, clock, accountOf, replays, spending } = this.#ground;
    const { id, settings, server } = this.#record;
    const header = await readHeader(db, seal, this.#record);
    this.#ground.onSize({ steps: header.plan.rows.length });
    Object.assign(this.#ground.routes, header.createRoutes);
    const orders = new Map<string, StepOrder>();
    for await (const order of readOrders(db, { ...this.#record, seal })) orders.set(orderId(order), order);
    if (orders.size !== header.orders) throw changedPlan(this.#record); // I50 (missing)
    const reported = new ReportedEvents();
    for await (const { events } of readEvents(db, id)) for (const event of events) reported.note(event);
    const rows = header.plan.rows.map((row) => withOrder(row, orders));
    const lines = await readAllLines(db, id);
    const lock = this.#fold(lines);
    await refusePutBack(db, this.#marks(), { run: id, server, lines: lines.length, lock });
    const all = [...orders.values()];
    const earlierLines = await readEarlierLines(db, this.#record, {
      keys: new Set(all.map(({ key }) => key)),
      fingerprints: new Set(all.map(({ fingerprint }) => fingerprint)),
    });
    const earlier = this.#fold(earlierLines);
    spending.addRun(this.#record, this.#fold([...earlierLines, ...lines]));
    const totals = withLimit(this.#record, spending.limits.run);
    const resumed = resumePlan(
      { ...header.plan, rows, totals },
      {
        ...{ now: clock.now(), accountOf, replays, onUnknown: settings.onUnknown, prices: header.prices },
        lock,
        before: this.#fold(await readAllLines(db, id, 'submitted')),
        ends: await readEnds(db, id),
      },
    );
    for (const [name, end] of resumed.newEnds) this.#store(name, end);
    return { header, resumed, lock, earlier, lines: lines.length, reported };
  }

  #marks(): Marks | undefined {
    const { own } = this.#ground;
    return own?.store === this.#record.store ? own.marks : undefined;
  }

  #fold(lines: readonly string[]): Lock {
    // The stored lines may lack a header, because the client's lock may have been empty.
    const texts = [writeHeader({ version: lockVersion }), ...lines];
    const name = `the lock of run ${this.#record.id}`;
    const { lock, diagnostics } = readLock(name, Buffer.from(texts.join('')), { isOnlyRead: true });
    const [wrong] = diagnostics.filter(({ severity }) => severity === 'error');
    if (wrong !== undefined) throw new Error(`the lock of this run on the engine is damaged: ${wrong.message}`);
    return lock;
  }

  #carryOut({ lock, earlier, resumed, reported }: Found, lines: LockFile): CarriedOut {
    const { db, seal, clock, signal, service, shared, accountOf, dispatcher, own } = this.#ground;
    const { id, settings } = this.#record;
    const { plan, ends, learned } = resumed;
    return carryOut(plan, {
      ...{ lock, ends, learned, service, clock, signal, accountOf },
      file: lines,
      bodies: openBodies(db, this.#term, seal),
      outputs: dispatcher.outputsOf(this.#record, own),
      emit: (fact) => this.#emit(withBefore(fact, { spentBefore: resumed.spentBefore, reported }), reported),
      // No check is needed here: each write of a lock line checks that this worker is still the leader.
      isAlone: () => Promise.resolve(true),
      times: { graceMs: 0, gapMs: 0, fenceMs: 0 },
      creditWaitMs: settings.creditWaitMs,
      onUnknown: settings.onUnknown,
      onError: settings.onError,
      account: { ...shared, run: id },
      purchases: this.#ground.spending.of(this.#record, earlier),
      onEnd: (name, end, order) => {
        const before = resumed.spent.get(name);
        const credits = before === undefined ? end.credits : addCredits(end.credits, before);
        this.#noteEnd(order, { ...end, credits }, reported);
      },
    });
  }

  /** Stores the end of a step before reporting it, so that another leader cannot store a different end. */
  #noteEnd(order: StepOrder, end: StepEnd, reported: ReportedEvents): void {
    if (this.#failure !== undefined || (this.#isLeaving && end.outcome !== 'done')) return;
    this.#store(orderId(order), end, () => this.#reportEnd(order, end, reported));
  }

  #reportEnd(order: StepOrder, end: StepEnd, reported: ReportedEvents): void {
    if (order.asksOnly || reported.ended.has(order.address)) return;
    const { outcome, error = '', unsaved } = end;
    const { campaign, id: run } = this.#record;
    if (failedOutcomes.includes(outcome) || unsaved)
      this.#ground.log({ event: 'step-failed', campaign, run, address: order.address, outcome, error });
    this.#appendEvent(stepFinished(order, end, this.#ground.clock.now()), reported);
  }

  #emit(fact: RunFact, reported: ReportedEvents): void {
    if (!this.#isLeaving || !eventsOfLeaving.includes(fact.event)) this.#appendEvent(fact, reported);
  }

  #appendEvent(fact: RunFact, reported: ReportedEvents): void {
    if (!reported.note(fact)) return;
    this.#log(fact);
    this.#report({ at: new Date(this.#ground.clock.now()).toISOString(), ...fact });
  }

  #report(event: RunEvent): void {
    this.#events.append(`${JSON.stringify(event)}\n`).catch((error: unknown) => this.#fail(error));
  }

  #store(id: string, end: StepEnd, then: () => void = () => {}): void {
    this.#ends
      .add({ id, end })
      .then(then)
      .catch((error: unknown) => this.#fail(error));
  }

  #log(fact: RunFact): void {
    const event = workerEventOf(fact, { campaign: this.#record.campaign, run: this.#record.id });
    if (event !== undefined) this.#ground.log(event);
  }

  #reportBefore({ header, lock, resumed: { plan, ends }, reported }: Found): void {
    this.#appendEvent(
      {
        event: 'run-started',
        version: 1,
        campaign: plan.campaign,
        ...countForRun(header.plan, header.outline.tasks),
        concurrency: plan.concurrency,
        totals: this.#record.totals,
      },
      reported,
    );
    for (const { order, end, before } of unreportedEnds(plan, ends, { lock, reported })) {
      for (const fact of before) this.#appendEvent(fact, reported);
      this.#reportEnd(order, end, reported);
    }
  }

  async #end(
    { header, resumed, reported }: Found,
    carried: CarriedOut,
    ends: ReadonlyMap<string, StepEnd>,
  ): Promise<void> {
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
        stopped: reported.stopped,
        hasStopped: (because) => reported.stops.has(because),
        balance: reported.balance,
      },
    });
    const { exit, outcomes } = found;
    const end = { at: new Date(clock.now()).toISOString(), ...found.end };
    this.#report(end);
    await this.#events.idle();
    await endRun(db, this.#term, { exit, outcomes: Object.fromEntries(outcomes), end });
    this.#log(found.end);
  }

  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = { error };
    this.#carried?.gate.stop('error', messageOf(error));
  }
}

function withBefore(
  fact: RunFact,
  { spentBefore, reported }: Pick<ResumedPlan, 'spentBefore'> & { reported: ReportedEvents },
): RunFact {
  if (fact.event !== 'credits-changed') return fact;
  return { ...fact, spentNow: fact.spentNow + spentBefore, balance: fact.balance ?? reported.balance };
}

function withLimit({ totals }: RunRecord, credits: number | undefined): PlanTotals {
  const { limit } = totals;
  if (credits === undefined || (limit !== undefined && limit.left <= credits)) return totals;
  return { ...totals, limit: { credits, per: 'run', left: credits } };
}

function withOrder(row: PlanRow, orders: ReadonlyMap<string, StepOrder>): PlanRow {
  const order = orders.get(rowId(row));
  return order === undefined || !isWork(row) ? row : { ...row, order };
}

/** Stores the body of each create request until its answer arrives, encrypted, because it contains signed links. */
export function openBodies(database: Database, term: RunTerm, seal: Seal): RequestBodies {
  const { run } = term;
  const drop = (key: string) => {
    const text = `${held}, gone AS (
        DELETE FROM mediabatch.body WHERE run = $3 AND key = $4 AND EXISTS (SELECT FROM held))
      SELECT count(*) AS held FROM held`;
    return writeAsLeader(database, term, text, [run, key]);
  };
  return {
    keep(key, body) {
      const text = `${held}, written AS (
          INSERT INTO mediabatch.body (run, key, epoch, sealed) SELECT $3::text, $4::text, epoch, $5::bytea FROM held
          ON CONFLICT (run, key) DO UPDATE SET epoch = excluded.epoch, sealed = excluded.sealed)
        SELECT count(*) AS held FROM held`;
      return writeAsLeader(database, term, text, [run, key, seal.seal(body)]);
    },
    async read(key) {
      const text = 'SELECT sealed FROM mediabatch.body WHERE run = $1 AND key = $2';
      const [row] = await database.query<{ sealed: Buffer }>(text, [run, key]);
      return row && seal.open(row.sealed);
    },
    drop,
    answered: drop,
  };
}
