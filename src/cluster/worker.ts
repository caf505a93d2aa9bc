import type { Clock } from '../contract/clock.ts';
import { HeadLostError } from '../contract/errors.ts';
import type { WorkerNews } from '../contract/worker.ts';
import type { Json } from '../ground/json.ts';
import { messageOf } from '../ground/values.ts';
import { type HeadBoss, longestSittingMs, offerHead, type Seat, takeSeat } from './account.ts';
import type { Database } from './database.ts';
import { makeTeller, readOpenRuns, whyNot } from './open-runs.ts';
import { register } from './register.ts';
import { workChannel } from './runs.ts';

/** Between two looks for a free seat while runs of the account are open, in ms: a part of the time that a takeover takes. */
const lookMs = 1000;
/** The same while none is, in ms. What is submitted is told, so this is only for what was missed. */
const idleLookMs = 5000;
const failurePauses = [2000, 5000, 15_000, 60_000];

/** Drives all open runs of an account until none is, or the signal is aborted: then what is on the wire is awaited. */
export interface HeadOfRuns {
  run(): Promise<void>;
  /** What it is doing, for `mediabatch workers`. */
  facts?(): Json;
}

export interface WorkerOptions {
  db: Database;
  boss: HeadBoss;
  clock: Clock;
  /** Unique to this process. */
  id: string;
  account: string;
  version: string;
  /** Id of the store that it reaches. */
  store?: string | undefined;
  /** Files at once. */
  files: number;
  /** Default: that of this version. */
  protocol?: number;
  /** Aborted: hand over and end. Its reason is told. */
  signal: AbortSignal;
  /** End as soon as no run of the account is open. */
  exitWhenIdle: boolean;
  tell(news: WorkerNews): void;
  makeHead(seat: Seat, signal: AbortSignal): HeadOfRuns;
  /** Fetches files until the signal is aborted. */
  serveFiles?: ((signal: AbortSignal) => Promise<void>) | undefined;
}

/** Works for the engine until it is told to end: one of the hands, and the head of its account whenever the seat is free. */
export async function work(options: WorkerOptions): Promise<void> {
  const { db, signal, exitWhenIdle, tell } = options;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  const wakeUp = makeWakeUp(options);
  const listening = await db.listen(workChannel, wakeUp.hear);
  const state: { doing: () => Json } = { doing: () => ({ is: 'waiting' }) };
  const registered = register(options, { signal: either, doing: () => state.doing() });
  const serving = options.serveFiles?.(either);
  // A hand that fails ends the worker: a store that is gone is for a person to mend.
  serving?.catch(() => ending.abort());
  try {
    const tellOthers = makeTeller(options);
    for (let failures = 0; !either.aborted; ) {
      const open = await readOpenRuns(db);
      tellOthers(open);
      const runs = open.filter((some) => whyNot(some, options) === undefined).reduce((sum, some) => sum + some.runs, 0);
      if (runs === 0 && exitWhenIdle) {
        tell({ is: 'ending', because: 'no run is open' });
        break;
      }
      const seat = runs > 0 ? await findSeat(options) : undefined;
      if (seat === undefined) await wakeUp.within(runs > 0 ? lookMs : idleLookMs, either);
      else {
        const isWell = await sit(seat, { options, runs, signal: either, state });
        failures = isWell ? 0 : failures + 1;
        const pause = failurePauses[Math.min(failures, failurePauses.length) - 1] ?? 0;
        await options.clock.sleep(pause, either);
      }
    }
    if (signal.aborted) tell({ is: 'ending', because: typeof signal.reason === 'string' ? signal.reason : 'asked to' });
  } finally {
    ending.abort();
    await serving;
    await registered;
    await listening.close();
  }
}

/** A job that was deleted, because nobody took it for too long, is sent again. */
async function findSeat({ db, boss, account, id }: WorkerOptions): Promise<Seat | undefined> {
  await offerHead({ db, boss, account });
  return takeSeat({ db, boss, account, worker: id });
}

interface Sitting {
  options: WorkerOptions;
  runs: number;
  signal: AbortSignal;
  state: { doing: () => Json };
}

/** Is the head until no run is open, it is to end, or another is. Resolves with whether nothing went wrong. */
async function sit(seat: Seat, { options, runs, signal, state }: Sitting): Promise<boolean> {
  const { clock, tell } = options;
  const { lease, epoch } = seat;
  const left = new AbortController();
  const tired = new AbortController();
  const limit = setTimeout(() => tired.abort(), longestSittingMs);
  const leave = AbortSignal.any([signal, tired.signal, lease.lost]);
  const beats = lease.keep(() => seat.beat(), { signal: left.signal, sleep: (ms, until) => clock.sleep(ms, until) });
  beats.catch(() => {});
  tell({ is: 'head', epoch, runs, waitMs: seat.waitMs() });
  try {
    for (;;) {
      const head = options.makeHead(seat, leave);
      state.doing = () => ({ is: 'head', epoch, ...(head.facts && { facts: head.facts() }) });
      await head.run();
      if (lease.lost.aborted) throw new HeadLostError();
      if (leave.aborted) {
        await seat.handBack({ isClean: true });
        tell({ is: 'head left', why: 'handed over' });
        return true;
      }
      const how = await seat.leaveIfIdle();
      if (how === 'lost') throw new HeadLostError();
      if (how === 'left') {
        tell({ is: 'head left', why: 'no run is open' });
        return true;
      }
    }
  } catch (error) {
    const isLost = error instanceof HeadLostError || lease.lost.aborted;
    lease.lose();
    if (isLost) {
      tell({ is: 'head left', why: 'taken over' });
      return true;
    }
    tell({ is: 'failed', error: messageOf(error), againAfterMs: failurePauses[0] ?? 0 });
    await seat.handBack({ isClean: false });
    return false;
  } finally {
    clearTimeout(limit);
    left.abort();
    state.doing = () => ({ is: 'waiting' });
    await beats.catch(() => {});
  }
}

/** What is submitted, and what a head gives back, is told; nobody waits for the next look then. */
function makeWakeUp({ account, clock }: WorkerOptions) {
  let isDue = false;
  let wake = () => {};
  return {
    /** `undefined`: something may have been missed. */
    hear(payload: string | undefined) {
      if (payload !== undefined && payload !== account) return;
      isDue = true;
      wake();
    },
    async within(ms: number, signal: AbortSignal): Promise<void> {
      if (!isDue && !signal.aborted) {
        const woken = new AbortController();
        wake = () => woken.abort();
        signal.addEventListener('abort', wake, { once: true });
        await clock.sleep(ms, woken.signal);
        signal.removeEventListener('abort', wake);
      }
      isDue = false;
    },
  };
}
