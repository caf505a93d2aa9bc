import { systemClock } from '../contract/clock.ts';
import { outlineOf } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import type { Lock } from '../lock/record.ts';
import { type Agreement, agreementOf, covers, holdToCeilings } from '../plan/agreement.ts';
import type { OutputToCheck } from '../plan/assemble.ts';
import type { Plan } from '../plan/plan.ts';
import { leftUnder } from '../plan/prices/ceiling.ts';
import type { ApplyGraphOptions } from './apply-options.ts';
import { markStrangeSends } from './approvals.ts';
import { chosenBy, refuseStale } from './check-saved-plan.ts';
import { type CheckedGraph, planByDocument } from './checked-graph.ts';
import { holdGuard } from './hold-guard.ts';
import { LiveRun } from './live-run.ts';
import { agreeToMove } from './lock-service.ts';
import { lookAtOutputs } from './look-at-outputs.ts';
import { lookAtPosts } from './look-at-posts.ts';
import { refuseLostLock } from './lost-lock.ts';
import { makePlan } from './make-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { planAgain } from './plan-again.ts';
import { requireRestoredLock } from './restore-purchases.ts';
import { noteUpToDate } from './up-to-date.ts';

/**
 * Takes the lock and plans. The graph can be as large as all other data of the run, so it is released, unless people
 * decide during the run.
 */
export async function holdAndPlan(campaign: OpenCampaign, options: ApplyGraphOptions) {
  const { paths, service, seen, tell } = campaign;
  const { saved, askAboutMove, given, isAskedAgain } = options;
  const agreement = isAskedAgain ? undefined : (options.agreement ?? saved);
  const checked = await options.check();
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, {
    forEngine: options.engine !== undefined,
  });
  try {
    const moved = { service, serviceMoved: askAboutMove !== undefined, new: options.new };
    const loaded = await requireRestoredLock(campaign, checked.graph, moved);
    if (askAboutMove !== undefined) await agreeToMove(loaded, campaign, askAboutMove);
    const { lock, restored } = loaded;
    const chosen = saved === undefined ? options.chosen : chosenBy(saved, lock);
    const planOf = ({ graph, facts, origins }: CheckedGraph, { again }: { again: boolean }) => {
      // The notices of the first plan were already shown.
      const teller = again ? { ...campaign, tell: () => {} } : campaign;
      return makePlan(teller, { graph, lock, facts, origins, restored }, { ...options, chosen, isRun: true }); // I18
    };
    const held = await planByDocument(checked, planOf);
    const { graph, facts, asked, planned, misspelt } = held;
    const { plan: made, states } = planned;
    await markStrangeSends(made, campaign);
    await lookAtPosts(made, campaign, { checked: held, asks: true });
    await refuseLostLock(campaign, { lock, plan: made, isNew: options.new === true });
    if (saved !== undefined && !isAskedAgain) refuseStale(saved, { plan: made, graph, service });
    options.verify?.(made, graph);
    if (agreement !== undefined) goOnUnder(agreement, made, lock);
    // The list of outputs is written even if there is nothing else to do.
    const finding: Json | undefined =
      graph.index === undefined ? noteUpToDate(made, { given, asked, loaded, states, seen }) : undefined;
    const { redo, selected, hints } = planned;
    const makeLive = (agreed: Plan) => {
      const agreements = [agreementOf(agreed), ...(agreement === undefined ? [] : [agreement])];
      return new LiveRun({
        ...{ agreed, graph, lock, redo, selected },
        covers: (row) => agreements.every((one) => covers(one, row)),
        async plan(now, stillRedone, took) {
          const same = { hints, selected, onUnknown: options.onUnknown };
          const means = {
            replays: campaign.replays,
            accountOf: campaign.accountOf,
            now: () => systemClock.now(),
            look: async (recorded: readonly OutputToCheck[]) => (await lookAtOutputs(recorded, campaign)).facts,
          };
          const again = await planAgain(means, { graph, lock: now, redo: stillRedone, agreed, took }, same);
          if (agreement !== undefined) holdToCeilings(agreement, again.plan);
          return again;
        },
      });
    };
    const { prices } = graph;
    return {
      made,
      outline: outlineOf(graph),
      prices,
      loaded,
      facts,
      misspelt,
      guard,
      finding,
      ...(graph.index !== undefined && { index: graph.index }),
      ...(options.review && { makeLive }),
    };
  } catch (error) {
    await guard.release();
    throw error;
  }
}

export type Held = Awaited<ReturnType<typeof holdAndPlan>>;

/** Limits a plan to the rest of an agreement, whose ceiling counts the charges of all runs under it. */
export function goOnUnder(agreement: Agreement, plan: Plan, lock: Lock): void {
  holdToCeilings(agreement, plan);
  plan.totals = { ...plan.totals, ceiling: leftUnder(agreement, plan, lock) }; // I39 (again)
}
