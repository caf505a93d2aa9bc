import { systemClock } from '../contract/clock.ts';
import type { RunEvent } from '../contract/event.ts';
import { CampaignError, orFailure } from '../contract/failure.ts';
import type { Tell } from '../contract/notice.ts';
import type { Graph } from '../graph/graph.ts';
import { outlineOf } from '../graph/outline.ts';
import type { Json } from '../ground/json.ts';
import { messageOf } from '../ground/values.ts';
import { isWork } from '../plan/actions.ts';
import type { OutputToCheck } from '../plan/assemble.ts';
import type { Plan } from '../plan/plan.ts';
import { allowPosts, withholdPosts } from '../plan/post-consent.ts';
import { checkSettings } from './check-options.ts';
import { chosenBy, holdToCeilings, isNamedBy, refuseStale } from './check-saved-plan.ts';
import { type CheckedGraph, graphOf, planByDocument } from './checked-graph.ts';
import { type RunningSandbox, sandboxKey } from './embed-sandbox.ts';
import { requireAccess } from './environment.ts';
import { holdGuard } from './hold-guard.ts';
import { LiveRun } from './live-run.ts';
import { type Answer, agreeToMove, type MoveQuestion } from './lock-service.ts';
import { lookAtOutputs } from './look-at-outputs.ts';
import { makePlan } from './make-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import {
  type PlanningOptions,
  pickPlanningOptions,
  pickRunSettings,
  type RehearsalOptions,
  type RunSettings,
} from './options.ts';
import type { Planned } from './plan.ts';
import { planAgain } from './plan-again.ts';
import { requireLock } from './read-lock.ts';
import { recordRun } from './record-run.ts';
import { refuseUnplanned } from './refuse-unplanned.ts';
import { rehearse } from './rehearse.ts';
import { requireService } from './require-service.ts';
import { type Ending, type RunResult, runPlan } from './run.ts';
import type { SavedPlan } from './saved-plan.ts';
import { noteUpToDate } from './up-to-date.ts';

export interface ApplyOptions extends RunSettings, Pick<Ending, 'signal'> {
  /** Hears everything that happens, as it happens. */
  on?: ((event: RunEvent) => void) | undefined;
  /** Whether the posts of the plan may go public. Default: no, and they wait. */
  publish?: boolean | undefined;
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
  const { onUnknown = options.onUnknown } = planned.options;
  const { lockTimeoutMs, rehearsal } = options;
  const work = applyGraph(campaign, {
    check: async () => graphOf(campaign.checked, campaign, campaign.checked),
    ...pickRunSettings(options),
    ...pickPlanningOptions(planned.options),
    onUnknown,
    lockTimeoutMs,
    rehearsal,
    chosen: { redo, ...(selected && { selected }) },
    verify: (plan) => refuseUnplanned(planned.plan, plan),
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

/** Who watches a run, and may end it. */
export interface Observer extends Ending {
  on: (event: RunEvent) => void;
  /** Called when the run has ended, however it did. */
  end?: () => Promise<void>;
}

export interface ApplyGraphOptions extends PlanningOptions, RunSettings {
  /** Gives the graph. Called once: nobody else holds the graph while the run lasts, because it is large. */
  check(): Promise<CheckedGraph>;
  lockTimeoutMs?: number | undefined;
  rehearsal?: RehearsalOptions | undefined;
  /** Asked whether the service of the lock has a new address. Absent: it has not. */
  askAboutMove?: ((question: MoveQuestion) => Promise<Answer>) | undefined;
  /** Plan made before, agreed to by whoever applies it. */
  saved?: SavedPlan | undefined;
  /** Addresses that the selections matched when the plan was first made. */
  chosen?: { redo: ReadonlySet<string>; selected?: ReadonlySet<string> } | undefined;
  /** Throws when this is not the plan that somebody agreed to. Called while the campaign is held. */
  verify?: ((plan: Plan, graph: Graph) => void) | undefined;
  /** Gives back what is to be carried out: the plan with its posts, or without those that nobody agreed to. */
  agree(plan: Plan): Promise<Plan | 'no' | 'interrupted'>;
  observe(plan: Plan): Promise<Observer>;
  /**
   * People look at what arrives, and decide at gates: the run waits for them, and carries out what its plan named for
   * afterwards. Called before anything is sent; `end` when the run has ended, however it did.
   */
  review?: ((live: LiveRun) => Promise<{ end(): Promise<void> }>) | undefined;
  /** Digest of all that the plan depends on beside files; absent when nobody will ask whether it is up to date. */
  given?: string | undefined;
}

export type Applied = { is: 'no' | 'interrupted' } | { is: 'ran'; made: Plan; carriedOut: Plan; result: RunResult };

/** Plans while the campaign is held, asks, runs, writes the lock. */
export async function applyGraph(campaign: OpenCampaign, options: ApplyGraphOptions): Promise<Applied> {
  checkSettings(options);
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
      const { on, end, ...ending } = await options.observe(plan);
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
          const result = await (needsService ? recordRun(plan, campaign, { on, clock: systemClock, run }) : run(on));
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

/**
 * The plan, made while the campaign is held. The graph, as large as everything that the run will keep in mind, is let go of,
 * unless people are to decide during the run.
 */
async function holdAndPlan(campaign: OpenCampaign, options: ApplyGraphOptions) {
  const { paths, service, seen, tell } = campaign;
  const { saved, askAboutMove, given } = options;
  const checked = await options.check();
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell);
  try {
    const loaded = await requireLock(campaign, service, { serviceMoved: askAboutMove !== undefined });
    if (askAboutMove !== undefined) await agreeToMove(loaded, campaign, askAboutMove);
    const { lock } = loaded;
    const chosen = saved === undefined ? options.chosen : chosenBy(saved, lock);
    const planOf = ({ graph, facts, trace }: CheckedGraph, { again }: { again: boolean }) => {
      // What it has to tell has been told.
      const teller = again ? { ...campaign, tell: () => {} } : campaign;
      return makePlan(teller, { graph, lock, facts, trace }, { ...options, chosen, isRun: true }); // I18
    };
    const { graph, facts, asked, planned } = await planByDocument(checked, planOf);
    const { plan: made, states } = planned;
    if (saved !== undefined) {
      refuseStale(saved, { plan: made, graph, service });
      holdToCeilings(saved, made);
    }
    options.verify?.(made, graph);
    const finding: Json | undefined = noteUpToDate(made, { given, asked, loaded, states, seen });
    const { redo, selected, hints } = planned;
    const makeLive = (agreed: Plan) =>
      new LiveRun({
        ...{ agreed, graph, lock, redo, selected },
        isNamed: (row) => saved === undefined || isNamedBy(saved, row),
        async plan(now, stillRedone, took) {
          const same = { hints, selected, onUnknown: options.onUnknown };
          const means = {
            replays: campaign.replays,
            accountOf: campaign.accountOf,
            now: () => systemClock.now(),
            look: async (recorded: readonly OutputToCheck[]) => (await lookAtOutputs(recorded, campaign)).facts,
          };
          const again = await planAgain(means, { graph, lock: now, redo: stillRedone, agreed, took }, same);
          if (saved !== undefined) holdToCeilings(saved, again.plan);
          return again;
        },
      });
    return { made, outline: outlineOf(graph), loaded, facts, guard, finding, ...(options.review && { makeLive }) };
  } catch (error) {
    await guard.release();
    throw error;
  }
}
