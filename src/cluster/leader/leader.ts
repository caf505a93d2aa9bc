/*
 * The engine: the same run on PostgreSQL and pg-boss, loaded only when an engine is configured.
 * Takes: a submitted run as rows, and a worker's connections.
 * Returns: events and lock lines as rows, written only by the leader of the newest epoch (I31).
 * Independent of: a manifest, a terminal, rules of purchases. A run uses the loop, ledger and gate of `engine/`.
 */

import { setMaxListeners } from 'node:events';
import { LeadershipLostError } from '../../contract/errors.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import { AccountGate } from '../../engine/account-gate.ts';
import { ListLookUp, lookUpTimes } from '../../engine/lost-creates.ts';
import { defined, messageOf } from '../../ground/values.ts';
import type { CreateRoutes } from '../../service/create.ts';
import { Durations } from '../../service/polling/durations.ts';
import { createService } from '../../service/service.ts';
import { type Boss, workChannel } from '../database/boss.ts';
import type { RunRecord } from '../runs/run-record.ts';
import { noteRunError, openRunsOf } from '../runs/runs.ts';
import { makeWakeUp } from '../wake-up.ts';
import type { LeaderOfRuns } from '../worker/worker.ts';
import { guardCreates } from './account.ts';
import { AccountSpending } from './account-spending.ts';
import { FileDispatcher } from './file-dispatcher.ts';
import { LeaderRun, type LeaderRunGround } from './leader-run.ts';

interface LeaderOptions extends Omit<LeaderRunGround, 'service' | 'shared' | 'routes' | 'dispatcher' | 'spending'> {
  boss: Pick<Boss, 'createQueue' | 'insert'>;
  access: { baseUrl: string; token: string };
  limits?: SpendingLimits | undefined;
  redact(text: string): string;
}

interface Deferred {
  run: LeaderRun;
  error: unknown;
  againAt: number;
}

const pollMs = 1000;
const againAfterMs = 60_000;
const mostCreatesInFlight = 64;

/**
 * Runs all open runs of an account with one service client, one create gate and one search for lost creates. Each run
 * has its own budget and lock lines (`LeaderRun`).
 */
export class Leader implements LeaderOfRuns {
  readonly #options: LeaderOptions;
  readonly #runs = new Map<string, LeaderRun>();
  readonly #deferred = new Map<string, Deferred>();
  readonly #resting = new Set<string>();
  readonly #limits = { createTimeoutMs: 0, requestTimeoutMs: 0, patienceMs: 0 };
  readonly #dispatcher: FileDispatcher;
  #gate: AccountGate | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#dispatcher = new FileDispatcher({ ...options, epoch: options.leadership.epoch });
  }

  creates(): number {
    return this.#gate?.onWire ?? 0;
  }

  facts(): { runs: number; paused: number; inFlight: number } {
    const paused = [...this.#runs.values()].filter(({ isPaused }) => isPaused).length + this.#resting.size;
    return { runs: this.#runs.size, paused, inFlight: this.#gate?.slots.taken ?? 0 };
  }

  async run(): Promise<void> {
    const { db, account, leadership, clock, signal } = this.#options;
    const wakeUp = makeWakeUp({ clock, isFor: (payload) => payload === account });
    const failing = new AbortController();
    const leaving = AbortSignal.any([signal, leadership.lease.lost, failing.signal]);
    // Disables Node's warning about many listeners: each part of each run adds a listener.
    setMaxListeners(0, leaving);
    const leaveChannel = db.listen(workChannel, wakeUp.onNotification);
    try {
      await this.#driveAll(wakeUp, { leaving, fail: () => failing.abort() });
    } finally {
      leaveChannel();
    }
  }

  async #driveAll(
    wakeUp: ReturnType<typeof makeWakeUp>,
    { leaving, fail }: { leaving: AbortSignal; fail(): void },
  ): Promise<void> {
    const { db, account, clock } = this.#options;
    const first = await openRunsOf(db, account);
    const spending = await this.#openSpending();
    const { ground, close } = this.#openGround({ first, spending }, leaving);
    const failures: unknown[] = [];
    const leaveFor = (error: unknown) => {
      failures.push(error);
      fail();
    };
    const begin = (record: RunRecord) => {
      const run = new LeaderRun(record, ground);
      this.#runs.set(record.id, run);
      const ended = this.#drive(record, run, leaving).catch(leaveFor);
      void ended.then(() => {
        this.#runs.delete(record.id);
        if (run.isPaused) this.#resting.add(record.id);
        wakeUp.wake();
      });
    };
    try {
      for (let open = first; ; open = await openRunsOf(db, account)) {
        await spending.refresh();
        for (const record of open) {
          if (leaving.aborted) break;
          if (!this.#runs.has(record.id) && this.#mayBegin(record)) begin(record);
          if (record.cancelled !== null) this.#runs.get(record.id)?.cancel();
          else if (record.paused !== null) this.#runs.get(record.id)?.pause();
        }
        const isOver = leaving.aborted || open.length === 0;
        if (isOver && this.#runs.size === 0) break;
        // A deferred run that has begun needs a new leader, which reads all records again.
        const due = [...this.#deferred.values()].find(({ run, againAt }) => run.hasBegun && clock.now() >= againAt);
        if (due !== undefined && this.#runs.size === 0) leaveFor(due.error);
        else await wakeUp.within(pollMs);
        while (leaving.aborted && this.#runs.size > 0) await wakeUp.within(pollMs);
        if (leaving.aborted) break;
      }
    } finally {
      await Promise.all([close(), spending.idle()]);
    }
    if (failures.length > 0) throw failures[0];
  }

  #share({ settings }: RunRecord): void {
    const { createTimeoutMs, requestTimeoutMs, patienceMs = Number.POSITIVE_INFINITY } = settings;
    const limits = this.#limits;
    limits.createTimeoutMs = Math.max(limits.createTimeoutMs, createTimeoutMs);
    limits.requestTimeoutMs = Math.max(limits.requestTimeoutMs, requestTimeoutMs);
    limits.patienceMs = Math.max(limits.patienceMs, patienceMs);
  }

  async #openSpending(): Promise<AccountSpending> {
    const { db, account, clock, leadership, limits } = this.#options;
    const drives = (run: string) => this.#runs.has(run);
    const spending = await AccountSpending.open({ db, account, epoch: leadership.epoch, clock, own: limits, drives });
    leadership.reportSpent(() => spending.spent());
    return spending;
  }

  /** Returns true unless the run is paused or deferred. A deferred run that has begun needs a new leader. */
  #mayBegin({ id, paused }: RunRecord): boolean {
    if (paused === null) this.#resting.delete(id);
    else if (this.#resting.has(id)) return false;
    const deferred = this.#deferred.get(id);
    if (deferred === undefined) return true;
    if (deferred.run.hasBegun || this.#options.clock.now() < deferred.againAt) return false;
    return this.#deferred.delete(id);
  }

  /** Executes a run. Rejects if an error affects all runs. After any other error, defers only this run. */
  async #drive(record: RunRecord, run: LeaderRun, leaving: AbortSignal): Promise<void> {
    const { db, account, leadership, clock, redact, log } = this.#options;
    const term = { account, epoch: leadership.epoch, run: record.id };
    try {
      await leadership.allowCreates(record.settings.createTimeoutMs);
      this.#share(record);
      if (record.error !== null) await noteRunError(db, term, null);
      await run.drive();
    } catch (error) {
      if (error instanceof LeadershipLostError || leaving.aborted) throw error;
      const text = redact(messageOf(error));
      this.#deferred.set(record.id, { run, error, againAt: clock.now() + againAfterMs });
      await noteRunError(db, term, text);
      log({ event: 'run-deferred', campaign: record.campaign, run: record.id, error: text, againAfterMs });
    }
  }

  #openGround(
    { first, spending }: { first: readonly RunRecord[]; spending: AccountSpending },
    signal: AbortSignal,
  ): { ground: LeaderRunGround; close(): Promise<void> } {
    const { access, leadership, clock } = this.#options;
    const limits = this.#limits;
    for (const record of first) this.#share(record);
    const routes: { [kind: string]: CreateRoutes[string] } = {};
    const pollIntervalMs = first.find(({ settings }) => settings.pollIntervalMs !== undefined)?.settings.pollIntervalMs;
    // The service client reads `limits` at each call, because a run that starts later may raise them.
    const service = createService(
      Object.assign(limits, {
        ...access,
        clock,
        createRoutes: routes,
        durations: new Durations({}),
        ...defined({ pollIntervalMs }),
        mayCreate: () => leadership.lease.isFresh(),
      }),
    );
    const creditWaitMs = Math.max(0, ...first.map(({ settings }) => settings.creditWaitMs));
    const gate = new AccountGate({ clock, places: mostCreatesInFlight, creditWaitMs });
    this.#gate = gate;
    const lost = new ListLookUp({
      // Includes the jobs of all runs, so that the search does not assign the job of one run to another run.
      records: () => this.#records(),
      service,
      clock,
      signal,
      times: lookUpTimes(false, limits),
      gate,
      notBefore: () => clock.now() + leadership.waitMs(),
    });
    const shared = { gate, lost };
    const ground = {
      ...this.#options,
      service: guardCreates(service, { lease: leadership.lease, signal }),
      signal,
      shared,
      spending,
      routes,
      dispatcher: this.#dispatcher,
    };
    const close = () => {
      this.#dispatcher.close();
      return service.close();
    };
    return { ground, close };
  }

  *#records() {
    for (const run of this.#runs.values()) yield* run.records();
    for (const { run } of this.#deferred.values()) yield* run.records();
  }
}
