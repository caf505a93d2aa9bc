import { orFailure } from '../contract/failure.ts';
import type { Notice } from '../contract/notice.ts';
import type { Plan } from '../plan/plan.ts';
import { checkCall } from './check-call.ts';
import { chosenBy, refuseStale } from './check-saved-plan.ts';
import { graphOf, requireCheckedGraph } from './checked-graph.ts';
import { goOnUnder } from './hold-and-plan.ts';
import { type Campaign, collectNotices } from './load.ts';
import { lookAtPosts } from './look-at-posts.ts';
import { tellLostLock } from './lost-lock.ts';
import { makePlan } from './make-plan.ts';
import type { OpenCampaign } from './open-campaign.ts';
import { type PlanningOptions, pickPlanningOptions } from './options.ts';
import { requireRestoredLock } from './restore-purchases.ts';
import type { SavedPlan } from './saved-plan.ts';

/** A plan, and everything that `apply` needs to carry it out. */
export interface Planned {
  /** Plain JSON: a row for each step, with its action, reason and price, and totals in credits. */
  plan: Plan;
  notices: readonly Notice[];
  campaign: Campaign;
  options: PlanningOptions;
  /** Addresses that `redo` matched. */
  redo: ReadonlySet<string>;
  /** Addresses that `select` and `exclude` matched. Defaults to all. */
  selected?: ReadonlySet<string>;
}

/**
 * Makes a plan from manifest, lock and disk alone. Sends no request and writes nothing. Throws when the manifest has
 * mistakes.
 */
export async function plan(campaign: Campaign, given: PlanningOptions = {}): Promise<Planned> {
  checkCall('plan', [campaign, given]);
  const options = pickPlanningOptions(given);
  const { notices, tell } = collectNotices(campaign.tell);
  const teller = { ...campaign, tell };
  const checked = graphOf(campaign.checked, teller, campaign.checked);
  const { graph, facts, origins } = checked;
  const { lock, restored } = await requireRestoredLock(teller, graph, { service: campaign.service, new: options.new });
  const inputs = { graph, lock, facts, origins, restored };
  const { plan: made, redo, selected } = await orFailure(makePlan(teller, inputs, options));
  await orFailure(lookAtPosts(made, teller, { checked, asks: false }));
  await orFailure(tellLostLock(teller, { lock, plan: made, isNew: options.new === true }));
  return { plan: made, notices, campaign, options, redo, ...(selected && { selected }) };
}

/**
 * Makes the plan of what `apply` of a saved plan would do now. Throws MB3102 if the saved plan is stale. Locks, asks
 * and writes nothing.
 */
export async function planSaved(saved: SavedPlan, campaign: OpenCampaign): Promise<Plan> {
  const { service } = campaign;
  const { options } = saved;
  const checked = await requireCheckedGraph(campaign, {});
  const { graph, facts, origins } = checked;
  const { lock, restored } = await requireRestoredLock(campaign, graph, { service, new: options.new });
  const chosen = chosenBy(saved, lock);
  const { plan } = await makePlan(campaign, { graph, lock, facts, origins, restored }, { ...options, chosen });
  await lookAtPosts(plan, campaign, { checked, asks: false });
  await tellLostLock(campaign, { lock, plan, isNew: options.new === true });
  refuseStale(saved, { plan, graph, service });
  goOnUnder(saved, plan, lock);
  return plan;
}
