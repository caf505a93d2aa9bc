import { sumUpAll, sumUpCost } from '../../campaign/cost.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { campaignPaths } from '../../campaign/paths.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { CostDimension } from '../../plan/prices/tally-charges.ts';
import { type CostFacts, costCsv, costJson, costView } from '../../report/cost-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import { outAs, type Terminal } from '../terminal.ts';

export interface CostCommandOptions extends StateOptions {
  by: CostDimension[];
  since?: string;
  /** Whether to sum all locks of the working tree. */
  all?: boolean;
  json?: boolean;
  format?: 'text' | 'json' | 'csv';
}

/** Shows the credits spent, grouped as requested. Needs no network and writes nothing. */
export async function cost(file: string, options: CostCommandOptions, terminal: Terminal): Promise<number> {
  const found = options.all === true ? await sumAll(file, options, terminal) : await sumOne(file, options, terminal);
  await outAs(terminal, options, {
    text: () => costView(found),
    csv: () => costCsv(found),
    json: () => costJson(found),
  });
  return exitCodes.done;
}

async function sumOne(file: string, options: CostCommandOptions, terminal: Terminal): Promise<CostFacts> {
  const campaign = await open(file, options, terminal);
  return sumUpCost(campaign, await requireGraph(campaign), options);
}

async function sumAll(file: string, options: CostCommandOptions, terminal: Terminal): Promise<CostFacts> {
  const { leftOut, ...found } = await sumUpAll(campaignPaths(file, options), options, {
    sandbox: options.sandbox === true,
    open: (manifest) => open(manifest, options, terminal),
  });
  for (const { shown, why } of leftOut) {
    terminal.err(`${terminal.style.yellow('left out')} ${safeText(shown)}: ${safeText(why)}\n`);
  }
  return found;
}
