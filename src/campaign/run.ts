import { setMaxListeners } from 'node:events';
import type { RunEvent, RunFact, StepOutcome } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import type { SpendingLeft } from '../contract/spending.ts';
import type { Guard } from '../disk/lock/guard.ts';
import { type CarriedOut, type CarryOutOptions, carryOut } from '../engine/carry-out.ts';
import { reportSkipped } from '../engine/drive.ts';
import { endOfRun } from '../engine/end-of-run.ts';
import type { GraphOutline } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import { messageOf } from '../ground/values.ts';
import { countForRun } from '../plan/actions.ts';
import type { Agreement } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import type { WrittenPrices } from '../plan/prices/prices.ts';
import { withoutUnneeded } from '../plan/rows/block.ts';
import { partsOnRecord } from '../plan/situation/parts.ts';
import type { RunTimes } from '../report/run/remaining-time.ts';
import type { LiveRun, LiveRunOptions } from './live-run.ts';
import type { MakePlanOptions } from './make-plan.ts';
import { type RehearsalOptions, type RunSettings, settle } from './option-table.ts';
import { type LoadedLock, settleLock } from './read-lock.ts';
import type { SavedPlan } from './saved-plan.ts';
import type { ServiceFacts } from './service-facts.ts';
import type { HoldTerms } from './session.ts';

export interface Ending {
  /**
   * Aborted to end the run: nothing more is bought, requests in flight are awaited, everything is recorded. Its
   * reason is reported.
   */
  signal?: AbortSignal | undefined;
  /** Resolves when the run must end at once. Requests in flight stay on record as sent. */
  leave?: Promise<void> | undefined;
  /**
   * `first` resolves at the first unhandled error, which is in `seen` by then. The run ends as with `signal`, and
   * throws the error.
   */
  stray?: { first: Promise<void>; seen?: { error: unknown } } | undefined;
}

type RunPorts = Pick<
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

interface RunOptions extends RunSettings, Watching {
  outline: GraphOutline;
  loaded: Pick<LoadedLock, 'needsRewrite'>;
  live?: LiveRun | undefined;
  resumed?: Pick<CarryOutOptions, 'ends' | 'learned' | 'onEnd'> | undefined;
}

export interface RunResult {
  /** The exit code of the command; `help exit` explains the numbers. */
  exit: ExitCode;
  /** How each step ended, by address. Empty if the run did not wait for its end. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  /** Credits, balance and counts. Omitted if the run did not wait for its end. */
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

/**
 * Carries a plan out in this process. `result` resolves when the run has ended and the lock is settled, or when
 * `leave` has ended it at once.
 */
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
  /** Whether `leave` has ended the run. Later events are not reported, because they do not show how it ended. */
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
  // After any error, the run saves what it knows if the disk allows it.
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
    // Requests in flight are on record as sent.
    run.isLeft = true;
    return { exit: exitCodes.interrupted, outcomes: new Map() };
  }
  await save();
  // Steps that waited for consent may have become unneeded meanwhile.
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

/**
 * Makes a signal that follows `outer` and that the run itself can abort, too. `isMet`: the run has already ended as
 * requested, so the signal is not aborted.
 */
function followSignal(
  outer: AbortSignal | undefined,
  { onAbort, isMet }: { onAbort(reason: string): void; isMet(): boolean },
) {
  const controller = new AbortController();
  // Each sleep and each request adds a listener, so their number grows with the jobs and is no leak.
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

export interface ApplyTerms
  extends Omit<MakePlanOptions, 'isRun' | 'limitThere'>,
    RunSettings,
    Pick<HoldTerms, 'lockTimeoutMs' | 'askAboutMove'> {
  rehearsal?: RehearsalOptions | undefined;
  saved?: SavedPlan | undefined;
  isAskedAgain?: true | undefined;
  /** Earlier approval. Defaults to the approval of the saved plan, else to the answer given in this run. */
  agreement?: Agreement | undefined;
  review?: boolean | undefined;
  /** Digest of the plan's inputs other than files. Omitted if it is never compared. */
  given?: string | undefined;
  engine?: EngineChoice | undefined;
}

export interface EngineChoice {
  url: string;
  /** Destination of the workers' files, as the user wrote it. By default they come to the attached client. */
  store?: string | undefined;
}

export interface Held {
  made: Plan;
  outline: GraphOutline;
  prices: WrittenPrices;
  loaded: LoadedLock;
  facts: ServiceFacts;
  misspelt: string | undefined;
  guard: Pick<Guard, 'stillOurs'>;
  finding: Json | undefined;
  index?: string;
  live?: Omit<LiveRunOptions, 'agreed'>;
}

export interface Watching extends Ending {
  on(event: RunEvent): void;
}

export interface Observer extends Watching {
  times?: RunTimes | undefined;
  approved?: { by: string; at: string } | undefined;
}

export interface Carrier {
  limitThere?: SpendingLeft | undefined;
  /** The open run of this campaign, or a run whose end is not recorded here. Undefined if there is none. */
  attach(): Promise<Running | undefined>;
  /** Prepares an approved plan while the lock is held. `result`: the run has already ended. */
  start(plan: Plan, held: Held): Promise<Running | { result: RunResult }>;
}

export interface Running {
  plan: Plan;
  isWork: boolean;
  engineRun?: string;
  filesStay?: boolean;
  judge?: LiveRun | undefined;
  /** Called once. Resolves when the run has ended and the lock is settled, or when the client has left the run. */
  watch(observer: Watching): Promise<RunResult>;
}
