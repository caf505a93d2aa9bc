import { requireGraph } from '../../campaign/load-manifest.ts';
import { seeExpected } from '../../campaign/look-at-outputs.ts';
import type { PlanningOptions } from '../../campaign/options.ts';
import { requireRestoredLock } from '../../campaign/restore-purchases.ts';
import { makeSelector } from '../../campaign/select-steps.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { situate, withFiles } from '../../plan/situation/situation.ts';
import { mermaidLimits, mermaidText } from '../../report/mermaid.ts';
import { countOf } from '../../report/numbers.ts';
import { open, type StateOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

export interface GraphOptions extends StateOptions, Pick<PlanningOptions, 'select' | 'exclude'> {
  /** A node for each step instead of each task. */
  list?: boolean;
}

/** Prints tasks or steps, their edges, states and credits as Mermaid. */
export async function graph(file: string, options: GraphOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const written = await requireGraph(campaign);
  const { lock } = await requireRestoredLock(campaign, written, { isOnlyRead: true });
  const recorded = situate(written, lock);
  const situation = withFiles(recorded, await seeExpected(recorded, campaign));
  const selected = makeSelector(situation).chosen(options);
  const text = mermaidText(situation, { selected, bySteps: options.list === true });
  if (text === undefined) {
    const { edges, characters } = mermaidLimits;
    throw new CampaignError({
      code: 'MB3000',
      message: `the graph could not be drawn: Mermaid takes at most ${countOf(edges, 'edge')} and ${countOf(characters, 'character')}`,
      options: ['--select', '--list'],
      hint: 'draw fewer steps, as in --select +hero@lamp for one step with what it needs, or leave --list out',
    });
  }
  terminal.out(text);
  return exitCodes.done;
}
