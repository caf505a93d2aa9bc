import { sumUpCost } from '../../campaign/cost.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { CostDimension } from '../../plan/tally-charges.ts';
import { costCsv, costJson, costText } from '../../report/cost-text.ts';
import { safeJson } from '../../report/safe-text.ts';
import { open, type StateOptions } from '../open.ts';
import { tableOptions } from '../table-options.ts';
import type { Terminal } from '../terminal.ts';

export interface CostCommandOptions extends StateOptions {
  by: CostDimension[];
  since?: string;
  json?: boolean;
  format?: 'text' | 'json' | 'csv';
}

/** Shows what was spent, by what a person asks for, and where it went. Needs no network and writes nothing. */
export async function cost(file: string, options: CostCommandOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const graph = await requireGraph(campaign);
  const found = await sumUpCost(campaign, graph, options);
  const format = options.json ? 'json' : (options.format ?? 'text');
  switch (format) {
    case 'json':
      terminal.out(`${safeJson(costJson(found), 2)}\n`);
      break;
    case 'csv':
      terminal.out(costCsv(found));
      break;
    case 'text':
      terminal.out(costText(found, tableOptions(terminal)));
      break;
    default:
      format satisfies never;
  }
  return exitCodes.done;
}
