import { setMaxListeners } from 'node:events';
import { systemClock } from '../contract/clock.ts';
import { BrokenRunError } from '../contract/errors.ts';
import type { RunFact } from '../contract/event.ts';
import { exitCodes } from '../contract/exit.ts';
import { CampaignError } from '../contract/failure.ts';
import type { Downloads, Service } from '../contract/ports.ts';
import { localOutputs } from '../disk/outputs/outputs.ts';
import { keepDurations, readKeptDurations } from '../disk/state/caches.ts';
import { openPurchases } from '../disk/state/purchase-journal.ts';
import { createRequestBodies } from '../disk/state/request-bodies.ts';
import { type CarriedOut, type CarryOutOptions, carryOut } from '../engine/carry-out.ts';
import { reportSkipped } from '../engine/drive.ts';
import { endOfRun } from '../engine/end-of-run.ts';
import { lookUpTimes } from '../engine/lost-creates.ts';
import type { GraphOutline } from '../graph/graph.ts';
import type { Scope } from '../ground/scope.ts';
import { defined, messageOf } from '../ground/values.ts';
import { countForRun, isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { withoutUnneeded } from '../plan/rows/draft.ts';
import { partsOnRecord } from '../plan/situation/parts.ts';
import { Durations } from '../service/polling/durations.ts';
import { sandboxKey } from './embed-sandbox.ts';
import { type Access, requireAccess, requireService } from './environment.ts';
import { LiveRun } from './live-run.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { type RunSettings, settle } from './option-table.ts';
import { outputFilesOf } from './outputs-on-disk.ts';
import { type LoadedLock, openRunLock, settleLock } from './read-lock.ts';
import { rehearse } from './rehearse.ts';
import { nameOfPurchases } from './restore-purchases.ts';
import type { ApplyTerms, Executor, LockedPlan, Running, RunResult, Watching } from './run.ts';

const noService: Service & Downloads = {
  replays: () => false,
  clockAheadMs: unasked,
  create: unasked,
  newestJob: unasked,
  walkJobs: unasked,
  watch: unasked,
  open: unasked,
  upload: unasked,
};

function unasked(): never {
  throw new Error('internal error: the plan has no work for the service');
}

export function localExecutor(campaign: OpenCampaign, options: ApplyTerms, scope: Scope): Executor {
  return {
    attach: async () => undefined,
    async start(plan, held) {
      // A plan without steps and gates has nothing to review.
      const reviewed = plan.rows.some(isWork) || plan.gates !== undefined ? held.live : undefined;
      const judge = reviewed && new LiveRun({ ...reviewed, agreed: plan });
      const waits = judge !== undefined && plan.rows.some(({ later }) => later !== undefined);
      const needsService = waits || plan.rows.some(isWork);
      const access = needsService ? await openAccess(campaign, { options, held, waits, scope }) : undefined;
      return runningLocally(plan, campaign, { options, held, access, judge });
    },
  };
}

async function openAccess(
  campaign: OpenCampaign,
  { options, held, waits, scope }: { options: ApplyTerms; held: LockedPlan; waits: boolean; scope: Scope },
): Promise<Access> {
  const { sandbox, environment, notify } = campaign;
  if (sandbox) {
    const embedded = await rehearse(held, campaign, { waits, ...options.rehearsal });
    scope.add(() => embedded.close());
    return { baseUrl: embedded.url, token: sandboxKey };
  }
  const access = requireAccess(environment);
  if (waits || held.made.rows.some((row) => isWork(row) && row.action !== 'move')) {
    await requireService(access, notify);
  }
  return access;
}

interface LocalRun {
  options: ApplyTerms;
  held: Pick<LockedPlan, 'outline' | 'loaded' | 'guard' | 'facts'>;
  access: Access | undefined;
  judge?: LiveRun | undefined;
}

export function runningLocally(plan: Plan, campaign: OpenCampaign, here: LocalRun): Running {
  const { access, judge } = here;
  return { plan, isWork: access !== undefined, judge, watch: (observer) => runLocally(plan, campaign, here, observer) };
}

async function runLocally(plan: Plan, campaign: OpenCampaign, here: LocalRun, observer: Watching): Promise<RunResult> {
  const { options, held, access, judge } = here;
  const { paths, service: address, accountOf } = campaign;
  const { loaded, outline, guard } = held;
  const lock = { ...loaded.lock, ...defined({ service: address }) };
  const durations = new Durations(access === undefined ? {} : await readKeptDurations(paths));
  const file = await openRunLock(paths.lock, { loaded, lock, claims: access !== undefined || loaded.isMoved });
  let service: RunService | undefined;
  let purchases: Awaited<ReturnType<typeof openPurchases>>;
  // Durations are stored during the run, so that after a kill the next run can still show the remaining time.
  const learn = () => void keepDurations(paths, durations.keep()).catch(() => undefined);
  const learning = setInterval(learn, keepEveryMs).unref();
  try {
    purchases = access === undefined ? undefined : await openJournal(campaign, plan.campaign);
    service = access && (await openHttp(campaign, here, { access, durations }));
    const ports = {
      ...{ lock, file, accountOf, clock: systemClock, service: service ?? noService, purchases },
      bodies: createRequestBodies(paths.state),
      outputs: localOutputs(service ?? noService, outputFilesOf(campaign)),
      isAlone: () => guard.isStillHeld(),
      times: lookUpTimes(campaign.sandbox, settle(options)),
    };
    const { carried, result } = runPlan(plan, ports, { ...options, ...observer, outline, loaded, live: judge });
    const ended = await result;
    // An internal error of a step is thrown only here, after the other steps have finished.
    const [defect] = carried.driven.defects;
    if (defect !== undefined && ended.end !== undefined) throw defect;
    return ended;
  } catch (error) {
    throw new BrokenRunError(error, paths.lock);
  } finally {
    await file.close();
    await purchases?.close();
    await service?.close();
    await campaign.measures.keep();
    clearInterval(learning);
    if (service !== undefined) await keepDurations(paths, durations.keep());
  }
}

const keepEveryMs = 5000;

/** Throws MB3301 if a spending limit is set and the state directory is not writable. */
async function openJournal(campaign: OpenCampaign, name: string): ReturnType<typeof openPurchases> {
  const journal = nameOfPurchases(campaign, name);
  if (journal === undefined) return undefined;
  const { paths, environment, notify } = campaign;
  const { limits } = environment;
  const spending = { limits: limits ?? {}, lock: paths.lock };
  const opened = await openPurchases(journal, { clock: systemClock, spending });
  if (opened !== undefined) return opened;
  const folder = 'set XDG_STATE_HOME to a folder outside of any working tree';
  if (limits !== undefined) {
    throw new CampaignError({
      code: 'MB3301',
      message: 'MEDIABATCH_LIMIT cannot be enforced: this user has no writable state folder',
      hint: `${folder}; nothing was sent`,
      path: 'mediabatch/spending',
    });
  }
  const text =
    'purchases are not journaled: the state folder of this user is not writable. If the lock is lost, purchases cannot be restored';
  notify({ is: 'notice', text, hint: folder });
  return undefined;
}

type RunService = Service & Downloads & { close(): Promise<void> };

async function openHttp(
  { paths }: OpenCampaign,
  { options, held }: LocalRun,
  { access, durations }: { access: Access; durations: Durations },
): Promise<RunService> {
  const { requestTimeoutMs, createTimeoutMs, patienceMs = Number.POSITIVE_INFINITY, pollIntervalMs } = settle(options);
  const { createService } = await import('../service/service.ts');
  return createService({
    ...access,
    clock: systemClock,
    createRoutes: held.facts.createRoutes,
    durations,
    folder: paths.folder,
    requestTimeoutMs,
    createTimeoutMs,
    patienceMs,
    ...defined({ pollIntervalMs }),
  });
}

type Resumed = Pick<CarryOutOptions, 'ends' | 'learned' | 'onEnd'>;
type RunPorts = Omit<
  CarryOutOptions,
  'emit' | 'signal' | 'account' | 'waitForWork' | keyof RunSettings | keyof Resumed
>;

interface RunOptions extends RunSettings, Watching {
  outline: GraphOutline;
  loaded: Pick<LoadedLock, 'needsRewrite'>;
  live?: LiveRun | undefined;
  resumed?: Resumed | undefined;
}

/** Runs a plan in this process. `result` resolves after the lock is saved, or immediately when `leave` resolves. */
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
  const waitForWork = live && (() => live.waitForWork());
  const means = { ...ports, ...resumed, emit, signal, creditWaitMs, patienceMs, onUnknown, onError, waitForWork };
  const carried = carryOut(plan, means);
  live?.begin({ ...carried, signal, emit });
  const result = endRun(plan, carried, { run, ports, options, emit, interruption });
  return { carried, result: result.finally(() => interruption.stop()) };
}

interface RunUnderWay {
  startedAt: number;
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
  // After any error, the run tries to save its decisions and its lock.
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
    // The lock records each create request in flight as sent.
    run.isLeft = true;
    return { exit: exitCodes.interrupted, outcomes: new Map() };
  }
  await save();
  // Steps that waited for consent may have become unneeded during the run.
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

function followSignal(
  outer: AbortSignal | undefined,
  { onAbort, isMet }: { onAbort(reason: string): void; isMet(): boolean },
) {
  const controller = new AbortController();
  // Each sleep and each request adds a listener to the abort signal, so many listeners are not a leak.
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
