import { setMaxListeners } from 'node:events';
import type { RunEvent, RunFact, StepOutcome } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import { type CarriedOut, type CarryOutOptions, carryOut } from '../engine/carry-out.ts';
import { reportSkipped } from '../engine/driven.ts';
import { endOfRun } from '../engine/end-of-run.ts';
import type { GraphOutline } from '../graph/graph.ts';
import { messageOf } from '../ground/values.ts';
import { countForRun } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { partsOnRecord, withoutUnneeded } from '../plan/rows/unneeded.ts';
import type { LiveRun } from './live-run.ts';
import { type RunSettings, settle } from './options.ts';
import type { LoadedLock } from './read-lock.ts';
import { settleLock } from './settle.ts';

/** How the outside world ends a run. */
export interface Ending {
  /** Aborted: nothing new is paid for, requests in flight are awaited, everything is recorded. Its reason is reported. */
  signal?: AbortSignal | undefined;
  /** Resolves when nobody waits any longer: what is on the wire stays on record as sent. */
  leave?: Promise<void> | undefined;
  /** Resolves at the first error that nobody awaits, which `seen` holds by then. The run ends as with `signal`, and throws it. */
  stray?: { first: Promise<void>; seen?: { error: unknown } } | undefined;
}

/** Ports through which a run uses disk, network and time. */
export type RunPorts = Pick<
  CarryOutOptions,
  | 'lock'
  | 'file'
  | 'bodies'
  | 'outputs'
  | 'service'
  | 'clock'
  | 'accountOf'
  | 'isAlone'
  | 'times'
  | 'creates'
  | 'purchases'
>;

export interface RunOptions extends RunSettings, Ending {
  outline: GraphOutline;
  loaded: Pick<LoadedLock, 'needsRewrite'>;
  /** People decide during the run. */
  live?: LiveRun | undefined;
  /** Progress of earlier leaders of the plan. Omitted for a new run. */
  resumed?: Pick<CarryOutOptions, 'ends' | 'learned' | 'onEnd'> | undefined;
  on(event: RunEvent): void;
}

export interface RunResult {
  /** The exit code of the command; `help exit` explains the numbers. */
  exit: ExitCode;
  /** How each step ended, by address. Empty when the run was left. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  /** Credits, balance and counts. Absent when the run was left. */
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

/** Carries a plan out in this process. `result` resolves when it has ended, and the lock is settled, or when it was left. */
export function runPlan(
  plan: Plan,
  ports: RunPorts,
  options: RunOptions,
): { carried: CarriedOut; result: Promise<RunResult> } {
  const { outline, live, on, resumed } = options;
  const run: RunUnderWay = { startedAt: ports.clock.now(), isLeft: false };
  const emit = (fact: RunFact) => {
    if (run.isLeft) return;
    const event = { at: new Date(ports.clock.now()).toISOString(), ...fact };
    on(event);
    live?.note(event);
  };
  emit({
    event: 'run-started',
    version: 1,
    campaign: plan.campaign,
    ...countForRun(plan, outline.tasks),
    concurrency: plan.concurrency,
    totals: plan.totals,
  });
  const interruption = followSignal(options.signal, {
    onAbort: (detail) => emit({ event: 'spending-stopped', because: 'signal', detail }),
    isMet: () => live?.stopWaiting() === true,
  });
  const { signal } = interruption;
  const { onUnknown, onError, creditWaitMs, patienceMs } = settle(options);
  const goesOn = live && (() => live.goesOn());
  const means = { ...ports, ...resumed, emit, signal, creditWaitMs, patienceMs, onUnknown, onError, goesOn };
  const carried = carryOut(plan, means);
  live?.begin({ ...carried, signal, emit });
  const result = endRun(plan, carried, { run, ports, options, emit, interruption });
  return { carried, result: result.finally(() => interruption.stop()) };
}

interface RunUnderWay {
  startedAt: number;
  /** Nobody waits any longer: what it would still say of itself is not how it ended. */
  isLeft: boolean;
}

async function endRun(
  plan: Plan,
  carried: CarriedOut,
  context: {
    run: RunUnderWay;
    ports: RunPorts;
    options: RunOptions;
    emit(fact: RunFact): void;
    interruption: ReturnType<typeof followSignal>;
  },
): Promise<RunResult> {
  const { run, ports, options, emit, interruption } = context;
  const { outline, loaded, live, on, stray, leave } = options;
  const { ledger, gate, driven } = carried;
  const save = async () => {
    await live?.close();
    await settleLock(ports.file, { ledger, outline, loaded, emit });
  };
  // Whatever went wrong, what this run knows is saved as far as the disk lets it.
  const guarded = driven.ends.catch(async (error: unknown) => {
    await save().catch(() => {});
    throw error;
  });
  guarded.catch(() => {});
  const broken = stray?.first.then(async () => {
    const { error } = stray.seen ?? {};
    gate.stop('error', messageOf(error));
    interruption.abort();
    await atMost(settle(options).createTimeoutMs, guarded);
  });
  const ends = await Promise.race([guarded, ...(broken ? [broken] : []), ...(leave ? [leave] : [])]);
  if (stray?.seen !== undefined) {
    await save().catch(() => {});
    throw stray.seen.error;
  }
  if (!(ends instanceof Map)) {
    // What is cut off now is on record as sent.
    run.isLeft = true;
    return { exit: exitCodes.interrupted, outcomes: new Map() };
  }
  await save();
  // What waited for consent may have turned out not to be needed meanwhile.
  const known = withoutUnneeded((await live?.end()) ?? plan, partsOnRecord(ledger.lock));
  for (const row of known.unneeded) reportSkipped(row, { emit });
  const { exit, outcomes, end } = endOfRun({
    plan: known.plan,
    ends,
    carried,
    interrupted: interruption.signal.aborted,
    needsPeople: live?.needsPeople === true,
    held: plan.totals.held,
    elapsedMs: ports.clock.now() - run.startedAt,
  });
  const ended = { at: new Date(ports.clock.now()).toISOString(), ...end };
  on(ended);
  live?.note(ended);
  const unneeded = known.unneeded.map(({ address }) => [address, 'unneeded'] as const);
  return { exit, outcomes: new Map([...outcomes, ...unneeded]), end: ended };
}

/** A signal of the run's own, which the run itself may abort, too. `isMet`: the wish is met without aborting anything. */
function followSignal(
  outer: AbortSignal | undefined,
  { onAbort, isMet }: { onAbort(reason: string): void; isMet(): boolean },
) {
  const controller = new AbortController();
  // Every sleep and every request listens; their number is that of the jobs, not a leak.
  setMaxListeners(0, controller.signal);
  const abort = () => {
    if (controller.signal.aborted || isMet()) return;
    controller.abort();
    onAbort(typeof outer?.reason === 'string' ? outer.reason : 'aborted');
  };
  if (outer?.aborted) abort();
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    abort: () => controller.abort(),
    stop: () => outer?.removeEventListener('abort', abort),
  };
}

/** Resolves with `work`, or when `ms` have passed. Never rejects. */
function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    work.then(done, done);
  });
}
