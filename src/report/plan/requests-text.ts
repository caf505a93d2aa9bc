import type { Json } from '../../ground/json.ts';
import { writeYaml } from '../../manifest/yaml/write-yaml.ts';
import { publishes } from '../../plan/actions.ts';
import type { Plan } from '../../plan/plan.ts';
import { isBought } from '../../plan/prices/spend-consent.ts';
import { countOf } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';

const longestValue = 20_000;

export function requestsText({ rows }: Plan, style: Style): string {
  const blocks = rows.flatMap((row) => {
    if (row.order === undefined || !(isBought(row) || publishes(row))) return [];
    const yaml = writeYaml(row.order.request as { [field: string]: Json }).trimEnd();
    const lines = yaml.split('\n').map((line) => `  ${safeText(line, longestValue)}`);
    return [`${style.bold(safeText(row.address))}  ${row.kind}\n${lines.join('\n')}\n`];
  });
  const blocked = rows.filter(({ action }) => action === 'blocked').length;
  const rest = blocked === 0 ? [] : [`${countOf(blocked, 'blocked step')} not shown: see \`mediabatch expand\`\n`];
  return [...blocks, ...rest].join('\n');
}
