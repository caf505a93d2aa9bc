import type { Graph } from '../graph/graph.ts';
import { loadManifest, showDiagnostics } from './campaign.ts';
import type { CampaignPaths } from './campaign-paths.ts';
import { type Environment, requireAccess } from './environment.ts';
import { CommandError, exitCodes } from './exit.ts';
import type { Asked } from './manifest-inputs.ts';
import {
  fetchFacts,
  needsDocument,
  noServiceFacts,
  readKeptFacts,
  readSandboxFacts,
  type ServiceFacts,
} from './service-facts.ts';
import type { Terminal } from './terminal.ts';
import { collectVars } from './vars.ts';

export interface CheckedGraphContext {
  options: { sandbox?: boolean; refresh?: boolean; var?: Record<string, string> };
  paths: CampaignPaths;
  terminal: Terminal;
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  environment: Environment;
  /** A run asks the service for its document anew; a plan goes by the one that is kept. */
  isRun?: boolean;
}

export interface CheckedGraph {
  graph: Graph;
  facts: ServiceFacts;
  /** Files that it was made from, relative to the folder of the manifest. */
  inputs: readonly string[];
  /** What it was made from, beside the variables. Absent when the service's document has a part in it, or something was told. */
  asked?: readonly Asked[];
}

/**
 * The graph, with the requests that only the service's own document can judge checked against it, where it is known. Or
 * the end of the command with every mistake shown.
 */
export async function requireCheckedGraph(file: string, context: CheckedGraphContext): Promise<CheckedGraph> {
  const { options, terminal } = context;
  const vars = collectVars(options.var);
  let loaded = await loadManifest(file, vars);
  let facts = noServiceFacts;
  const usesDocument = loaded.graph !== undefined && needsDocument(loaded.graph);
  if (usesDocument) {
    facts = await findFacts(context);
    if (facts.checker !== undefined) loaded = await loadManifest(file, vars, { checker: facts.checker });
  }
  const { graph, diagnostics, sources, asked } = loaded;
  showDiagnostics(diagnostics, sources, terminal);
  if (graph === undefined || diagnostics.some(({ severity }) => severity === 'error')) {
    throw new CommandError(exitCodes.wrongInput, '');
  }
  const inputs = asked.flatMap(({ ask, path }) => (ask === 'data' || ask === 'digest' ? [path] : []));
  return { graph, facts, inputs, ...(!usesDocument && diagnostics.length === 0 && { asked }) };
}

async function findFacts(context: CheckedGraphContext): Promise<ServiceFacts> {
  const { options, paths, terminal, service, environment, isRun } = context;
  if (options.sandbox === true) return readSandboxFacts();
  const { baseUrl, token } = environment;
  if (options.refresh === true) return fetchFacts(paths, service, { access: requireAccess(environment), terminal });
  // Without both the run ends before anything is asked; the mistakes of the manifest are told first.
  if (isRun !== true || baseUrl === undefined || token === undefined) return readKeptFacts(paths, service);
  return fetchFacts(paths, service, { access: requireAccess(environment), terminal });
}
