import type { Terminal } from '../cli/terminal.ts';
import { collectVars } from '../cli/vars.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import type { Graph } from '../graph/graph.ts';
import type { Plan } from '../plan/plan.ts';
import { type Environment, requireAccess } from './environment.ts';
import { type LoadedManifest, loadManifest, showDiagnostics } from './load.ts';
import type { Asked } from './manifest-inputs.ts';
import type { CampaignPaths } from './paths.ts';
import {
  createsByDocument,
  fetchFacts,
  needsDocument,
  noServiceFacts,
  readKeptFacts,
  readSandboxFacts,
  type ServiceFacts,
} from './service-facts.ts';

export interface CheckedGraphContext {
  options: { sandbox?: boolean; refresh?: boolean; var?: Record<string, string> };
  paths: CampaignPaths;
  terminal: Terminal;
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  environment: Environment;
  /** Where something is to be bought by the service's document, a run asks for it anew; a plan goes by the kept one. */
  isRun?: boolean;
}

export interface CheckedGraph {
  graph: Graph;
  facts: ServiceFacts;
  /** Files that it was made from, relative to the folder of the manifest. */
  inputs: readonly string[];
  /** What it was made from, beside the variables. Absent when the service's document has a part in it, or something was told. */
  asked?: readonly Asked[];
  /** Of a run that went by a kept document, or by none: the same by the document as it is now. */
  renew?(): Promise<CheckedGraph>;
}

/**
 * The graph, with the requests that only the service's own document can judge checked against it, where it is known. Or
 * the end of the command with every mistake shown.
 */
export async function requireCheckedGraph(file: string, context: CheckedGraphContext): Promise<CheckedGraph> {
  const { options, terminal } = context;
  const vars = collectVars(options.var);
  const plain = await loadManifest(file, vars);
  const usesDocument = plain.graph !== undefined && needsDocument(plain.graph);
  if (!usesDocument) {
    const graph = requireGraphOf(plain, { terminal });
    const inputs = inputsOf(plain);
    return { graph, facts: noServiceFacts, inputs, ...(plain.diagnostics.length === 0 && { asked: plain.asked }) };
  }
  const check = (facts: ServiceFacts) =>
    facts.checker === undefined ? plain : loadManifest(file, vars, { checker: facts.checker });
  const { facts, ask } = await findFacts(context);
  const loaded = await check(facts);
  const inputs = inputsOf(loaded);
  if (ask === undefined) return { graph: requireGraphOf(loaded, { terminal }), facts, inputs };
  const renew = async (told?: LoadedManifest) => {
    const newer = await ask();
    const isSame = told !== undefined && JSON.stringify(newer.document) === JSON.stringify(facts.document);
    if (isSame) return { graph: requireGraphOf(told, { terminal, told }), facts: newer, inputs };
    return { graph: requireGraphOf(await check(newer), { terminal, told }), facts: newer, inputs };
  };
  // A document of another day may be wrong about a mistake.
  if (hasErrors(loaded) && !hasErrors(plain)) return renew();
  return { graph: requireGraphOf(loaded, { terminal }), facts, inputs, renew: () => renew(loaded) };
}

/**
 * Plans, and where something is to be bought by the service's document, asks for it first. A run that only fetches, or finds
 * nothing to do, makes no request for it.
 */
export async function planByDocument<Planned extends { plan: Plan }>(
  first: CheckedGraph,
  planOf: (graph: Graph, options: { again: boolean }) => Promise<Planned>,
): Promise<CheckedGraph & { planned: Planned }> {
  const planned = await planOf(first.graph, { again: false });
  if (first.renew === undefined || !createsByDocument(planned.plan)) return { ...first, planned };
  const renewed = await first.renew();
  if (renewed.graph === first.graph) return { ...renewed, planned };
  return { ...renewed, planned: await planOf(renewed.graph, { again: true }) };
}

/** `told`: mistakes and warnings that have been shown. */
function requireGraphOf(
  loaded: LoadedManifest,
  { terminal, told }: { terminal: Terminal; told?: LoadedManifest | undefined },
): Graph {
  const known = new Set(told?.diagnostics.map((diagnostic) => JSON.stringify(diagnostic)));
  const news = loaded.diagnostics.filter((diagnostic) => !known.has(JSON.stringify(diagnostic)));
  showDiagnostics(news, loaded.sources, terminal);
  if (loaded.graph === undefined || hasErrors(loaded)) throw new CommandError(exitCodes.wrongInput, '');
  return loaded.graph;
}

/** Files that are read, not made. */
function inputsOf({ asked }: LoadedManifest): string[] {
  return asked.flatMap(({ ask, path }) => (ask === 'data' || ask === 'digest' ? [path] : []));
}

function hasErrors({ diagnostics }: LoadedManifest): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** `ask`: the facts as the service tells them now, where they may be others. */
async function findFacts(
  context: CheckedGraphContext,
): Promise<{ facts: ServiceFacts; ask?: () => Promise<ServiceFacts> }> {
  const { options, paths, terminal, service, environment, isRun } = context;
  if (options.sandbox === true) return { facts: await readSandboxFacts() };
  const ask = () => fetchFacts(paths, service, { access: requireAccess(environment), terminal });
  if (options.refresh === true) return { facts: await ask() };
  const facts = await readKeptFacts(paths, service);
  const { baseUrl, token } = environment;
  // Without both a run ends before anything is asked; the mistakes of the manifest are told first.
  const canAsk = isRun === true && baseUrl !== undefined && token !== undefined;
  return { facts, ...(canAsk && { ask }) };
}
