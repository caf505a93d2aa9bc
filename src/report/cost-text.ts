import type { Json } from '../ground/json.ts';
import type { Approved, CostDimension, CostRow, CostSums } from '../plan/prices/tally-charges.ts';
import { countOf, creditsText } from './numbers.ts';
import { csvText, safeText } from './safe-text.ts';
import type { Style } from './style.ts';
import { tableText } from './tables/table.ts';
import { wrapText } from './text-width.ts';

/** Cost of a campaign, as it is shown; without its name, of all of them. */
export interface CostView {
  campaign?: string;
  by: readonly CostDimension[];
  since?: { ref: string; commit: string };
  rows: readonly CostRow[];
  totals: CostSums;
  approved?: Approved;
}

const unknown: { readonly [by in CostDimension]: string } = {
  campaign: 'unknown',
  task: 'unknown',
  kind: 'unknown',
  model: 'unknown',
  tag: 'not in the manifest',
  run: 'not in the history here',
  month: 'not committed yet',
  author: 'not committed yet',
};

/** Renders where the credits went, on one line, and a row for each value. Ends with a line feed. */
export function costText(view: CostView, options: { style: Style; width?: number }): string {
  const { style } = options;
  const { campaign, by, since, rows, totals } = view;
  const after = since === undefined ? '' : ` since ${safeText(since.ref)}`;
  const head = `${campaign === undefined ? 'all campaigns' : safeText(campaign)}: ${countOf(totals.spent, 'credit')} spent${after}`;
  if (rows.length === 0) return `${style.bold(head)}\n`;
  const { width = Number.POSITIVE_INFINITY } = options;
  const told = view.approved === undefined ? [] : wrapText(approvedText(view.approved), width, { maxLines: 4 });
  const where = [...wrapText(whereText(totals), width, { maxLines: 4 }), ...told];
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
  return `${style.bold(head)}\n${where.join('\n')}\n\n${tableText(columns, cells, options)}`;
}

const parts: readonly { title: string; of(sums: CostSums): string }[] = [
  { title: 'delivered', of: ({ delivered }) => some(delivered) },
  { title: 'running', of: ({ running }) => some(running) },
  { title: 'superseded', of: ({ superseded }) => some(superseded) },
  { title: 'failed', of: ({ failed }) => some(failed) },
  { title: 'reserved', of: heldText },
];

function whereText(sums: CostSums): string {
  const { delivered, running, superseded, failed } = sums;
  const spent = [
    `${creditsText(delivered)} delivered`,
    ...(running > 0 ? [`${creditsText(running)} running`] : []),
    `${creditsText(superseded)} superseded`,
    `${creditsText(failed)} failed and charged`,
  ];
  return `${spent.join(', ')}; ${heldText(sums) || '0'} reserved`;
}

/** `4 picked at gates, 9.5 credits each: 38 for their tasks`. */
function approvedText({ assets, credits }: Approved): string {
  const each = Math.round((credits / assets) * 10) / 10;
  return `${creditsText(assets)} picked at gates, ${each} credits each: ${creditsText(credits)} for their tasks, drafts included`;
}

function heldText({ held, heldUnknown }: CostSums): string {
  const more = heldUnknown === 0 ? '' : `${heldUnknown} ?`;
  return [some(held), more].filter((text) => text !== '').join(' + ');
}

/** Nothing is shown for 0, so that the numbers stand out. */
function some(credits: number): string {
  return credits === 0 ? '' : creditsText(credits);
}

function keyText(key: string | null, by: CostDimension): string {
  return key === null ? unknown[by] : key === '' && by === 'tag' ? 'no tag' : key;
}

export function costJson(view: CostView): Json {
  const { campaign, by, since, rows, totals, approved } = view;
  return {
    mediabatch: 'cost',
    version: 1,
    ...(campaign !== undefined && { campaign }),
    by: [...by],
    ...(since !== undefined && { since: { ...since } }),
    rows: rows.map(({ keys, jobs, credits }) => ({
      ...Object.fromEntries(by.map((one, index) => [one, keys[index] ?? null])),
      jobs,
      credits: { ...credits },
    })),
    totals: { ...totals },
    ...(approved !== undefined && { approved: { ...approved } }),
  };
}

const sums = ['spent', 'delivered', 'running', 'superseded', 'failed', 'held', 'heldUnknown'] as const;

/** For spreadsheets: what is not known is an empty cell. */
export function costCsv({ by, rows }: CostView): string {
  return csvText([
    [...by, 'jobs', ...sums],
    ...rows.map(({ keys, jobs, credits }) => [
      ...keys.map((key) => safeText(key ?? '', 2000)),
      jobs,
      ...sums.map((name) => credits[name]),
    ]),
  ]);
}
