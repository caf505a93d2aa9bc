import { atMost, BrokenRunError, listenForStrayErrors } from '../cli/last-resort.ts';
import { makeRecorder } from '../cli/recorder.ts';
import { listenForInterruption } from '../cli/signals.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Clock } from '../contract/clock.ts';
import type { RunFact, StepOutcome } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import type { Ports, Service } from '../contract/ports.ts';
import type { EventSink } from '../disk/events-target.ts';
import type { Guard } from '../disk/lock/guard.ts';
import { createOutputs } from '../disk/outputs/outputs.ts';
import { SavedFiles } from '../disk/outputs/saved-files.ts';
import type { StatCache } from '../disk/outputs/stat-cache.ts';
import { keepDurations, readKeptDurations } from '../disk/state/kept-durations.ts';
import { createRequestBodies } from '../disk/state/request-bodies.ts';
import { LocalGate } from '../engine/create-gate.ts';
import { drive } from '../engine/drive.ts';
import { LocalLedger } from '../engine/local-ledger.ts';
import { ListLookUp, type LookUpTimes } from '../engine/lost-creates.ts';
import type { GraphOutline } from '../graph/outline.ts';
import type { Json } from '../ground/json.ts';
import { hasOpenSends } from '../lock/sends.ts';
import type { Plan } from '../plan/plan.ts';
import type { CreateRoutes } from '../service/create.ts';
import { Durations } from '../service/polling/durations.ts';
import type { Access } from './environment.ts';
import { exitCodeOf } from './exit-code.ts';
import type { LoadedLock } from './load.ts';
import { noService } from './no-service.ts';
import type { CampaignPaths } from './paths.ts';
import { openRunLock, settleLock } from './settle.ts';

export interface RunPlanOptions {
  outline: GraphOutline;
  loaded: LoadedLock;
  paths: CampaignPaths;
  guard: Guard;
  terminal: Terminal;
  /** Absent when nothing in the plan needs the service. */
  access: Access | undefined;
  /** It runs in this process. */
  isEmbedded: boolean;
  /** Digest of a send's id and the credential of this run. */
  accountOf(send: string): string | undefined;
  /** Digest of the service's address, for the lock's header. */
  service: string | undefined;
  clock: Clock;
  /** The plan as JSON when the result is wanted as one document on stdout. */
  json: Json | undefined;
  events: EventSink | undefined;
  pollInterval: 'auto' | number;
  requestTimeoutMs: number;
  createTimeoutMs: number;
  patienceMs: number;
  /** How long an empty account is waited for; 0: not at all. */
  creditWaitMs: number;
  /** What becomes of creates whose answers were lost. */
  onUnknown: 'ask' | 'hold';
  onError: 'continue' | 'finish';
  createRoutes: CreateRoutes;
  /** What is saved is noted there. */
  seen: StatCache;
}

/** Carries the plan out in this process: ports, reporters and signals are put together here, and taken apart again. */
export async function runPlan(plan: Plan, options: RunPlanOptions): Promise<ExitCode> {
  const { loaded, paths, clock, outline } = options;
  const startedAt = clock.now();
  const recorder = await makeRecorder(plan, options);
  const emit = (fact: RunFact) => recorder.on({ at: new Date(clock.now()).toISOString(), ...fact });
  const interruption = listenForInterruption((name) => {
    emit({ event: 'spending-stopped', because: 'signal', detail: name });
  });
  const stray = listenForStrayErrors();
  const lock = { ...loaded.lock, ...(options.service !== undefined && { service: options.service }) };
  const claims = options.access !== undefined || loaded.isMoved;
  const file = await openRunLock(paths.lock, { loaded, lock, claims });
  const gate = new LocalGate({ clock, places: 64, creditWaitMs: options.creditWaitMs, emit });
  const ledger = new LocalLedger({
    lock,
    file,
    bodies: createRequestBodies(paths.state),
    gate,
    totals: plan.totals,
    accountOf: options.accountOf,
    isAlone: () => options.guard.stillOurs(),
    emit,
  });
  const durations = new Durations(options.access === undefined ? {} : await readKeptDurations(paths.state));
  const service = await openServiceIfNeeded(options, durations);
  try {
    emit({
      event: 'run-started',
      version: 1,
      campaign: plan.campaign,
      steps: plan.rows.length,
      concurrency: plan.concurrency,
      totals: plan.totals,
      tasks: outline.tasks,
    });
    const lost = new ListLookUp({
      lock: () => ledger.lock,
      service: service ?? noService,
      clock,
      signal: interruption.signal,
      times: lookUpTimes(options),
      hold: options.onUnknown === 'hold',
      gate,
    });
    const ports: Ports = {
      ledger,
      gate,
      lost,
      service: service ?? noService,
      outputs: createOutputs(paths.outputs, {
        seen: options.seen,
        saved: new SavedFiles(paths.state, paths.outputs),
      }),
      clock,
      emit,
      signal: interruption.signal,
    };
    const work = drive(plan, ports, {
      concurrency: plan.concurrency,
      downloads: 16,
      onError: options.onError,
    });
    const settle = () => settleLock(file, { ledger, outline, loaded, emit });
    // Whatever went wrong, what this run knows is saved as far as the disk lets it.
    const guarded = work.catch(async (error: unknown) => {
      await settle().catch(() => {});
      throw error;
    });
    guarded.catch(() => {});
    const broken = stray.first.then(async () => {
      const { error } = stray.seen ?? {};
      gate.stop('error', error instanceof Error ? error.message : String(error));
      interruption.abort();
      await atMost(options.createTimeoutMs, guarded);
    });
    const ends = await Promise.race([guarded, broken, interruption.secondSignal.then(() => undefined)]);
    if (stray.seen !== undefined) {
      await settle().catch(() => {});
      throw stray.seen.error;
    }
    if (ends === undefined) return exitCodes.interrupted;

    await settle();
    const outcomes = [...ends.values()].map(({ outcome }) => outcome);
    const exit = exitCodeOf({
      plan,
      outcomes,
      stopped: gate.stopped,
      overBudget: ledger.overBudget,
      hasOpenSends: hasOpenSends(ledger.lock),
      interrupted: interruption.signal.aborted,
    });
    emit({
      event: 'run-ended',
      exit,
      outcomes: count(outcomes),
      kept: plan.rows.filter(({ action }) => action === 'keep').length,
      spentNow: ledger.budget.spentNow,
      spentEver: ledger.budget.spentEver,
      held: ledger.budget.held + plan.totals.held,
      balance: ledger.balance,
      elapsedMs: clock.now() - startedAt,
    });
    return exit;
  } catch (error) {
    throw new BrokenRunError(error, paths.lock);
  } finally {
    await recorder.end();
    await file.close();
    await service?.close();
    if (service !== undefined) await keepDurations(paths.state, durations.keep());
    interruption.stop();
    stray.stop();
  }
}

/**
 * The embedded sandbox answers, and lists, at once. Anything else may have a request on its way for as long as it may take: an
 * address of this machine may be a tunnel.
 */
function lookUpTimes({ isEmbedded, createTimeoutMs }: RunPlanOptions): LookUpTimes {
  const waits = isEmbedded
    ? { graceMs: 2000, gapMs: 500 }
    : { graceMs: Math.max(60_000, createTimeoutMs), gapMs: 10_000 };
  return { ...waits, fenceMs: 30_000 };
}

function count(outcomes: StepOutcome[]): { [outcome in StepOutcome]?: number } {
  const counts: { [outcome in StepOutcome]?: number } = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** What speaks HTTP is large: it is loaded when something is going to be asked. */
async function openServiceIfNeeded(
  { access, paths, pollInterval, ...options }: RunPlanOptions,
  durations: Durations,
): Promise<(Service & { close(): Promise<void> }) | undefined> {
  if (access === undefined) return undefined;
  const { createService } = await import('../service/service.ts');
  const pollIntervalMs = pollInterval === 'auto' ? {} : { pollIntervalMs: pollInterval };
  return createService({ ...access, ...options, ...pollIntervalMs, durations, folder: paths.folder });
}
