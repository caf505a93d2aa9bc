import type { Graph } from '../graph/graph.ts';
import type { Origins } from '../graph/trace/tracer.ts';
import { hasErrors } from '../ground/diagnostic.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import { requireAccess } from './environment.ts';
import { hasUnknownNames, type LoadedManifest, type LoadOptions, loadManifest, mistakesOf } from './load-manifest.ts';
import type { Asked } from './manifest-inputs.ts';
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

export interface CheckOptions {
  /** Ask the service for its OpenAPI document. */
  refresh?: boolean | undefined;
  /** A run requests the service's document again before it buys by it; a plan uses the stored one. */
  isRun?: boolean | undefined;
  /** Nothing is asked yet: where the kept document finds mistakes, its word does not count. */
  asksLater?: boolean | undefined;
  /** The document was needed before: it is tried at once, and without asking for it. */
  againByDocument?: boolean | undefined;
}

/** A manifest, with the findings of the service's OpenAPI document. */
export interface CheckedManifest extends LoadedManifest {
  facts: ServiceFacts;
  /** Whether some requests can only be judged by the service's document. */
  byDocument: boolean;
  /** The same by the document as it is now, where this went by a kept one, or by none. */
  renew?(): Promise<CheckedManifest>;
}

export interface CheckedGraph {
  graph: Graph;
  facts: ServiceFacts;
  origins?: Origins;
  /** The manifest as written, with the texts of its files, for positions of later findings. */
  manifest?: Manifest;
  sources: ReadonlyMap<string, string>;
  /** Files that it was made from, relative to the folder of the manifest. */
  inputs: readonly string[];
  /** Inputs other than variables. Omitted if the service's document was used, or there were diagnostics. */
  asked?: readonly Asked[];
  /** Unknown names were accepted because the service lists them. */
  takesNames?: true;
  /** A field that is most likely misspelt, as its warning says. A service may ignore it, and charge all the same. */
  misspelt?: string;
  renew?(): Promise<CheckedGraph>;
}

/** The manifest, with the requests that only the service's own document can judge checked against it, where it is known. */
export async function loadChecked(
  campaign: OpenCampaign & { reader?: LoadOptions['reader'] },
  options: CheckOptions,
): Promise<CheckedManifest> {
  const { file } = campaign;
  if (options.againByDocument === true) {
    const { facts } = await findFacts(campaign, {});
    const loaded = await loadManifest(file, { ...campaign, checker: facts.checker });
    const isNeeded = loaded.graph !== undefined && needsDocument(loaded.graph);
    if (isNeeded && !hasUnknownNames(loaded)) return { ...loaded, facts, byDocument: true };
  }
  const plain = await loadManifest(file, campaign);
  const wantsNames = hasUnknownNames(plain);
  if (!wantsNames && (plain.graph === undefined || !needsDocument(plain.graph))) {
    // Its prices are wanted all the same.
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
  // A document of another day may be wrong about a mistake.
  if (!hasErrors(checked.diagnostics) || hasErrors(plain.diagnostics)) return { ...checked, renew };
  return options.asksLater === true ? { ...plain, facts: noServiceFacts, byDocument: true, renew } : renew();
}

/** The graph of a checked manifest; or the end of the command with every mistake. */
export async function requireCheckedGraph(campaign: OpenCampaign, options: CheckOptions): Promise<CheckedGraph> {
  return graphOf(await loadChecked(campaign, options), campaign);
}

/** Returns the graph of a checked manifest, or throws its errors. `reported`: a manifest whose diagnostics were reported. */
export function graphOf(checked: CheckedManifest, campaign: OpenCampaign, reported?: LoadedManifest): CheckedGraph {
  const { file, tell } = campaign;
  const known = new Set(reported?.diagnostics.map((diagnostic) => JSON.stringify(diagnostic)));
  const { graph, manifest, sources, facts, origins, asked, byDocument, renew } = checked;
  const news = checked.diagnostics.filter((one) => one.severity === 'error' || !known.has(JSON.stringify(one)));
  if (graph === undefined || hasErrors(news)) throw mistakesOf(file, { diagnostics: news, sources });
  const misspelt = checked.diagnostics.find(({ code, fix }) => code === 'MB1501' && fix !== undefined);
  if (news.length > 0) tell({ is: 'diagnostics', diagnostics: news, sources });
  return {
    graph,
    facts,
    sources,
    ...(manifest !== undefined && { manifest }),
    ...(origins !== undefined && { origins }),
    inputs: asked.flatMap(({ ask, path }) => (ask === 'data' || ask === 'bytes' || ask === 'digest' ? [path] : [])),
    ...(misspelt && !campaign.sandbox && { misspelt: misspelt.message }),
    ...(checked.diagnostics.some(({ code }) => code === 'MB1507') && { takesNames: true }),
    ...(!byDocument && checked.diagnostics.length === 0 && { asked }),
    ...(renew !== undefined && { renew: async () => graphOf(await renew(), campaign, checked) }),
  };
}

/**
 * Plans, and where something is to be bought by the service's document, asks for it first. A run that only fetches, or finds
 * nothing to do, makes no request for it.
 */
export async function planByDocument<Planned extends { plan: Plan }>(
  first: CheckedGraph,
  planOf: (checked: CheckedGraph, options: { again: boolean }) => Promise<Planned>,
): Promise<CheckedGraph & { planned: Planned }> {
  const planned = await planOf(first, { again: false });
  const { plan } = planned;
  // A list of another day may name what the service has taken away since, and would silently replace.
  const asks =
    createsByDocument(plan) || (first.takesNames === true && plan.rows.some(({ action }) => isSpending(action)));
  if (first.renew === undefined || !asks) return { ...first, planned };
  const renewed = await first.renew();
  if (renewed.graph === first.graph) return { ...renewed, planned };
  return { ...renewed, planned: await planOf(renewed, { again: true }) };
}

/** Returns facts about the service. `ask`: queries the service if they may have changed. */
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
  // Without both, a run ends before any request; errors of the manifest are reported first.
  const canAsk = isRun === true && baseUrl !== undefined && token !== undefined;
  return { facts, ...(canAsk && { ask }) };
}
