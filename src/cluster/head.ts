import { setMaxListeners } from 'node:events';
import { AccountGate } from '../engine/account-gate.ts';
import { ListLookUp, type LookUpTimes } from '../engine/lost-creates.ts';
import { SharedSlots } from '../engine/shared-slots.ts';
import type { CreateRoutes } from '../service/create.ts';
import { Durations } from '../service/polling/durations.ts';
import { createService } from '../service/service.ts';
import type { Boss } from './boss.ts';
import { FileDesk } from './file-desk.ts';
import { HeadRun, type HeadRunGround } from './head-run.ts';
import { guardCreates } from './lease.ts';
import type { RunRecord } from './run-record.ts';
import { openRunsOf, runChannel, workChannel } from './runs.ts';
import { makeWakeUp } from './wake-up.ts';
import type { HeadOfRuns } from './worker.ts';

export interface HeadOptions extends Omit<HeadRunGround, 'service' | 'shared' | 'routes' | 'desk'> {
  boss: Pick<Boss, 'createQueue' | 'insert'>;
  access: { baseUrl: string; token: string };
}

/** Between two looks for runs that were submitted or cancelled, in ms. Both are told; this is for what was missed. */
const lookMs = 1000;
/** Creates of the account on the wire at once. */
const places = 64;

/**
 * Drives all open runs of an account: one service with its poller, one gate, one search for lost creates. What belongs to
 * a run alone – its budget, its lines, its ends – is in `HeadRun`.
 */
export class Head implements HeadOfRuns {
  readonly #options: HeadOptions;
  readonly #runs = new Map<string, HeadRun>();
  readonly #slots = new SharedSlots();
  readonly #desk: FileDesk;

  constructor(options: HeadOptions) {
    this.#options = options;
    this.#desk = new FileDesk({ ...options, epoch: options.seat.epoch });
  }

  facts(): { [name: string]: number } {
    return { runs: this.#runs.size, inFlight: this.#slots.taken, files: this.#desk.waiting };
  }

  /** Resolves when no run is open, or after the signal everything has come back. Rejects with the first failure. */
  async run(): Promise<void> {
    const { db, account, seat, clock, signal } = this.#options;
    const wakeUp = makeWakeUp({ clock, isFor: (payload) => payload === account || this.#runs.has(payload) });
    const leaving = new AbortController();
    // Everything of every run listens.
    setMaxListeners(0, leaving.signal);
    const leave = () => leaving.abort();
    for (const one of [signal, seat.lease.lost]) {
      if (one.aborted) leave();
      else one.addEventListener('abort', leave, { once: true });
    }
    const listening = await Promise.all([workChannel, runChannel].map((channel) => db.listen(channel, wakeUp.hear)));
    try {
      await this.#driveAll(leaving, wakeUp);
    } finally {
      signal.removeEventListener('abort', leave);
      await Promise.all(listening.map((one) => one.close()));
    }
  }

  async #driveAll(leaving: AbortController, wakeUp: ReturnType<typeof makeWakeUp>): Promise<void> {
    const { db, account } = this.#options;
    const first = await openRunsOf(db, account);
    const { ground, close } = this.#openGround(first, leaving.signal);
    const failures: unknown[] = [];
    const begin = (record: RunRecord) => {
      const run = new HeadRun(record, ground);
      this.#runs.set(record.id, run);
      const ended = run.drive().catch((error: unknown) => {
        failures.push(error);
        leaving.abort();
      });
      void ended.then(() => {
        this.#runs.delete(record.id);
        wakeUp.wake();
      });
    };
    try {
      for (let open = first; ; open = await openRunsOf(db, account)) {
        for (const record of open) {
          if (leaving.signal.aborted) break;
          if (!this.#runs.has(record.id)) begin(record);
          if (record.cancelled !== null) this.#runs.get(record.id)?.cancel();
        }
        const isOver = leaving.signal.aborted || open.length === 0;
        if (isOver && this.#runs.size === 0) break;
        await wakeUp.within(lookMs);
        while (leaving.signal.aborted && this.#runs.size > 0) await wakeUp.within(lookMs);
        if (leaving.signal.aborted) break;
      }
    } finally {
      await close();
    }
    if (failures.length > 0) throw failures[0];
  }

  /** What the runs share. Limits of the service are the most patient ones of the runs that are open at the beginning. */
  #openGround(first: readonly RunRecord[], signal: AbortSignal): { ground: HeadRunGround; close(): Promise<void> } {
    const { access, seat, clock } = this.#options;
    const most = (read: (record: RunRecord) => number | undefined, least: number) =>
      first.reduce((ms, record) => Math.max(ms, read(record) ?? least), 0) || least;
    const createTimeoutMs = most(({ settings }) => settings.createTimeoutMs, 120_000);
    const routes: { [kind: string]: CreateRoutes[string] } = {};
    const pollIntervalMs = first.find(({ settings }) => settings.pollIntervalMs !== undefined)?.settings.pollIntervalMs;
    const service = createService({
      ...access,
      clock,
      createRoutes: routes,
      durations: new Durations({}),
      requestTimeoutMs: most(({ settings }) => settings.requestTimeoutMs, 30_000),
      createTimeoutMs,
      patienceMs: most(({ settings }) => settings.patienceMs, Number.POSITIVE_INFINITY),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      mayCreate: () => seat.lease.isFresh(),
    });
    const creditWaitMs = most(({ settings }) => settings.creditWaitMs, 0);
    const gate = new AccountGate({ clock, places, creditWaitMs });
    const isPlay = first.every(({ sandbox }) => sandbox);
    const lost = new ListLookUp({
      records: () => this.#records(),
      service,
      clock,
      signal,
      times: lookUpTimes(isPlay, createTimeoutMs),
      hold: false,
      gate,
      notBefore: () => clock.now() + seat.waitMs(),
    });
    const shared = { gate, lost, slots: this.#slots };
    const ground = {
      ...this.#options,
      service: guardCreates(service, { lease: seat.lease, signal }),
      signal,
      shared,
      routes,
      desk: this.#desk,
    };
    const close = async () => {
      await Promise.all([service.close(), this.#desk.close()]);
    };
    return { ground, close };
  }

  /** What is on record of any run: jobs of one are no strangers to another. */
  *#records() {
    for (const run of this.#runs.values()) yield* run.records();
  }
}

/** As for a run on one machine. */
function lookUpTimes(isPlay: boolean, createTimeoutMs: number): LookUpTimes {
  const waits = isPlay ? { graceMs: 2000, gapMs: 500 } : { graceMs: Math.max(60_000, createTimeoutMs), gapMs: 10_000 };
  return { ...waits, fenceMs: 30_000 };
}
