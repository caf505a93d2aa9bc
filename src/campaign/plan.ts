import { orFailure } from '../contract/failure.ts';
import type { Notice, Tell } from '../contract/notice.ts';
import type { Graph } from '../graph/graph.ts';
import { type Diagnostic, hasErrors } from '../ground/diagnostic.ts';
import { defined } from '../ground/values.ts';
import type { Plan } from '../plan/plan.ts';
import { type CheckedGraph, type CheckedManifest, graphOf, loadChecked } from './checked-graph.ts';
import { lookAtPosts } from './look-at-posts.ts';
import { type MadePlan, type MakePlanOptions, makePlan } from './make-plan.ts';
import { type OpenCampaign, type OpenOptions, openCampaign } from './open-campaign.ts';
import { type PlanningOptions, pickPlanningOptions } from './option-table.ts';
import { tellLostLock } from './restore-purchases.ts';
import { chosenBy, goOnUnder, refuseStale, type SavedPlan } from './saved-plan.ts';
import { Session } from './session.ts';

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
  const options = pickPlanningOptions(given);
  const { notices, tell } = collectNotices(campaign.tell);
  const teller = { ...campaign, tell };
  const checked = checkedOf(teller);
  const { plan: made, redo, selected } = await orFailure(showPlan(teller, checked, options));
  return { plan: made, notices, campaign, options, redo, ...defined({ selected }) };
}

interface ShowOptions extends MakePlanOptions {
  /** Whether to query the service about the accounts of posts. */
  asks?: boolean;
  serviceMoved?: boolean | undefined;
  /** Shows what `apply` of this plan would do now. Throws MB3102 if the plan is stale. */
  saved?: SavedPlan;
}

/** Plans for users to see, and reports what `apply` would ask or refuse. Locks and writes nothing. */
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
  const plan = await lookAtPosts(made.plan, campaign, { checked, asks });
  await tellLostLock(campaign, { loaded, graph, plan, isNew: options.new === true });
  if (saved === undefined) return { ...made, plan };
  refuseStale(saved, { plan, graph, service });
  return { ...made, plan: goOnUnder(saved, plan, lock) };
}

/** A campaign as it was read: what `plan` needs. */
export interface Campaign extends OpenCampaign {
  /** Steps of the campaign. Omitted when a diagnostic is an error. */
  graph?: Graph;
  /** Every error and warning, with its position. */
  diagnostics: readonly Diagnostic[];
  /** Texts of the files that diagnostics point into, by file name. */
  sources: ReadonlyMap<string, string>;
  notices: readonly Notice[];
  checked: CheckedManifest;
}

/**
 * Reads a manifest and all files that it names: included files, data, uploads. Mistakes are in `diagnostics`; a file
 * that cannot be read throws. Sends nothing, and writes nothing.
 */
export async function load(file: string, options: OpenOptions = {}): Promise<Campaign> {
  const { notices, tell } = collectNotices(options.tell);
  const opened = await openCampaign(file, { ...options, tell });
  const checked = await orFailure(loadChecked(opened, { isRun: true, asksLater: true }));
  const { diagnostics, sources, graph } = checked;
  for (const text of graph?.notices ?? []) tell({ is: 'notice', text });
  return { ...opened, ...(graph && !hasErrors(diagnostics) && { graph }), diagnostics, sources, notices, checked };
}

/** Returns the graph of a loaded campaign, or throws its errors. Its warnings are not reported again. */
export function checkedOf(campaign: Campaign): CheckedGraph {
  return graphOf(campaign.checked, campaign, campaign.checked);
}

function collectNotices(passOn: Tell = () => {}): { notices: readonly Notice[]; tell: Tell } {
  const notices: Notice[] = [];
  return {
    notices,
    tell(notice) {
      notices.push(notice);
      passOn(notice);
    },
  };
}
