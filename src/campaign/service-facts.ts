import { systemClock } from '../contract/clock.ts';
import { keepAnswer, readAnswer } from '../disk/state/kept-document.ts';
import { makeRequestChecker, type RequestChecker } from '../graph/check/request-checker.ts';
import type { Graph } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import { kinds, requireKind } from '../kinds/index.ts';
import type { Listing } from '../kinds/listed-model.ts';
import { readCatalogListing } from '../kinds/read-catalog.ts';
import { readServiceDocument, type ServiceDocument } from '../kinds/service-document.ts';
import { isSpending } from '../plan/actions.ts';
import type { Plan } from '../plan/plan.ts';
import type { CreateRoute, CreateRoutes } from '../service/create.ts';
import type { Access } from './environment.ts';
import type { CampaignPaths } from './paths.ts';

/** Facts from the service's own OpenAPI document, beyond what this version knows. */
export interface ServiceFacts {
  document?: ServiceDocument;
  /** Judges requests that are documented nowhere else. */
  checker?: RequestChecker;
  createRoutes: CreateRoutes;
  /** Listing of the service's catalog, where it was asked. */
  catalog?: Listing;
}

export const noServiceFacts: ServiceFacts = { createRoutes: {} };

/**
 * Documents that an open campaign has read. Repeated plans share one: its schemas
 * are compiled once.
 */
export interface ReadDocuments {
  last?: { text: string; from: Source; facts: ServiceFacts };
  ofSandbox?: ServiceDocument;
}

/** Whose document it is: the service's as it is now, or as it was kept, or the sandbox's own. */
type Source = 'service' | 'kept' | 'sandbox';

/** The part of an open campaign that reading documents needs. */
interface ReadFor {
  paths: CampaignPaths;
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  documents: ReadDocuments;
}

type RehearsedFor = Omit<ReadFor, 'service'> & {
  /** As in `OpenCampaign`. */
  rehearsed: string | undefined;
};

/** Whether a campaign has requests that only the service's own document can judge. */
export function needsDocument(graph: Graph): boolean {
  return graph.tasks.some(({ kind }) => isUndocumented(kind));
}

/** Whether a plan has creates that only the service's own document can judge. What is bought already is not judged again. */
export function createsByDocument({ rows }: Plan): boolean {
  return rows.some(({ kind, action }) => isSpending(action) && isUndocumented(kind));
}

function isUndocumented(kind: string): boolean {
  return kinds[kind]?.create.documented === false;
}

/** The document as it was kept from an earlier run: needs no network. */
export async function readKeptFacts({ paths, service, documents }: ReadFor): Promise<ServiceFacts> {
  const kept = await readAnswer(paths.state, service, 'document');
  return kept === undefined ? noServiceFacts : factsOf(documents, kept, 'kept');
}

/**
 * Reads the document of a rehearsal: the kept one of the service that it stands for, with the paths of the sandbox. Without
 * one, the sandbox's own document, made in this process. It can only warn, because another service has other rules.
 */
export async function readSandboxFacts({ paths, rehearsed, documents }: RehearsedFor): Promise<ServiceFacts> {
  const kept = await readKeptFacts({ paths, service: rehearsed, documents });
  if (kept.document !== undefined) return { ...kept, createRoutes: {} };
  const { sandboxDocument } = await import('./embed-sandbox.ts');
  return factsOf(documents, await sandboxDocument(), 'sandbox');
}

/**
 * Asks the service for its document, and for its catalog where that is wanted, and keeps both. Where it has none, or
 * cannot be reached, the kept one counts: a document is a help, and never a reason not to run.
 */
export async function fetchFacts(
  campaign: ReadFor,
  { access, withCatalog }: { access: Access; withCatalog: boolean },
): Promise<ServiceFacts> {
  const { paths, service, documents } = campaign;
  // What speaks HTTP is large.
  const { createLibrary, ServiceError } = await import('../service/library.ts');
  const library = createLibrary({ ...access, clock: systemClock, requestTimeoutMs: 10_000 });
  const orKept = <Facts>(fresh: Promise<Facts>, kept: () => Promise<Facts>) =>
    fresh.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      return kept();
    });
  const askDocument = async () => {
    const document = await library.document();
    await keepAnswer(paths.state, service, 'document', document);
    return factsOf(documents, document, 'service');
  };
  const askCatalog = async () => {
    const document = await library.wholeCatalog();
    await keepAnswer(paths.state, service, 'catalog', document);
    return readCatalogListing(document, kinds);
  };
  try {
    const facts = await orKept(askDocument(), () => readKeptFacts(campaign));
    const catalog = withCatalog
      ? await orKept<Listing | undefined>(askCatalog(), () => readKeptListing(paths, service))
      : undefined;
    return { ...facts, ...(catalog !== undefined && { catalog }) };
  } finally {
    await library.close();
  }
}

/**
 * Reads what the service lists, by its catalog and its document, from the best that is at hand: needs no network. Parts
 * that `facts` has are not read again.
 */
export async function readListings(
  { sandbox, paths, service, rehearsed, documents }: ReadFor & RehearsedFor & { sandbox: boolean },
  facts: ServiceFacts = noServiceFacts,
): Promise<Listing[]> {
  if (!sandbox) return readKeptListings({ paths, service }, facts);
  const kept = await readKeptListings({ paths, service: rehearsed });
  return kept.length > 0 ? kept : [(await readSandboxDocument(documents)).listing];
}

/** Reads what is kept of the service's lists. Parts that `facts` has are not read again. */
export async function readKeptListings(
  { paths, service }: Pick<ReadFor, 'paths' | 'service'>,
  facts: ServiceFacts = noServiceFacts,
): Promise<Listing[]> {
  const document = facts.document ?? (await readKeptServiceDocument(paths, service));
  const catalog = facts.catalog ?? (await readKeptListing(paths, service));
  return [document?.listing, catalog].filter((one) => one !== undefined);
}

/** Reads the document of the embedded sandbox. It is of this very version, and read once. */
async function readSandboxDocument(documents: ReadDocuments): Promise<ServiceDocument> {
  const { sandboxDocument } = await import('./embed-sandbox.ts');
  documents.ofSandbox ??= readServiceDocument(await sandboxDocument(), kinds);
  return documents.ofSandbox;
}

/** Reads the service's document as it was last fetched: needs no network. */
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

async function factsOf(documents: ReadDocuments, json: Json, from: Source): Promise<ServiceFacts> {
  const text = JSON.stringify(json);
  const { last } = documents;
  if (last?.text === text && last.from === from) return last.facts;
  const facts = await readFacts(json, from);
  documents.last = { text, from, facts };
  return facts;
}

async function readFacts(json: Json, from: Source): Promise<ServiceFacts> {
  const document = readServiceDocument(json, kinds);
  // What compiles schemas is large.
  const { loadSchemaCompiler } = await import('../manifest/check/json-schema.ts');
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
    // What is documented elsewhere may be there all the same.
    routes[kind] = create.documented ? { path: create.paths[0], isDocumented: false } : { missing: why };
  }
  return routes;
}

/** Routes by a kept document, which may be old or come from somebody else: it may only choose among known paths. */
function keptRoutes({ creates }: ServiceDocument): CreateRoutes {
  const known = Object.entries(creates).filter(([, { byOperation }]) => byOperation !== true);
  return Object.fromEntries(known.map(([kind, { path }]) => [kind, { path }]));
}
