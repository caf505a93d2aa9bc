import { sumUpCost } from '../../campaign/compare-with-commit.ts';
import { requireGraph } from '../../campaign/load-manifest.ts';
import { costDimensions } from '../../plan/prices/charges.ts';
import { costCsv, costJson, costView } from '../../report/cost-text.ts';
import { type Flags, open, type StateOptions } from '../open.ts';
import { unknownName } from '../program/usage-errors.ts';
import { outAs, type Terminal } from '../terminal.ts';

type CostOptions = StateOptions & Flags<'json'> & { by: string; format?: 'text' | 'json' | 'csv' };

export async function cost(file: string, options: CostOptions, terminal: Terminal): Promise<void> {
  const campaign = await open(file, options, terminal);
  const by = options.by.split(',').map((name) => {
    const found = costDimensions.find((one) => one === name.trim());
    if (found === undefined) throw unknownName('no dimension', name, costDimensions);
    return found;
  });
  const found = await sumUpCost(campaign, await requireGraph(campaign), { by: [...new Set(by)] });
  await outAs(terminal, options, {
    text: () => costView(found),
    csv: () => costCsv(found),
    json: () => costJson(found),
  });
}
