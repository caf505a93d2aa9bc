import { orFailure } from '../contract/failure.ts';
import type { Notice } from '../contract/notice.ts';
import type { Plan } from '../plan/plan.ts';
import { graphOf } from './checked-graph.ts';
import { collectNotices } from './collect-notices.ts';
import type { Campaign } from './load.ts';
import { lookAtPosts } from './look-at-posts.ts';
import { tellLostLock } from './lost-lock/lost-lock.ts';
import { makePlan } from './make-plan.ts';
import { type PlanningOptions, pickPlanningOptions } from './options.ts';
import { requireLock } from './read-lock.ts';

/** A plan, and all that `apply` needs to carry out exactly that. */
export interface Planned {
  /** Plain JSON: a row for each step, with its action, reason and price, and totals in credits. */
  plan: Plan;
  /** Notices beside the plan. */
  notices: readonly Notice[];
  campaign: Campaign;
  options: PlanningOptions;
  /** Addresses that `redo` came to. */
  redo: ReadonlySet<string>;
  /** Addresses that `select` and `exclude` came to. Absent: all. */
  selected?: ReadonlySet<string>;
}

/** Plans from manifest, lock and disk alone: no network, and nothing is written. Throws when the manifest has mistakes. */
export async function plan(campaign: Campaign, given: PlanningOptions = {}): Promise<Planned> {
  const options = pickPlanningOptions(given);
  const { notices, tell } = collectNotices(campaign.tell);
  const teller = { ...campaign, tell };
  const checked = graphOf(campaign.checked, teller, campaign.checked);
  const { graph, facts, trace } = checked;
  const { lock } = await requireLock(teller, campaign.service);
  const { plan: made, redo, selected } = await orFailure(makePlan(teller, { graph, lock, facts, trace }, options));
  await orFailure(lookAtPosts(made, teller, { checked, asks: false }));
  await orFailure(tellLostLock(teller, { graph, lock, plan: made, isNew: options.new === true }));
  return { plan: made, notices, campaign, options, redo, ...(selected && { selected }) };
}
