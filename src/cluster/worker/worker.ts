import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import type { Clock } from '../../contract/clock.ts';
import { type EngineRun, type NotRunnable, type WorkerEvent, whyNot } from '../../contract/engine-state.ts';
import { LeadershipLostError } from '../../contract/errors.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import { messageOf } from '../../ground/values.ts';
import { protocol as ownProtocol, workChannel } from '../database/boss.ts';
import type { Database } from '../database/database.ts';
import {
  type LeaderBoss,
  type Leadership,
  longestSittingMs,
  offerLeadership,
  takeLeadership,
} from '../leader/account.ts';
import { forgottenAfter } from '../leader/account-spending.ts';
import { makeWakeUp, spread } from '../wake-up.ts';

/** Interval in ms between attempts to become leader while a run of the account is open. */
const pollMs = 1000;
/** Interval in ms between attempts to become leader while no run is open. A notification starts an attempt earlier. */
const idlePollMs = 20_000;
/** Interval in ms at which a worker that is ending checks whether the database server is reachable. */
const leaveMs = 250;
/** Number of polls after which a worker queues the leader job again, because it may be lost. */
const offerEvery = 30;
const failurePauses = [2000, 5000, 15_000, 60_000];

export interface LeaderOfRuns {
  run(): Promise<void>;
  creates?(): number;
}

/** A worker's task other than leading. Ends when `signal` is aborted. `isQuiet`: the account has no open runs. */
type Part = (signal: AbortSignal, isQuiet: () => boolean) => Promise<void>;

export interface WorkerOptions extends Registered {
  boss: LeaderBoss;
  signal: AbortSignal;
  exitWhenIdle: boolean;
  drain?: AbortSignal | undefined;
  redact(text: string): string;
  log(news: WorkerEvent): void;
  makeLeader(leadership: Leadership, signal: AbortSignal): LeaderOfRuns;
  parts: readonly Part[];
}

export async function work(options: WorkerOptions): Promise<void> {
  const { db, signal, log } = options;
  const ending = new AbortController();
  const either = AbortSignal.any([signal, ending.signal]);
  // Disables Node's warning about many listeners: each part of a worker adds a listener.
  setMaxListeners(0, either);
  const wakeUp = makeWakeUp({ clock: options.clock, isFor: (payload) => payload === options.account });
  const leaveChannel = db.listen(workChannel, wakeUp.onNotification);
  const state: State = { runs: 1, creates: () => 0 };
  const isQuiet = () => state.runs === 0;
  // The worker remains in the list of workers as long as it has requests in flight.
  const registered = register(options, { signal: ending.signal, isQuiet });
  const running = [registered, ...options.parts.map((part) => part(either, isQuiet))];
  for (const part of running) part.catch(() => ending.abort());
  const onSignal = () => {
    const creates = state.creates();
    if (creates > 0) log({ event: 'leaving', because: reasonOf(signal), creates });
  };
  const onDrain = () => {
    log({ event: 'draining', because: reasonOf(options.drain) });
    wakeUp.wake();
  };
  signal.addEventListener('abort', onSignal, { once: true });
  options.drain?.addEventListener('abort', onDrain, { once: true });
  try {
    await findWork(options, { signal: either, wakeUp, state });
    if (signal.aborted) log({ event: 'ending', because: reasonOf(signal) });
  } finally {
    signal.removeEventListener('abort', onSignal);
    options.drain?.removeEventListener('abort', onDrain);
    ending.abort();
    await unlessUnreachable(Promise.all(running), { db, signal: ending.signal });
    leaveChannel();
  }
}

export function reasonOf(signal: AbortSignal | undefined): string {
  return typeof signal?.reason === 'string' ? signal.reason : 'asked to';
}

interface State {
  creates(): number;
  runs: number;
}

interface Working {
  signal: AbortSignal;
  wakeUp: ReturnType<typeof makeWakeUp>;
  state: State;
}

async function findWork(options: WorkerOptions, { signal, wakeUp, state }: Working): Promise<void> {
  const { db, clock, log } = options;
  const tellOthers = makeReporter(options);
  for (let [looks, failures] = [0, 0]; ; looks += 1) {
    const open = await unlessUnreachable(readOpenRuns(db), { db, signal });
    if (open === undefined || signal.aborted) return;
    tellOthers(open);
    const runs = open
      .filter((some) => whyNotFor(some, options) === undefined)
      .reduce((sum, some) => sum + some.runs, 0);
    state.runs = runs;
    if (runs === 0 && (options.exitWhenIdle || options.drain?.aborted))
      return log({ event: 'ending', because: 'no run is open' });
    const take = async () => {
      if (looks % offerEvery === 0) await offerLeadership(options);
      return takeLeadership({ ...options, worker: options.id });
    };
    const leadership = runs > 0 ? await unlessUnreachable(take(), { db, signal }) : undefined;
    if (leadership === undefined) {
      await wakeUp.within(runs > 0 ? pollMs : spread(clock, idlePollMs), signal);
      continue;
    }
    const error = await sit(leadership, { options, runs, signal, state });
    failures = error === undefined ? 0 : failures + 1;
    if (error === undefined) continue;
    const againAfterMs = failurePauses[Math.min(failures, failurePauses.length) - 1] ?? 0;
    log({ event: 'failed', error, againAfterMs });
    await clock.sleep(againAfterMs, signal);
  }
}

async function unlessUnreachable<T>(
  work: Promise<T>,
  { db, signal }: { db: Database; signal: AbortSignal },
): Promise<T | undefined> {
  work.catch(() => {});
  let look: NodeJS.Timeout | undefined;
  const left = new Promise<undefined>((resolve) => {
    look = setInterval(() => signal.aborted && db.unreachableSince !== undefined && resolve(undefined), leaveMs);
  });
  return Promise.race([work, left]).finally(() => clearInterval(look));
}

interface Sitting {
  options: WorkerOptions;
  runs: number;
  signal: AbortSignal;
  state: State;
}

async function sit(leadership: Leadership, { options, runs, signal, state }: Sitting): Promise<string | undefined> {
  const { clock, log } = options;
  const { lease, epoch } = leadership;
  const left = new AbortController();
  const tired = new AbortController();
  const limit = setTimeout(() => tired.abort(), longestSittingMs);
  const leave = AbortSignal.any([signal, tired.signal, lease.lost]);
  const beats = lease.keep(() => leadership.beat(), {
    signal: left.signal,
    sleep: (ms, until) => clock.sleep(ms, until),
  });
  beats.catch(() => {});
  log({ event: 'leader', epoch, runs, waitMs: Math.ceil(leadership.waitMs()) });
  try {
    const head = options.makeLeader(leadership, leave);
    state.creates = () => head.creates?.() ?? 0;
    await head.run();
    if (lease.lost.aborted) throw new LeadershipLostError();
    log({ event: 'leader-left', why: await leadership.leave() });
    return undefined;
  } catch (error) {
    if (error instanceof LeadershipLostError || lease.lost.aborted) {
      lease.lose();
      log({ event: 'leader-left', why: 'taken over' });
      return undefined;
    }
    const text = options.redact(messageOf(error));
    log({ event: 'leader-left', why: await leadership.leave(text) });
    return text;
  } finally {
    clearTimeout(limit);
    left.abort();
    state.creates = () => 0;
    await beats.catch(() => {});
  }
}

type OpenRuns = Pick<EngineRun, 'account' | 'protocol' | 'store'> & { runs: number };

type WorkerProfile = Pick<WorkerOptions, 'account' | 'protocol' | 'store'>;

function readOpenRuns(db: Database): Promise<OpenRuns[]> {
  return db.query<OpenRuns>(
    `SELECT account, protocol, store, count(*)::int AS runs
     FROM mediabatch.run WHERE state = 'open' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );
}

function whyNotFor(open: OpenRuns, { account, protocol = ownProtocol, store }: WorkerProfile): NotRunnable | undefined {
  return whyNot(open, { account, protocol, store: store ?? null });
}

function makeReporter(taker: WorkerProfile & { log(news: WorkerEvent): void }) {
  let reported = '';
  return (open: readonly OpenRuns[]) => {
    const whys = new Set(open.flatMap((some) => whyNotFor(some, taker) ?? []));
    const now = [...whys].sort().join();
    if (now !== reported) for (const why of whys) taker.log({ event: 'not-runnable', why });
    reported = now;
  };
}

interface Registered {
  db: Database;
  clock: Clock;
  id: string;
  account: string;
  version: string;
  store?: string | undefined;
  files: number;
  limits?: SpendingLimits | undefined;
  protocol?: number;
}

const beatMs = 5000;
/** In ms. Heartbeat interval while no run of the account is open, because there may be hundreds of idle workers. */
const quietBeatMs = 10_000;

async function register(
  options: Registered,
  { signal, isQuiet }: { signal: AbortSignal; isQuiet(): boolean },
): Promise<void> {
  const { db, clock, id, limits } = options;
  await db.query(`DELETE FROM mediabatch.worker WHERE beat < now() - interval '${forgottenAfter}'`);
  while (!signal.aborted) {
    await beat(options, limits === undefined ? {} : { limits: { ...limits } });
    await clock.sleep(spread(clock, isQuiet() ? quietBeatMs : beatMs), signal);
  }
  if (db.unreachableSince === undefined) await db.query('DELETE FROM mediabatch.worker WHERE id = $1', [id]);
}

async function beat({ db, id, account, protocol = ownProtocol, ...facts }: Registered, doing: Json): Promise<void> {
  const { store = null, files, version } = facts;
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, store, files, version, doing, beat)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())
     ON CONFLICT (id) DO UPDATE SET beat = now(), doing = excluded.doing`,
    [id, account, hostname(), process.pid, protocol, store, files, version, JSON.stringify(doing)],
  );
}
