import { requireStep } from '../../campaign/choose-steps.ts';
import { requireGraph, requireTracedGraph } from '../../campaign/load-manifest.ts';
import { makePlan } from '../../campaign/make-plan.ts';
import { requireRestoredLock, tellRestored } from '../../campaign/restore-purchases.ts';
import { findFinishedJobs } from '../../campaign/runs-of-lock.ts';
import { exitCodes } from '../../contract/exit.ts';
import { kinds } from '../../kinds/index.ts';
import { situate } from '../../plan/situation/situation.ts';
import { explainText } from '../../report/plan/explain-text.ts';
import { open, type StateOptions } from '../open.ts';
import { outJson, type Terminal } from '../terminal.ts';

export interface ExplainOptions extends StateOptions {
  /** Instead the request as it is sent. */
  request?: boolean;
  /** Instead its values, and where each comes from. */
  origins?: boolean;
  json?: boolean;
}

interface Context {
  options: ExplainOptions;
  terminal: Terminal;
}

/** Why a run would do what it would do with one step. Needs no network and writes nothing. */
export async function explain(file: string, name: string, { options, terminal }: Context): Promise<number> {
  if (options.request === true) return render(file, name, { options, terminal });
  if (options.origins === true) {
    const { expand } = await import('./expand.ts');
    return expand(file, { ...options, step: name }, terminal);
  }
  const campaign = await open(file, options, terminal);
  const { graph, trace } = await requireTracedGraph(campaign);
  const { lock, restored } = await requireRestoredLock(campaign, graph);
  const { plan } = await makePlan(campaign, { graph, lock, trace }, {});
  tellRestored(plan, restored);
  const step = requireStep(name, situate(graph, lock).graph);
  const { address } = step;
  const row = plan.rows.find((candidate) => candidate.address === address);
  if (row === undefined) throw new Error(`internal error: no row for ${address}`);
  const record = lock.steps.get(row.order?.movedFrom ?? address);
  const unsaved = (await findFinishedJobs(campaign.paths, lock)).get(row.order?.jobId ?? '');
  const explanation = {
    row,
    step,
    ...(unsaved !== undefined && { unsaved }),
    ...(record !== undefined && { record }),
  };
  if (options.json) outJson(terminal, { mediabatch: 'explanation', version: 1, ...explanation });
  else terminal.out(explainText(explanation, { style: terminal.outStyle, paste: terminal.paste }));
  return exitCodes.done;
}

/** The request of a step as it is sent, references still open. */
export async function render(file: string, address: string, { options, terminal }: Context): Promise<number> {
  const graph = await requireGraph(await open(file, options, terminal));
  const step = requireStep(address, graph);
  terminal.err(`${terminal.style.dim(`POST {base_url}${kinds[step.kind]?.create.paths[0] ?? ''}`)}\n`);
  outJson(terminal, step.request);
  return exitCodes.done;
}
