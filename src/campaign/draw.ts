import { measureMedia } from '../disk/outputs/outputs.ts';
import { assemblePlan, type OutputToCheck, outputsOf } from '../plan/assemble.ts';
import type { MediaFacts } from '../plan/expectation.ts';
import { situate } from '../plan/situation.ts';
import { type Diagram, makeDiagram } from '../report/diagram/diagram.ts';
import { requireCheckedGraph } from './checked-graph.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { PlanningOptions } from './options.ts';
import { findPriceHints } from './price-hints.ts';
import { requireLock } from './read-lock.ts';
import { makeSelector } from './select-steps.ts';

export interface DrawOptions extends Pick<PlanningOptions, 'select' | 'exclude'> {
  /** A node for each step instead of each task. */
  steps?: boolean | undefined;
}

/** The campaign as nodes and edges, from manifest and lock: no network, and of the outputs only those that `expect` is about. */
export async function drawCampaign(campaign: OpenCampaign, options: DrawOptions = {}): Promise<Diagram> {
  const { graph, facts } = await requireCheckedGraph(campaign, {});
  const { lock } = await requireLock(campaign, undefined);
  const situation = situate(graph, lock);
  const selected = makeSelector(situation).chosen(options);
  const { replays, accountOf } = campaign;
  const measured = await measureExpected(outputsOf(situation.matches), campaign.paths.outputs);
  const plan = assemblePlan({
    situation,
    hints: await findPriceHints(campaign, { ...situation, facts }),
    // A file that is missing is fetched for nothing: it makes no difference to what is drawn.
    fileState: () => 'intact',
    mediaFacts: (output) => measured.get(output.path),
    replays,
    accountOf,
    now: Date.now(),
    concurrency: 1,
  });
  return makeDiagram({ situation, plan, selected, by: options.steps ? 'step' : 'task' });
}

async function measureExpected(outputs: readonly OutputToCheck[], folder: string) {
  const measured = new Map<string, MediaFacts | undefined>();
  for (const { output, measure } of outputs) {
    if (measure) measured.set(output.path, await measureMedia(folder, output));
  }
  return measured;
}
