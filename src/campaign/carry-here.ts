import { join } from 'node:path';
import { systemClock } from '../contract/clock.ts';
import { BrokenRunError } from '../contract/errors.ts';
import { CampaignError } from '../contract/failure.ts';
import type { Downloads, Service } from '../contract/ports.ts';
import { keepDurations, readKeptDurations } from '../disk/state/caches.ts';
import { openPurchases } from '../disk/state/purchase-journal.ts';
import { createRequestBodies } from '../disk/state/request-bodies.ts';
import { fetchHere } from '../engine/carry-out.ts';
import { lookUpTimes } from '../engine/lost-creates.ts';
import { findReferences } from '../graph/render/fingerprint.ts';
import { call, way } from '../ground/advice.ts';
import type { Scope } from '../ground/scope.ts';
import { defined, type JsonMap } from '../ground/values.ts';
import { requireKind } from '../kinds/index.ts';
import { listPrice } from '../kinds/list-price.ts';
import type { Lock } from '../lock/record.ts';
import { isSpending, isWork } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { countOf } from '../report/numbers.ts';
import { Durations } from '../service/polling/durations.ts';
import { embedSandbox, type RunningSandbox, sandboxKey } from './embed-sandbox.ts';
import { type Access, requireAccess, requireService } from './environment.ts';
import { LiveRun } from './live-run.ts';
import { outputFilesOf } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { settle } from './option-table.ts';
import { shownPath } from './paths.ts';
import { openRunLock } from './read-lock.ts';
import { nameOfPurchases } from './restore-purchases.ts';
import {
  type ApplyTerms,
  type Carrier,
  type Held,
  type Running,
  type RunResult,
  runPlan,
  type Watching,
} from './run.ts';
import { readKeptListings } from './service-facts.ts';

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

export function carryHere(campaign: OpenCampaign, options: ApplyTerms, scope: Scope): Carrier {
  return {
    attach: async () => undefined,
    async start(plan, held) {
      // Without work and without gates there is nothing to review.
      const reviewed = plan.rows.some(isWork) || plan.gates !== undefined ? held.live : undefined;
      const live = reviewed && new LiveRun({ ...reviewed, agreed: plan });
      const waits = live !== undefined && plan.rows.some(({ later }) => later !== undefined);
      const needsService = waits || plan.rows.some(isWork);
      const access = needsService ? await openService(campaign, { options, held, waits, scope }) : undefined;
      return runningHere(plan, campaign, { options, held, access, judge: live });
    },
  };
}

interface Here {
  options: ApplyTerms;
  held: Pick<Held, 'outline' | 'loaded' | 'guard' | 'facts'>;
  access: Access | undefined;
  judge?: Running['judge'];
}

export function runningHere(plan: Plan, campaign: OpenCampaign, here: Here): Running {
  const { access, judge } = here;
  return { plan, isWork: access !== undefined, judge, watch: (observer) => runHere(plan, campaign, here, observer) };
}

async function runHere(plan: Plan, campaign: OpenCampaign, here: Here, observer: Watching): Promise<RunResult> {
  const { options, held, access, judge } = here;
  const { paths, service: address, accountOf } = campaign;
  const { loaded, outline, guard } = held;
  const lock = { ...loaded.lock, ...defined({ service: address }) };
  const durations = new Durations(access === undefined ? {} : await readKeptDurations(paths));
  const file = await openRunLock(paths.lock, { loaded, lock, claims: access !== undefined || loaded.isMoved });
  let service: RunService | undefined;
  let purchases: Awaited<ReturnType<typeof openPurchases>>;
  // A run that is killed leaves what it learned, so that the next one can show the time left.
  const learn = () => void keepDurations(paths, durations.keep()).catch(() => undefined);
  const learning = setInterval(learn, keepEveryMs).unref();
  try {
    purchases = access === undefined ? undefined : await openJournal(campaign, plan.campaign);
    service = access && (await openHttp(campaign, here, { access, durations }));
    const ports = {
      ...{ lock, file, accountOf, clock: systemClock, service: service ?? noService, purchases },
      bodies: createRequestBodies(paths.state),
      outputs: fetchHere(service ?? noService, outputFilesOf(campaign)),
      isAlone: () => guard.stillOurs(),
      times: lookUpTimes(campaign.sandbox, settle(options)),
    };
    const { carried, result } = runPlan(plan, ports, { ...options, ...observer, outline, loaded, live: judge });
    const ended = await result;
    // The other steps have finished, so the defect is reported now.
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

/**
 * Opens the purchase journal. Without a state folder the run continues after one notice, and its purchases are in the
 * lock alone. With a spending limit a missing state folder is MB3301.
 */
async function openJournal(campaign: OpenCampaign, name: string): ReturnType<typeof openPurchases> {
  const journal = nameOfPurchases(campaign, name);
  if (journal === undefined) return undefined;
  const { paths, environment, tell } = campaign;
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
    'no purchase journal is kept: the state folder of this user cannot be written. A lost lock is not restored';
  tell({ is: 'notice', text, hint: folder });
  return undefined;
}

type RunService = Service & Downloads & { close(): Promise<void> };

async function openHttp(
  { paths }: OpenCampaign,
  { options, held }: Here,
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

/** Opens the service client. `waits`: decisions during the run can need more requests than the plan has. */
async function openService(
  campaign: OpenCampaign,
  { options, held, waits, scope }: { options: ApplyTerms; held: Held; waits: boolean; scope: Scope },
): Promise<Access> {
  const { sandbox, environment, tell } = campaign;
  if (sandbox) {
    const embedded = await rehearse(campaign, { options, held, waits });
    scope.add(() => embedded.close());
    return { baseUrl: embedded.url, token: sandboxKey };
  }
  const access = requireAccess(environment);
  if (waits || held.made.rows.some((row) => isWork(row) && row.action !== 'move')) {
    await requireService(access, { clock: systemClock, tell });
  }
  return access;
}

const mostForOne = 100;
/** Credits of a new sandbox. Users know this number. */
const leastBalance = 1000;
const defaultSpeed = 5;

/** Starts the embedded service for a run. Its account covers the plan, unless its credits were given. */
async function rehearse(
  { paths, rehearsed }: OpenCampaign,
  { options, held, waits }: { options: ApplyTerms; held: Held; waits: boolean },
): Promise<RunningSandbox> {
  const { made, loaded } = held;
  const dataDir = join(paths.state, 'sandbox');
  const { credits: given, speed = defaultSpeed, failRate = 0 } = options.rehearsal ?? {};
  const listings = await readKeptListings({ paths, service: rehearsed });
  const priceOf = (kind: string, body: JsonMap) => listPrice(requireKind(kind), body, listings)?.likely;
  const running = await embedSandbox({ dataDir, port: 0, speed, failRate, rehearsal: { priceOf } });
  try {
    const gone = neededJobs(made, loaded.lock).filter(([, jobId]) => !running.knows(jobId));
    if (gone.length > 0) throw sandboxGone(gone, { lock: paths.lock, dataDir });
    const credits = given ?? Math.max(running.balance(), creditsToCover(made, waits));
    if (credits !== running.balance()) running.setBalance(credits);
    return running;
  } catch (error) {
    await running.close();
    throw error;
  }
}

function creditsToCover({ rows, totals }: Plan, withPicks: boolean): number {
  let most = 0;
  for (const { action, order, later, wouldCost } of rows) {
    if (later !== undefined && withPicks) most += (1 + (later.retries ?? 0)) * (wouldCost ?? mostForOne);
    if (order === undefined) continue;
    const purchases = (isSpending(action) ? 1 : 0) + (order.retries?.left ?? 0);
    most += purchases * (order.price.credits ?? mostForOne);
  }
  return Math.max(leastBalance, totals.budgetLeft ?? 0, most);
}

type NeededJob = readonly [address: string, jobId: string];

function neededJobs({ rows }: Plan, lock: Lock): NeededJob[] {
  const needed = new Map<string, string>();
  const spending = new Set(rows.filter(({ action }) => isSpending(action)).map(({ address }) => address));
  for (const { address, action, order } of rows) {
    if (order === undefined) continue;
    // The files of a move are on this disk.
    if (order.jobId !== undefined && action !== 'move') needed.set(address, order.jobId);
    if (!isSpending(action)) continue;
    for (const used of findReferences(order.request)) {
      const purchases = lock.steps.get(used)?.purchases ?? [];
      const jobId = purchases.find(({ state }) => state === 'done' || state === 'running')?.jobId;
      if (jobId !== undefined && !spending.has(used)) needed.set(used, jobId);
    }
  }
  return [...needed];
}

const mostNamed = 20;

/** Error for jobs that the sandbox no longer has, because a run would poll each of them until it gives up. */
function sandboxGone(gone: readonly NeededJob[], { lock, dataDir }: { lock: string; dataDir: string }): CampaignError {
  const names = gone.length > mostNamed ? ['*'] : gone.map(([address]) => address);
  return new CampaignError({
    code: 'MB3404',
    message: `${shownPath(lock)} belongs to a sandbox that no longer exists: ${shownPath(dataDir)} does not have ${countOf(gone.length, 'job')} that this run needs (it was deleted, or the lock is from another machine)`,
    hint: way('only sandbox credits are lost; create them again', call('forget', ...names, '--force')),
    lock: shownPath(lock),
  });
}
