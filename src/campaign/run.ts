import { setMaxListeners } from 'node:events';
import type { Clock } from '../contract/clock.ts';
import { BrokenRunError } from '../contract/errors.ts';
import type { RunEvent, RunFact, StepOutcome } from '../contract/event.ts';
import { type ExitCode, exitCodes } from '../contract/exit.ts';
import type { Downloads, Service } from '../contract/ports.ts';
import type { Guard } from '../disk/lock/guard.ts';
import { keepDurations, readKeptDurations } from '../disk/state/kept-durations.ts';
import { createRequestBodies } from '../disk/state/request-bodies.ts';
import { carryOut } from '../engine/carry-out.ts';
import { endOfRun } from '../engine/end-of-run.ts';
import { fetchHere } from '../engine/fetch-here.ts';
import { lookUpTimes } from '../engine/lost-creates.ts';
import type { GraphOutline } from '../graph/outline.ts';
import { messageOf } from '../ground/values.ts';
import { countSteps } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import type { CreateRoutes } from '../service/create.ts';
import { Durations } from '../service/polling/durations.ts';
import type { Access } from './environment.ts';
import type { LiveRun } from './live-run.ts';
import { noService } from './no-service.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { type RunSettings, settle } from './options.ts';
import { outputsOf } from './outputs-of.ts';
import type { LoadedLock } from './read-lock.ts';
import { openRunLock, settleLock } from './settle.ts';

/** How the outside world ends a run. */
export interface Ending {
  /** Aborted: nothing new is paid for, what is on the wire is awaited, everything is recorded. Its reason is told. */
  signal?: AbortSignal | undefined;
  /** Resolves when nobody waits any longer: what is on the wire stays on record as sent. */
  leave?: Promise<void> | undefined;
  /** Resolves at the first error that nobody awaits, which `seen` holds by then. The run ends as with `signal`, and throws it. */
  stray?: { first: Promise<void>; seen?: { error: unknown } } | undefined;
}

export interface RunOptions extends RunSettings, Ending {
  outline: GraphOutline;
  loaded: LoadedLock;
  guard: Guard;
  /** Absent when nothing in the plan needs the service. */
  access: Access | undefined;
  clock: Clock;
  createRoutes: CreateRoutes;
  /** People decide during the run. */
  live?: LiveRun | undefined;
  on(event: RunEvent): void;
}

export interface RunResult {
  /** The exit code of the command; README explains the numbers. */
  exit: ExitCode;
  /** How each step ended, by address. Empty when the run was left. */
  outcomes: ReadonlyMap<string, StepOutcome>;
  /** Credits, balance and counts. Absent when the run was left. */
  end?: Extract<RunEvent, { event: 'run-ended' }>;
}

/** Carries the plan out in this process: disk and network become the ports of a run here, and are taken apart again. */
export async function runPlan(plan: Plan, campaign: OpenCampaign, options: RunOptions): Promise<RunResult> {
  const { loaded, outline, clock, on, access, live } = options;
  const { paths, service: address } = campaign;
  const startedAt = clock.now();
  const settings = settle(options);
  const stamp = <Fact extends RunFact>(fact: Fact) => ({ at: new Date(clock.now()).toISOString(), ...fact });
  let isLeft = false;
  const emit = (fact: RunFact) => {
    if (isLeft) return;
    const event = stamp(fact);
    on(event);
    live?.note(event);
  };
  const lock = { ...loaded.lock, ...(address !== undefined && { service: address }) };
  const durations = new Durations(access === undefined ? {} : await readKeptDurations(paths));
  const file = await openRunLock(paths.lock, { loaded, lock, claims: access !== undefined || loaded.isMoved });
  const interruption = followSignal(options.signal, {
    onAbort: (detail) => emit({ event: 'spending-stopped', because: 'signal', detail }),
    isMet: () => live?.stopWaiting() === true,
  });
  const { signal } = interruption;
  let service: RunService | undefined;
  try {
    service = await openServiceIfNeeded(campaign, options, { settings, durations });
    emit({
      event: 'run-started',
      version: 1,
      campaign: plan.campaign,
      steps: countSteps(plan),
      concurrency: plan.concurrency,
      totals: plan.totals,
      tasks: outline.tasks,
    });
    const { onUnknown, onError, creditWaitMs } = settings;
    const { ledger, gate, driven } = carryOut(plan, {
      lock,
      file,
      bodies: createRequestBodies(paths.state),
      outputs: fetchHere(service ?? noService, outputsOf(campaign)),
      service: service ?? noService,
      clock,
      emit,
      signal,
      accountOf: campaign.accountOf,
      isAlone: () => options.guard.stillOurs(),
      times: lookUpTimes(campaign.sandbox, settings),
      creditWaitMs,
      onUnknown,
      onError,
      goesOn: live && (() => live.goesOn()),
    });
    live?.begin({ ledger, gate, driven, signal, emit });
    const settle = () => settleLock(file, { ledger, outline, loaded, emit });
    // Whatever went wrong, what this run knows is saved as far as the disk lets it.
    const guarded = driven.ends.catch(async (error: unknown) => {
      await live?.close();
      await settle().catch(() => {});
      throw error;
    });
    guarded.catch(() => {});
    const { stray, leave } = options;
    const broken = stray?.first.then(async () => {
      const { error } = stray.seen ?? {};
      gate.stop('error', messageOf(error));
      interruption.abort();
      await atMost(settings.createTimeoutMs, guarded);
    });
    const ended = await Promise.race([guarded, ...(broken ? [broken] : []), ...(leave ? [leave] : [])]);
    if (stray?.seen !== undefined) {
      await live?.close();
      await settle().catch(() => {});
      throw stray.seen.error;
    }
    if (!(ended instanceof Map)) {
      // What is cut off now is on record as sent; what it would still say of itself is not how it ended.
      isLeft = true;
      return { exit: exitCodes.interrupted, outcomes: new Map() };
    }

    await live?.close();
    await settle();
    const carriedOut = (await live?.end()) ?? plan;
    const { exit, outcomes, end } = endOfRun({
      plan: carriedOut,
      ends: ended,
      carried: { ledger, gate, driven },
      interrupted: signal.aborted,
      needsPeople: live?.needsPeople === true,
      held: plan.totals.held,
      elapsedMs: clock.now() - startedAt,
    });
    const told = stamp(end);
    on(told);
    live?.note(told);
    // The others have gone on; now it is reported.
    if (driven.defects.length > 0) throw driven.defects[0];
    return { exit, outcomes, end: told };
  } catch (error) {
    throw new BrokenRunError(error, paths.lock);
  } finally {
    await file.close();
    await service?.close();
    if (service !== undefined) await keepDurations(paths, durations.keep());
    interruption.stop();
  }
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

type RunService = Service & Downloads & { close(): Promise<void> };

/** The HTTP client is large, so it is loaded only when the service is going to be called. */
async function openServiceIfNeeded(
  { paths }: OpenCampaign,
  { access, clock, createRoutes }: RunOptions,
  { settings, durations }: { settings: ReturnType<typeof settle>; durations: Durations },
): Promise<RunService | undefined> {
  if (access === undefined) return undefined;
  const { requestTimeoutMs, createTimeoutMs, patienceMs = Number.POSITIVE_INFINITY, pollIntervalMs } = settings;
  const { createService } = await import('../service/service.ts');
  return createService({
    ...access,
    clock,
    createRoutes,
    durations,
    folder: paths.folder,
    requestTimeoutMs,
    createTimeoutMs,
    patienceMs,
    ...(pollIntervalMs !== undefined && { pollIntervalMs }),
  });
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
