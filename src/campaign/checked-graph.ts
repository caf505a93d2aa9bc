import type { Graph } from '../graph/graph.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { hasUnknownNames, type LoadedManifest, loadManifest, manifestErrors } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import {
  createsByDocument,
  type FactsOptions,
  findFacts,
  needsDocument,
  noServiceFacts,
  readListings,
  type ServiceFacts,
} from './service-facts.ts';

interface CheckOptions extends FactsOptions {
  /** True if the caller calls `renew` later, so errors found only with the stored API document are not reported yet. */
  asksLater?: boolean | undefined;
}

export interface CheckedManifest extends LoadedManifest {
  facts: ServiceFacts;
  byDocument: boolean;
  renew?(): Promise<CheckedManifest>;
}

export type CheckedGraph = CheckedManifest & { graph: Graph };

export async function loadChecked(campaign: OpenCampaign, options: CheckOptions): Promise<CheckedManifest> {
  const { file } = campaign;
  const plain = await loadManifest(file, campaign);
  const wantsNames = hasUnknownNames(plain);
  if (!wantsNames && (plain.graph === undefined || !needsDocument(plain.graph))) {
    // `--refresh` requests the service's prices, even if no step needs the service's OpenAPI document.
    const asks = plain.graph !== undefined && options.refresh === true && !campaign.sandbox;
    const facts = asks ? (await findFacts(campaign, options)).facts : noServiceFacts;
    return { ...plain, facts, byDocument: false };
  }
  const check = async (facts: ServiceFacts): Promise<CheckedManifest> => {
    const { checker } = facts;
    const listings = wantsNames ? await readListings(campaign, facts) : [];
    const isKnown = checker !== undefined || listings.length > 0;
    const loaded = isKnown ? await loadManifest(file, { ...campaign, checker, listings }) : plain;
    return { ...loaded, facts, byDocument: true };
  };
  const { facts, ask } = await findFacts(campaign, options);
  const checked = await check(facts);
  if (ask === undefined) return checked;
  const renew = async () => {
    const newer = await ask();
    const isSame = JSON.stringify(newer.document) === JSON.stringify(facts.document);
    return isSame ? { ...checked, facts: newer } : check(newer);
  };
  // The stored OpenAPI document may be outdated, so a mistake that is found with it may be a false alarm.
  if (!hasErrors(checked.diagnostics) || hasErrors(plain.diagnostics)) return { ...checked, renew };
  return options.asksLater === true ? { ...plain, facts: noServiceFacts, byDocument: true, renew } : renew();
}

export async function requireCheckedGraph(campaign: OpenCampaign, options: CheckOptions): Promise<CheckedGraph> {
  return graphOf(await loadChecked(campaign, options), campaign);
}

export function graphOf(
  checked: CheckedManifest,
  { file, notify }: OpenCampaign,
  reported?: LoadedManifest,
): CheckedGraph {
  const known = new Set(reported?.diagnostics.map((diagnostic) => JSON.stringify(diagnostic)));
  const { graph, sources } = checked;
  const diagnostics = checked.diagnostics.filter((one) => one.severity === 'error' || !known.has(JSON.stringify(one)));
  if (graph === undefined || hasErrors(diagnostics)) throw manifestErrors(file, { diagnostics, sources });
  if (diagnostics.length > 0) notify({ is: 'diagnostics', diagnostics, sources });
  return { ...checked, graph };
}

/** If a create request depends on the service's OpenAPI document, checks the manifest with the current document. */
export async function renewFor(
  plan: Plan,
  checked: CheckedGraph,
  campaign: OpenCampaign,
): Promise<CheckedGraph | undefined> {
  // A stored list may contain models or voices that the service has removed, and would silently replace.
  const takesNames = checked.diagnostics.some(({ code }) => code === 'MB1507');
  const asks = createsByDocument(plan) || (takesNames && plan.rows.some(({ action }) => isSpending(action)));
  return checked.renew === undefined || !asks ? undefined : graphOf(await checked.renew(), campaign, checked);
}
