import type { Json } from '../ground/json.ts';
import type { Approved, CostDimension, CostRow, CostSums } from '../plan/prices/charges.ts';
import { type Document, heading, jsonOf, paragraph, stack, table } from './document.ts';
import { countCell, countOf, countWords, creditsText, heldText } from './numbers.ts';
import { csvText, safeText } from './safe-text.ts';

interface CostFacts {
  campaign: string;
  by: readonly CostDimension[];
  rows: readonly CostRow[];
  totals: CostSums;
  approved?: Approved;
}

export function costView({ campaign, by, rows, totals, approved }: CostFacts): Document {
  const head = heading(`${campaign}: ${countOf(totals.spent, 'credit')} spent`);
  if (rows.length === 0) return [head];
  const columns = [
    ...by.map((title) => ({ title, least: 8, cut: 'middle' as const })),
    ...['jobs', 'credits', ...parts.map(({ title }) => title)].map((title) => ({ title, align: 'right' as const })),
  ];
  const cells = rows.map(({ keys, jobs, credits }) => [
    ...keys.map((key, index) => keyText(key, by[index] ?? 'task')),
    creditsText(jobs),
    creditsText(credits.spent),
    ...parts.map(({ of }) => of(credits)),
  ]);
  const where = [paragraph(whereText(totals)), approved && paragraph(approvedText(approved))];
  return [stack(head, ...where), table(columns, cells)];
}

const parts: readonly { title: string; of(sums: CostSums): string }[] = [
  { title: 'delivered', of: ({ delivered }) => countCell(delivered) },
  { title: 'running', of: ({ running }) => countCell(running) },
  { title: 'superseded', of: ({ superseded }) => countCell(superseded) },
  { title: 'failed', of: ({ failed }) => countCell(failed) },
  { title: 'reserved', of: heldText },
];

function whereText(sums: CostSums): string {
  const { delivered, running, superseded, failed } = sums;
  const spent = [
    `${creditsText(delivered)} delivered`,
    ...countWords([[running, 'running']]),
    `${creditsText(superseded)} superseded`,
    `${creditsText(failed)} failed and charged`,
  ];
  return `${spent.join(', ')}; ${heldText(sums) || '0'} reserved`;
}

function approvedText({ assets, credits }: Approved): string {
  const each = Math.round((credits / assets) * 10) / 10;
  return `tasks with a gate: ${countOf(credits, 'credit')} for ${countOf(assets, 'picked output')}, ${each} each, including the outputs that were not picked`;
}

function keyText(key: string | null, by: CostDimension): string {
  if (key === null) return by === 'tag' ? 'not in the manifest' : 'unknown';
  return key === '' && by === 'tag' ? 'no tag' : key;
}

export function costJson({ rows, ...facts }: CostFacts): Json {
  const named = rows.map(({ keys, jobs, credits }) => ({
    ...Object.fromEntries(facts.by.map((one, index) => [one, keys[index] ?? null])),
    jobs,
    credits,
  }));
  return jsonOf('cost', { ...facts, rows: named });
}

const sums = ['spent', 'delivered', 'running', 'superseded', 'failed', 'held', 'heldUnknown'] as const;

export function costCsv({ by, rows }: CostFacts): string {
  return csvText([
    [...by, 'jobs', ...sums],
    ...rows.map(({ keys, jobs, credits }) => [
      ...keys.map((key) => safeText(key ?? '', 2000)),
      jobs,
      ...sums.map((name) => credits[name]),
    ]),
  ]);
}
