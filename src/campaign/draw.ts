import { assemblePlan } from '../plan/assemble.ts';
import { situate, withFiles } from '../plan/situation/situation.ts';
import { type Diagram, makeDiagram } from '../report/diagram/diagram.ts';
import { requireCheckedGraph } from './checked-graph.ts';
import { seeExpected } from './look-at-outputs.ts';
import type { OpenCampaign } from './open-campaign.ts';
import type { PlanningOptions } from './options.ts';
import { saveOwnFile } from './own-file.ts';
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
  const { lock } = await requireLock(campaign, undefined, { isOnlyRead: true });
  const plain = situate(graph, lock);
  // A file that is missing is fetched for nothing: it makes no difference to what is drawn.
  const situation = withFiles(plain, await seeExpected(plain, campaign));
  const selected = makeSelector(situation).chosen(options);
  const { replays, accountOf } = campaign;
  const plan = assemblePlan({
    situation,
    hints: await findPriceHints(campaign, { ...situation, facts }),
    replays,
    accountOf,
    now: Date.now(),
    concurrency: 1,
  });
  return makeDiagram({ situation, plan, selected, by: options.steps ? 'step' : 'task' });
}

/** How every drawing begins, whatever its format: only such a file is written over. */
const ownStart = /^(?:<!--|%%|\/\/) mediabatch graph\b|^\{\s*"mediabatch": "graph"/;

/** Writes a drawing to a file of a person's choice: a new one, or an earlier drawing. `lock`: the path of the lock. */
export function saveDrawing(path: string, text: string, { lock }: { lock: string }): Promise<void> {
  return saveOwnFile(path, text, { lock, isOwn: (start) => ownStart.test(start), what: 'graph that was drawn before' });
}
