/*
 * The application without a terminal: load, plan, approve, run, decide. `src/index.ts` exports it as the library.
 * Takes: a manifest's path, options, and the environment as values.
 * Returns: plans, events, ends of runs, or a `CampaignError` with what was seen and what to do.
 * May not know: arguments, colours, exit codes, process signals. Only here do disk, service and engine meet.
 */

import { systemClock } from '../contract/clock.ts';
import type { RunEvent } from '../contract/event.ts';
import { CampaignError, failureOf, orFailure } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import { call, way } from '../ground/advice.ts';
import { Scope } from '../ground/scope.ts';
import { messageOf } from '../ground/values.ts';
import { hasWork, publishes } from '../plan/actions.ts';
import { type Agreement, agreementOf, findUncovered } from '../plan/agreement.ts';
import type { Plan } from '../plan/plan.ts';
import { allowPosts, withholdPosts } from '../plan/posts/post-consent.ts';
import { isBought, withholdPurchases } from '../plan/prices/spend-consent.ts';
import type { Applied, ApplyGraphOptions } from './apply-options.ts';
import type { Carrier, Running } from './carrier.ts';
import { carryHere } from './carry-here.ts';
import { checkCall } from './check-call.ts';
import { checkSettings } from './check-options.ts';
import { graphOf } from './checked-graph.ts';
import { type Held, holdAndPlan } from './hold-and-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { pickPlanningOptions, pickRunSettings, type RehearsalOptions, type RunSettings } from './options.ts';
import type { Planned } from './plan.ts';
import { recordRun } from './record-run.ts';
import type { Ending, RunResult } from './run.ts';
import { keepIndex } from './save-outputs-list.ts';

export interface ApplyOptions extends RunSettings, Pick<Ending, 'signal'> {
  /** Receives every event as it happens. */
  on?: ((event: RunEvent) => void) | undefined;
  /** How long to wait for another run on the same lock, in ms. Defaults to no wait. */
  lockTimeoutMs?: number | undefined;
  /** The embedded service, for a campaign that was loaded with `sandbox`. */
  rehearsal?: RehearsalOptions | undefined;
}

/**
 * Carries a plan out: buys what the plan names, watches the jobs, saves their files, and updates the lock. Buys
 * nothing that the plan does not name: when lock or outputs have changed so that other purchases would be needed, it
 * throws before anything is sent. Collects the purchases of an interrupted run instead of repeating them.
 */
export async function apply(planned: Planned, options: ApplyOptions = {}): Promise<RunResult> {
  checkCall('apply', [planned, options]);
  const { campaign, redo, selected } = planned;
  if (options.rehearsal !== undefined && !campaign.sandbox) {
    throw new CampaignError({
      code: 'MB3000',
      message: 'rehearsal goes with a campaign that was loaded with `sandbox` only',
      hint: 'this one would be carried out with real credits; nothing was sent',
      options: ['rehearsal'],
    });
  }
  const { lockTimeoutMs, rehearsal } = options;
  const agreement = agreementOf(planned.plan);
  const work = applyGraph(campaign, {
    check: async () => graphOf(campaign.checked, campaign, campaign.checked),
    ...pickRunSettings(options),
    ...pickPlanningOptions(planned.options),
    lockTimeoutMs,
    rehearsal,
    chosen: { redo, ...(selected && { selected }) },
    agreement,
    verify: (now) => refuseUncovered(agreement, now),
    agree: async (plan) => agreeByCall(plan, campaign, options),
    observe: async () => ({ on: listener(options.on, campaign.tell), signal: options.signal }),
  });
  const done = await orFailure(work);
  if (done.is !== 'ran') throw new Error('internal error: a plan that was agreed to did not run');
  return done.result;
}

/**
 * Returns the part of a plan that a library call consents to. Where a user must consent in person, no library call is
 * consent: purchases and posts are withheld, and if no output is left to collect, it throws MB3007.
 */
function agreeByCall(plan: Plan, { environment, file, sandbox }: OpenCampaign, { publish }: ApplyOptions): Plan {
  const { consent } = environment;
  if (sandbox || consent === undefined) return publish === true ? allowPosts(plan) : withholdPosts(plan);
  const collected = withholdPosts(withholdPurchases(plan)); // I43 (library)
  if (hasWork(collected) || !(plan.rows.some(isBought) || plan.rows.some(publishes))) return collected;
  throw new CampaignError({
    code: 'MB3007',
    message: `apply() bought and published nothing: ${consent}, and calling the library is not consent`,
    hint: [
      way('save the plan', { ...call('plan', '--out', 'campaign.plan.json'), file }),
      way('a user approves it on an interactive terminal', { ...call('approve', 'campaign.plan.json'), bare: true }),
      way('then apply the approved plan', { ...call('apply', 'campaign.plan.json'), bare: true }),
    ],
    next: [],
  });
}

/** Refuses a plan that buys more than its approval contains. */
export function refuseUncovered(agreement: Agreement, plan: Plan): void {
  const found = findUncovered(agreement, plan);
  if (found === undefined) return;
  const { text, addresses } = found;
  const hint = 'plan again; nothing was spent';
  throw new CampaignError({ code: 'MB3102', message: `the plan is stale: ${text}`, hint, addresses });
}

/** Wraps a listener so that it cannot fail the run. It is removed after its first exception. */
function listener(on: (event: RunEvent) => void = () => {}, tell: Tell): (event: RunEvent) => void {
  let isBroken = false;
  return (event) => {
    if (isBroken) return;
    const breakOff = (error: unknown) => {
      if (isBroken) return;
      isBroken = true;
      tell({ is: 'notice', text: `events are no longer reported, because their listener threw: ${messageOf(error)}` });
    };
    try {
      // An async listener returns a promise, whatever its type says.
      Promise.resolve(on(event)).catch(breakOff);
    } catch (error) {
      breakOff(error);
    }
  };
}

/**
 * Locks the campaign, plans, asks for approval, starts the plan and watches it. Attaches to the campaign's run if one
 * is under way.
 */
export async function applyGraph(campaign: OpenCampaign, given: ApplyGraphOptions): Promise<Applied> {
  checkSettings(given);
  const scope = new Scope();
  try {
    const { carrier, options } = await openCarrier(campaign, given, scope);
    const held = (await carrier.attach()) ?? (await holdOrAttach(carrier, campaign, options));
    if ('watch' in held) {
      const result = await watch(held, campaign, { options, scope });
      return { is: 'ran', made: held.plan, carriedOut: held.plan, result };
    }
    scope.add(() => held.guard.release());
    const plan = await options.agree(held.made, held);
    if (plan === 'no' || plan === 'interrupted') return { is: plan };
    const running = await carrier.start(plan, held);
    if ('result' in running) {
      await keepIndex(campaign, held.index);
      return { is: 'ran', made: held.made, carriedOut: plan, result: running.result };
    }
    const result = await watch(running, campaign, { options, scope });
    await campaign.seen.keep(held.finding);
    await keepIndex(campaign, held.index);
    return { is: 'ran', made: held.made, carriedOut: running.judge?.carriedOut ?? running.plan, result };
  } finally {
    await scope.close();
  }
}

/**
 * Takes the lock and plans. If the lock seems to be lost (MB3409), its outputs may belong to a run that has begun
 * elsewhere since this client last looked for one; this function then attaches to that run.
 */
export async function holdOrAttach(
  carrier: Carrier,
  campaign: OpenCampaign,
  options: ApplyGraphOptions,
): Promise<Running | Held> {
  try {
    return await holdAndPlan(campaign, options);
  } catch (error) {
    const begun = failureOf(error)?.code === 'MB3409' ? await carrier.attach() : undefined;
    if (begun === undefined) throw error;
    return begun;
  }
}

async function openCarrier(
  campaign: OpenCampaign,
  options: ApplyGraphOptions,
  scope: Scope,
): Promise<{ carrier: Carrier; options: ApplyGraphOptions }> {
  const { engine } = options;
  if (engine === undefined) return { carrier: carryHere(campaign, options, scope), options };
  const { carryOnEngine } = await import('./on-engine/carry-on-engine.ts');
  return carryOnEngine(campaign, { ...options, engine }, scope);
}

async function watch(
  running: Running,
  campaign: OpenCampaign,
  { options, scope }: { options: ApplyGraphOptions; scope: Scope },
): Promise<RunResult> {
  const { plan, judge, isWork, engineRun } = running;
  const { on, end, times, approved, ...ending } = await options.observe(running);
  if (end !== undefined) scope.add(end);
  const reviewed = judge && (await options.review?.(judge));
  if (reviewed !== undefined) scope.add(() => reviewed.end());
  const run = (record: (event: RunEvent) => void) => running.watch({ ...ending, on: record });
  return isWork ? recordRun(plan, campaign, { on, clock: systemClock, times, approved, engineRun, run }) : run(on);
}
