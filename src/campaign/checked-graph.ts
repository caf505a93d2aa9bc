import type { Graph } from '../graph/graph.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { requireAccess } from './environment.ts';
import { hasUnknownNames, type LoadedManifest, type LoadOptions, loadManifest, mistakesOf } from './load-manifest.ts';
import type { OpenCampaign } from './open-campaign.ts';
import {
  createsByDocument,
  fetchFacts,
  needsDocument,
  noServiceFacts,
  readKeptFacts,
  readListings,
  readSandboxFacts,
  type ServiceFacts,
} from './service-facts.ts';

interface CheckOptions {
  refresh?: boolean | undefined;
  /**
   * Whether the caller plans a run. A run requests the service's document again before a purchase that depends on it;
   * a plan uses the stored document.
   */
  isRun?: boolean | undefined;
  /**
   * Whether the caller requests the service's current document later. If so, errors that only the stored document
   * shows are not reported, because it may be outdated.
   */
  asksLater?: boolean | undefined;
}

export interface CheckedManifest extends LoadedManifest {
  facts: ServiceFacts;
  byDocument: boolean;
  /** Checks the manifest against the service's current document. Omitted if the current document was used. */
  renew?(): Promise<CheckedManifest>;
}

export interface CheckedGraph extends CheckedManifest {
  graph: Graph;
  renew?(): Promise<CheckedGraph>;
}

export async function loadChecked(
  campaign: OpenCampaign & { reader?: LoadOptions['reader'] },
  options: CheckOptions,
): Promise<CheckedManifest> {
  const { file } = campaign;
  const plain = await loadManifest(file, campaign);
  const wantsNames = hasUnknownNames(plain);
  if (!wantsNames && (plain.graph === undefined || !needsDocument(plain.graph))) {
    // `--refresh` requests the service's prices, even if no step needs its document.
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
  // The stored document may be outdated, so a mistake found with it may not be one.
  if (!hasErrors(checked.diagnostics) || hasErrors(plain.diagnostics)) return { ...checked, renew };
  return options.asksLater === true ? { ...plain, facts: noServiceFacts, byDocument: true, renew } : renew();
}

export async function requireCheckedGraph(campaign: OpenCampaign, options: CheckOptions): Promise<CheckedGraph> {
  return graphOf(await loadChecked(campaign, options), campaign);
}

/** Returns the graph of a checked manifest, or throws its errors. `reported`: manifest with reported diagnostics. */
export function graphOf(checked: CheckedManifest, campaign: OpenCampaign, reported?: LoadedManifest): CheckedGraph {
  const { file, tell } = campaign;
  const known = new Set(reported?.diagnostics.map((diagnostic) => JSON.stringify(diagnostic)));
  const { graph, diagnostics, sources, renew, ...rest } = checked;
  const news = diagnostics.filter((one) => one.severity === 'error' || !known.has(JSON.stringify(one)));
  if (graph === undefined || hasErrors(news)) throw mistakesOf(file, { diagnostics: news, sources });
  if (news.length > 0) tell({ is: 'diagnostics', diagnostics: news, sources });
  return {
    ...rest,
    ...{ graph, diagnostics, sources },
    ...(renew !== undefined && { renew: async () => graphOf(await renew(), campaign, checked) }),
  };
}

/**
 * Returns the text of the warning about the field that is most likely misspelt, because a service may ignore such a
 * field and still charge.
 */
export function misspeltIn({ diagnostics }: CheckedGraph): string | undefined {
  return diagnostics.find(({ code, fix }) => code === 'MB1501' && fix !== undefined)?.message;
}

/**
 * Plans, and if a purchase depends on the service's document, requests the document first and plans again. A run that
 * only downloads, or has nothing to do, sends no request for it.
 */
export async function planByDocument<Planned extends { plan: Plan }>(
  first: CheckedGraph,
  planOf: (checked: CheckedGraph, options: { again: boolean }) => Promise<Planned>,
): Promise<CheckedGraph & { planned: Planned }> {
  const planned = await planOf(first, { again: false });
  const { plan } = planned;
  // An outdated list may contain names that the service has removed since, and silently lead to replacements.
  const takesNames = first.diagnostics.some(({ code }) => code === 'MB1507');
  const asks = createsByDocument(plan) || (takesNames && plan.rows.some(({ action }) => isSpending(action)));
  if (first.renew === undefined || !asks) return { ...first, planned };
  const renewed = await first.renew();
  if (renewed.graph === first.graph) return { ...renewed, planned };
  return { ...renewed, planned: await planOf(renewed, { again: true }) };
}

async function findFacts(
  campaign: OpenCampaign,
  { refresh, isRun }: CheckOptions,
): Promise<{ facts: ServiceFacts; ask?: () => Promise<ServiceFacts> }> {
  const { sandbox, environment } = campaign;
  if (sandbox) return { facts: await readSandboxFacts(campaign) };
  const ask = () => fetchFacts(campaign, { access: requireAccess(environment), withCatalog: refresh === true });
  if (refresh === true) return { facts: await ask() };
  const facts = await readKeptFacts(campaign);
  const { baseUrl, token } = environment;
  // Without both, a run ends before any request, because errors of the manifest are reported first.
  const canAsk = isRun === true && baseUrl !== undefined && token !== undefined;
  return { facts, ...(canAsk && { ask }) };
}
