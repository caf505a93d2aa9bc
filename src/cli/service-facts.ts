import { keepDocument, readKeptDocument } from '../disk/kept-document.ts';
import type { Graph } from '../graph/graph.ts';
import { makeRequestChecker, type RequestChecker } from '../graph/request-checker.ts';
import type { Json } from '../json.ts';
import { kinds } from '../kinds/index.ts';
import { readServiceDocument, type ServiceDocument } from '../kinds/service-document.ts';
import { loadSchemaCompiler } from '../manifest/json-schema.ts';
import { safeText } from '../report/safe-text.ts';
import { systemClock } from '../run/clock.ts';
import type { CampaignPaths } from './campaign-paths.ts';
import type { Access } from './environment.ts';
import type { Terminal } from './terminal.ts';

/** What the service's own OpenAPI document adds to what this version knows. */
export interface ServiceFacts {
  document?: ServiceDocument;
  /** Judges requests that are documented nowhere else. */
  checker?: RequestChecker;
  /** Where creates go to, by kind. */
  createPaths: { [kind: string]: string };
}

export const noServiceFacts: ServiceFacts = { createPaths: {} };

/** Whether a campaign has requests that only the service's own document can judge. */
export function needsDocument(graph: Graph): boolean {
  return graph.tasks.some(({ kind }) => kinds[kind]?.create.documented === false);
}

/** The document as it was kept from an earlier run: needs no network. */
export async function readKeptFacts(paths: CampaignPaths, service: string | undefined): Promise<ServiceFacts> {
  const kept = service === undefined ? undefined : await readKeptDocument(paths.state, service);
  return kept === undefined ? noServiceFacts : factsOf(kept.document);
}

/** The embedded sandbox's document, made in this process: no network either. */
export async function readSandboxFacts(): Promise<ServiceFacts> {
  const { sandboxDocument } = await import('./commands/sandbox.ts');
  return factsOf(await sandboxDocument());
}

/**
 * Asks the service for its document and keeps it. Where it has none, or cannot be reached, the kept one counts: a
 * document is a help, and never a reason not to run.
 */
export async function fetchFacts(
  paths: CampaignPaths,
  service: string | undefined,
  { access, terminal }: { access: Access; terminal: Terminal },
): Promise<ServiceFacts> {
  // What speaks HTTP is large.
  const { createLibrary, ServiceError } = await import('../service/library.ts');
  const library = createLibrary({ ...access, clock: systemClock, requestTimeoutMs: 10_000 });
  try {
    const document = await library.document();
    if (service !== undefined) await keepDocument(paths.state, service, { document, now: systemClock.now() });
    const facts = await factsOf(document);
    for (const difference of facts.document?.differences ?? []) {
      terminal.err(`${terminal.style.yellow('notice')} ${safeText(difference, 500)}\n`);
    }
    return facts;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return readKeptFacts(paths, service);
  } finally {
    await library.close();
  }
}

async function factsOf(json: Json): Promise<ServiceFacts> {
  const document = readServiceDocument(json, kinds);
  const compile = await loadSchemaCompiler(() => performance.now());
  const createPaths: { [kind: string]: string } = {};
  for (const [kind, create] of Object.entries(document.creates)) createPaths[kind] = create.path;
  return { document, checker: makeRequestChecker(document, compile), createPaths };
}
