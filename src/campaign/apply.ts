import { systemClock } from '../contract/clock.ts';
import type { RunEvent } from '../contract/event.ts';
import { CampaignError, orFailure } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import { messageOf } from '../ground/values.ts';
import { isWork } from '../plan/actions.ts';
import { agreementOf } from '../plan/agreement.ts';
import { allowPosts, withholdPosts } from '../plan/post-consent.ts';
import type { Applied, ApplyGraphOptions } from './apply-options.ts';
import { checkSettings } from './check-options.ts';
import { graphOf } from './checked-graph.ts';
import { type RunningSandbox, sandboxKey } from './embed-sandbox.ts';
import { requireAccess } from './environment.ts';
import { holdAndPlan } from './hold-and-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { pickPlanningOptions, pickRunSettings, type RehearsalOptions, type RunSettings } from './options.ts';
import type { Planned } from './plan.ts';
import { recordRun } from './record-run.ts';
import { refuseUnplanned } from './refuse-unplanned.ts';
import { rehearse } from './rehearse.ts';
import { requireService } from './require-service.ts';
import { type Ending, type RunResult, runPlan } from './run.ts';

export interface ApplyOptions extends RunSettings, Pick<Ending, 'signal'> {
  /** Hears everything that happens, as it happens. */
  on?: ((event: RunEvent) => void) | undefined;
  /** How long another run on the same lock is waited for, in ms. Default: not at all. */
  lockTimeoutMs?: number | undefined;
  /** The embedded service, for a campaign that was loaded with `sandbox`. */
  rehearsal?: RehearsalOptions | undefined;
}

/**
 * Carries a plan out: creates what it buys, watches the jobs, saves their files, and keeps the lock. Only what the plan
 * names is bought: when lock or outputs have changed since so that anything else would be, it throws, and nothing is sent.
 * Purchases of an interrupted run are collected, and not made again.
 */
export async function apply(planned: Planned, options: ApplyOptions = {}): Promise<RunResult> {
  const { campaign, redo, selected } = planned;
  if (options.rehearsal !== undefined && !campaign.sandbox) {
    throw new CampaignError({
      code: 'MB3001',
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
    verify: (plan) => refuseUnplanned(agreement, plan),
    agree: async (plan) => (options.publish === true ? allowPosts(plan) : withholdPosts(plan)),
    observe: async () => ({ on: listener(options.on, campaign.tell), signal: options.signal }),
  });
  const done = await orFailure(work);
  if (done.is !== 'ran') throw new Error('internal error: a plan that was agreed to did not run');
  return done.result;
}

/** A listener that cannot break a run: once it has thrown it hears nothing more. */
function listener(on: (event: RunEvent) => void = () => {}, tell: Tell): (event: RunEvent) => void {
  let isBroken = false;
  return (event) => {
    if (isBroken) return;
    const breakOff = (error: unknown) => {
      if (isBroken) return;
      isBroken = true;
      tell({ is: 'notice', text: `no more events are told, because their listener threw: ${messageOf(error)}` });
    };
    try {
      // One that is async gives a promise, whatever its type says.
      Promise.resolve(on(event)).catch(breakOff);
    } catch (error) {
      breakOff(error);
    }
  };
}

/** Plans while the campaign is held, asks, runs, writes the lock. */
export async function applyGraph(campaign: OpenCampaign, options: ApplyGraphOptions): Promise<Applied> {
  checkSettings(options);
  if (options.engine !== undefined) {
    const { applyOnEngine } = await import('./on-engine/apply-on-engine.ts');
    return applyOnEngine(campaign, { ...options, engine: options.engine });
  }
  const { sandbox, environment, paths, seen, tell } = campaign;
  const { made, outline, loaded, facts, guard, finding, makeLive } = await holdAndPlan(campaign, options);
  try {
    const plan = await options.agree(made);
    if (plan === 'no' || plan === 'interrupted') return { is: plan };
    // Where nothing happens, and nothing is to be decided, there is nothing to look at.
    const live = plan.rows.some(isWork) || plan.gates !== undefined ? makeLive?.(plan) : undefined;
    const waits = live !== undefined && plan.rows.some(({ later }) => later !== undefined);
    const needsService = waits || plan.rows.some(isWork);
    const access = needsService && !sandbox ? requireAccess(environment) : undefined;
    const asks = waits || made.rows.some((row) => isWork(row) && row.action !== 'move');
    if (access !== undefined && asks) {
      await requireService(access, { clock: systemClock, tell, proxied: environment.proxied === true });
    }
    let embedded: RunningSandbox | undefined;
    if (needsService && sandbox) {
      const given = options.rehearsal ?? {};
      embedded = await rehearse(made, { options: given, paths, lock: loaded.lock, withPicks: waits });
    }
    try {
      const { on, end, times, ...ending } = await options.observe(plan);
      try {
        const run = (hear: (event: RunEvent) => void) =>
          runPlan(plan, campaign, {
            ...options,
            ...ending,
            outline,
            loaded,
            guard,
            access: embedded === undefined ? access : { baseUrl: embedded.url, token: sandboxKey },
            clock: systemClock,
            createRoutes: facts.createRoutes,
            live,
            on: hear,
          });
        const reviewed = live && (await options.review?.(live));
        try {
          const recorded = { on, clock: systemClock, times, run };
          const result = await (needsService ? recordRun(plan, campaign, recorded) : run(on));
          await seen.keep(finding);
          return { is: 'ran', made, carriedOut: live?.carriedOut ?? plan, result };
        } finally {
          await reviewed?.end();
        }
      } finally {
        await end?.();
      }
    } finally {
      await embedded?.close();
    }
  } finally {
    await guard.release();
  }
}
