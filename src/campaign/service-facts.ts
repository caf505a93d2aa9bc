import { systemClock } from '../contract/clock.ts';
import { keepAnswer, readAnswer } from '../disk/state/caches.ts';
import type { RequestChecker } from '../graph/check/check-request.ts';
import { makeRequestChecker } from '../graph/check/request-checker.ts';
import type { Graph } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { kinds, requireKind } from '../kinds/index.ts';
import { type Listing, readCatalogListing } from '../kinds/listed-model.ts';
import { readServiceDocument, type ServiceDocument } from '../kinds/service-document.ts';
import type { Lock } from '../lock/record.ts';
import { loadSchemaCompiler } from '../manifest/check/json-schema.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import type { RefreshedList } from '../plan/prices/model-changes.ts';
import { type PriceHints, plausiblePrices, pricesFrom } from '../plan/prices/prices.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import { heldPurchases } from '../plan/sum-up.ts';
import type { CreateRoute, CreateRoutes } from '../service/create.ts';
import { sandboxDocument } from './embed-sandbox.ts';
import { type Access, requireAccess } from './environment.ts';
import { readOtherLocks } from './find-locks.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { CampaignPaths } from './paths.ts';

export interface ServiceFacts {
  document?: ServiceDocument;
  checker?: RequestChecker;
  createRoutes: CreateRoutes;
  catalog?: Listing;
  refreshed?: readonly RefreshedList[];
}

export const noServiceFacts: ServiceFacts = { createRoutes: {} };

type Source = 'service' | 'kept' | 'sandbox';

type OfService = Pick<OpenCampaign, 'paths' | 'service'>;

export function needsDocument(graph: Graph): boolean {
  return graph.tasks.some(({ kind }) => isUndocumented(kind));
}

export function createsByDocument({ rows }: Plan): boolean {
  return rows.some(({ kind, action }) => isSpending(action) && isUndocumented(kind));
}

function isUndocumented(kind: string): boolean {
  return kinds[kind]?.create.documented === false;
}

export interface FactsOptions {
  refresh?: boolean | undefined;
  isRun?: boolean | undefined;
}

/** Returns facts about the service. `ask`: requests its current OpenAPI document. Omitted if the facts are current. */
export async function findFacts(
  campaign: OpenCampaign,
  { refresh, isRun }: FactsOptions,
): Promise<{ facts: ServiceFacts; ask?: () => Promise<ServiceFacts> }> {
  const { sandbox, environment } = campaign;
  if (sandbox) return { facts: await readSandboxFacts(campaign) };
  const ask = () => fetchFacts(campaign, { access: requireAccess(environment), withCatalog: refresh === true });
  if (refresh === true) return { facts: await ask() };
  const facts = await readKeptFacts(campaign);
  const { baseUrl, token } = environment;
  // Without URL and API key, the command fails before any request, but only after errors of the manifest are reported.
  const canAsk = isRun === true && baseUrl !== undefined && token !== undefined;
  return { facts, ...(canAsk && { ask }) };
}

async function readKeptFacts({ paths, service }: OfService): Promise<ServiceFacts> {
  const kept = await readAnswer(paths.state, service, 'document');
  return kept === undefined ? noServiceFacts : factsOf(kept, 'kept');
}

/**
 * Uses the stored API document of the service that the sandbox simulates. If no document is stored, uses the sandbox's
 * document, and differences from it are only warnings.
 */
async function readSandboxFacts({ paths, rehearsed }: OpenCampaign): Promise<ServiceFacts> {
  const kept = await readKeptFacts({ paths, service: rehearsed });
  if (kept.document !== undefined) return { ...kept, createRoutes: {} };
  return factsOf(await sandboxDocument(), 'sandbox');
}

async function fetchFacts(
  campaign: OpenCampaign,
  { access, withCatalog }: { access: Access; withCatalog: boolean },
): Promise<ServiceFacts> {
  const { paths, service } = campaign;
  // The HTTP client is large, so it is imported only when needed.
  const { Library, ServiceError } = await import('../service/library.ts');
  const library = new Library({ ...access, clock: systemClock, requestTimeoutMs: 10_000 });
  let refused: string | undefined;
  const ask = async (name: 'document' | 'catalog', request: () => Promise<Json>) => {
    try {
      const answer = await request();
      await keepAnswer(paths.state, service, name, answer);
      return answer;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.why === 'auth') refused = error.message;
      return undefined;
    }
  };
  try {
    const before = withCatalog
      ? [(await readKeptServiceDocument(paths, service))?.listing, await readKeptListing(paths, service)]
      : [];
    const document = await ask('document', () => library.document());
    const facts = await (document === undefined ? readKeptFacts(campaign) : factsOf(document, 'service'));
    if (!withCatalog) return facts;
    const answer = await ask('catalog', () => library.catalog());
    const catalog = answer === undefined ? await readKeptListing(paths, service) : readCatalogListing(answer, kinds);
    if (refused !== undefined) {
      campaign.notify({ is: 'notice', text: `the service refused the key, so nothing was refreshed: ${refused}` });
    }
    const now = [facts.document?.listing, catalog];
    return {
      ...facts,
      ...defined({ catalog }),
      refreshed: now.map((one, index) => ({ before: before[index], now: one })),
    };
  } finally {
    await library.close();
  }
}

export async function readListings(
  { sandbox, paths, service, rehearsed }: OpenCampaign,
  facts: ServiceFacts = noServiceFacts,
): Promise<Listing[]> {
  if (!sandbox) return readKeptListings({ paths, service }, facts);
  const kept = await readKeptListings({ paths, service: rehearsed });
  if (kept.length > 0) return kept;
  const { listing } = readServiceDocument(await sandboxDocument(), kinds);
  return [Object.fromEntries(Object.entries(listing).map(([kind, listed]) => [kind, { ...listed, isSandbox: true }]))];
}

export async function readKeptListings(
  { paths, service }: OfService,
  facts: ServiceFacts = noServiceFacts,
): Promise<Listing[]> {
  const document = facts.document ?? (await readKeptServiceDocument(paths, service));
  const catalog = facts.catalog ?? (await readKeptListing(paths, service));
  return [document?.listing, catalog].filter((one) => one !== undefined);
}

export async function readKeptServiceDocument(
  { state }: Pick<CampaignPaths, 'state'>,
  service: string | undefined,
): Promise<ServiceDocument | undefined> {
  const kept = await readAnswer(state, service, 'document');
  return kept === undefined ? undefined : readServiceDocument(kept, kinds);
}

async function readKeptListing({ state }: CampaignPaths, service: string | undefined): Promise<Listing | undefined> {
  const kept = await readAnswer(state, service, 'catalog');
  return kept === undefined ? undefined : readCatalogListing(kept, kinds);
}

async function factsOf(json: Json, from: Source): Promise<ServiceFacts> {
  const document = readServiceDocument(json, kinds);
  const compile = await loadSchemaCompiler(() => performance.now());
  return {
    document,
    checker: makeRequestChecker(document, compile, { isSandbox: from === 'sandbox' }),
    createRoutes: from === 'kept' ? keptRoutes(document) : freshRoutes(document),
  };
}

function freshRoutes({ creates, missing }: ServiceDocument): CreateRoutes {
  const routes: { [kind: string]: CreateRoute } = {};
  for (const [kind, { path }] of Object.entries(creates)) routes[kind] = { path, isDocumented: true };
  for (const [kind, why] of Object.entries(missing)) {
    const { create } = requireKind(kind);
    // The service may accept a request that it documents, even if the request is not in its OpenAPI document.
    routes[kind] = create.documented ? { path: create.paths[0], isDocumented: false } : { missing: why };
  }
  return routes;
}

/** Returns only routes that this version knows, because the stored document may be outdated or forged. */
function keptRoutes({ creates }: ServiceDocument): CreateRoutes {
  const known = Object.entries(creates).filter(([, { byOperation }]) => byOperation !== true);
  return Object.fromEntries(known.map(([kind, { path }]) => [kind, { path }]));
}

/** Returns prices from other locks and from stored answers of the service. Sends no request. */
export async function findPriceHints(
  campaign: OpenCampaign,
  of: {
    graph: Graph;
    lock: Lock;
    matches: readonly Match[];
    redo: ReadonlySet<string>;
    facts?: ServiceFacts | undefined;
  },
): Promise<PriceHints> {
  const { graph, lock, redo, facts } = of;
  const mayBuy = of.matches.filter(({ step, purchase }) => redo.has(step.address) || !isBought(purchase));
  const certain = pricesFrom(lock, graph.prices);
  const isCharged = ({ step }: Match) => ['lock', 'documented'].includes(certain(step.kind, step.request).source);
  const isHeldAtPrice = [...heldPurchases(lock, certain)].every(({ price }) => price?.credits != null);
  if (isHeldAtPrice && mayBuy.every(isCharged)) return {};
  const service = campaign.service ?? lock.service;
  const others = service === undefined ? [] : await readOtherLocks(campaign.paths, service);
  const elsewhere = plausiblePrices(others.map(({ lock: other }) => other));
  const isPriced = ({ step }: Match) => {
    const price = certain(step.kind, step.request);
    return price.likely !== undefined || elsewhere.has(price.class);
  };
  if (isHeldAtPrice && mayBuy.every(isPriced)) return { elsewhere };
  return { elsewhere, listings: await readListings(campaign, facts) };
}

function isBought(purchase: Match['purchase']): boolean {
  return purchase?.state === 'done' || purchase?.state === 'running';
}
