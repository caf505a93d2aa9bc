import { requireStep } from '../../campaign/choose-steps.ts';
import { requireGraph, requireLock } from '../../campaign/load.ts';
import { openCampaign } from '../../campaign/open-campaign.ts';
import { planCampaign } from '../../campaign/plan.ts';
import { exitCodes } from '../../contract/exit.ts';
import { kinds } from '../../kinds/index.ts';
import { applyDecisions } from '../../plan/apply-decisions.ts';
import { explainText } from '../../report/plan/explain-text.ts';
import { safeJson } from '../../report/safe-text.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';

export interface ExplainOptions {
  sandbox?: boolean;
  lock?: string;
  json?: boolean;
  var?: Record<string, string>;
}

interface Context {
  options: ExplainOptions;
  terminal: Terminal;
}

/** Why a run would do what it would do with one step. Needs no network and writes nothing. */
export async function explain(file: string, name: string, { options, terminal }: Context): Promise<number> {
  const { paths, replays, accountOf, seen } = await openCampaign(file, options);
  const graph = await requireGraph(file, collectVars(options.var), terminal);
  const { lock } = await requireLock(paths, undefined, terminal);
  const { plan } = await planCampaign(graph, lock, paths, { terminal, redo: [], replays, accountOf, seen });
  const step = requireStep(name, applyDecisions(graph, lock));
  const { address } = step;
  const row = plan.rows.find((candidate) => candidate.address === address);
  if (row === undefined) throw new Error(`internal error: no row for ${address}`);
  const record = lock.steps.get(row.order?.movedFrom ?? address);
  const explanation = { row, step, ...(record !== undefined && { record }) };
  if (options.json) terminal.out(`${safeJson({ mediabatch: 'explanation', version: 1, ...explanation }, 2)}\n`);
  else terminal.out(explainText(explanation, { style: terminal.outStyle, paste: terminal.paste }));
  return exitCodes.done;
}

/** The request of a step as it is sent, references still open. */
export async function render(file: string, address: string, { options, terminal }: Context): Promise<number> {
  const graph = await requireGraph(file, collectVars(options.var), terminal);
  const step = requireStep(address, graph);
  terminal.err(`${terminal.style.dim(`POST {base_url}${kinds[step.kind]?.create.paths[0] ?? ''}`)}\n`);
  terminal.out(`${safeJson(step.request, 2)}\n`);
  return exitCodes.done;
}
