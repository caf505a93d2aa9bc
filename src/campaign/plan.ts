import { orFailure } from '../contract/failure.ts';
import type { Notice, Notify } from '../contract/notice.ts';
import type { Graph } from '../graph/graph.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { defined } from '../ground/values.ts';
import type { Plan } from '../plan/plan.ts';
import { type CheckedGraph, type CheckedManifest, graphOf, loadChecked } from './checked-graph.ts';
import { type MadePlan, type MakePlanOptions, makePlan } from './make-plan.ts';
import { type OpenCampaign, type OpenOptions, openCampaign } from './open-campaign.ts';
import { type PlanningOptions, pickPlanningOptions } from './option-table.ts';
import { warnLostLock } from './restore-purchases.ts';
import { chosenBy, limitToApproval, refuseStale, type SavedPlan } from './saved-plan.ts';
import { Session } from './session.ts';
import { verifyPosts } from './verify-posts.ts';

/** A plan together with the data that `apply` needs. */
export interface Planned {
  /** Plain JSON: a row with action, reason and price for each step, and the total credits. */
  plan: Plan;
  notices: readonly Notice[];
  campaign: Campaign;
  options: PlanningOptions;
  /** Addresses that `redo` matched. */
  redo: ReadonlySet<string>;
  /** Addresses that `select` and `exclude` selected. Defaults to all steps. */
  selected?: ReadonlySet<string>;
}

/** Plans from manifest, lock and local files. Sends and writes nothing. Throws if the manifest has errors. */
export async function plan(campaign: Campaign, given: PlanningOptions = {}): Promise<Planned> {
  const options = pickPlanningOptions(given);
  const { notices, notify } = collectNotices(campaign.notify);
  const notifier = { ...campaign, notify };
  const checked = checkedOf(notifier);
  const { plan: made, redo, selected } = await orFailure(showPlan(notifier, checked, options));
  return { plan: made, notices, campaign, options, redo, ...defined({ selected }) };
}

interface ShowOptions extends MakePlanOptions {
  asks?: boolean;
  serviceMoved?: boolean | undefined;
  /** A saved plan to show with current prices and files. Throws MB3102 if the plan is stale. */
  saved?: SavedPlan;
}

/** Returns the plan for display, and reports what would make `apply` prompt or fail. Writes nothing. */
export async function showPlan(
  campaign: OpenCampaign,
  checked: CheckedGraph,
  { asks = false, serviceMoved, saved, ...options }: ShowOptions,
): Promise<MadePlan> {
  const { graph } = checked;
  const { service } = campaign;
  const session = await Session.open(campaign, { graph, service, serviceMoved, new: options.new });
  const { loaded, lock } = session;
  const made = await makePlan(session, checked, saved ? { ...options, chosen: chosenBy(saved, lock) } : options);
  const plan = await verifyPosts(made.plan, campaign, { checked, asks });
  await warnLostLock(campaign, { loaded, graph, plan, isNew: options.new === true });
  if (saved === undefined) return { ...made, plan };
  refuseStale(saved, { plan, graph, service });
  return { ...made, plan: limitToApproval(saved, plan, lock) };
}

/** A manifest with the files that it refers to, as `load` read them. */
export interface Campaign extends OpenCampaign {
  /** Omitted if a diagnostic is an error. */
  graph?: Graph;
  /** All errors and warnings, with their positions. */
  diagnostics: readonly Diagnostic[];
  /** File texts by file name, from which diagnostics quote excerpts. */
  sources: ReadonlyMap<string, string>;
  notices: readonly Notice[];
  checked: CheckedManifest;
}

/**
 * Reads a manifest and the files that it refers to. Mistakes are in `diagnostics`. Throws if a file cannot be read.
 * Sends and writes nothing.
 */
export async function load(file: string, options: OpenOptions = {}): Promise<Campaign> {
  const { notices, notify } = collectNotices(options.notify);
  const opened = await openCampaign(file, { ...options, notify });
  const checked = await orFailure(loadChecked(opened, { isRun: true, asksLater: true }));
  const { diagnostics, sources, graph } = checked;
  for (const text of graph?.notices ?? []) notify({ is: 'notice', text });
  return { ...opened, ...(graph && !hasErrors(diagnostics) && { graph }), diagnostics, sources, notices, checked };
}

/** Returns the graph, or throws the campaign's errors. Does not report the campaign's warnings again. */
export function checkedOf(campaign: Campaign): CheckedGraph {
  return graphOf(campaign.checked, campaign, campaign.checked);
}

function collectNotices(passOn: Notify = () => {}): { notices: readonly Notice[]; notify: Notify } {
  const notices: Notice[] = [];
  return {
    notices,
    notify(notice) {
      notices.push(notice);
      passOn(notice);
    },
  };
}
