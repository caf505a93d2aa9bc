import { hasWork, isQuiet } from '../../plan/actions.ts';
import type { Action, Plan, PlanRow, PlanTotals } from '../../plan/plan.ts';
import { sumPrices } from '../../plan/prices/sum-prices.ts';
import { countOf, creditsText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth, padLeft, padRight, wrapText } from '../text-width.ts';
import { footerLines, limitFacts, postFacts, timeFacts } from './footer-lines.ts';
import { describeDiscarded, describeItem, indexRows, nameOfItem, type RowIndex } from './item-text.ts';
import { allUpToDate, planHeadline } from './plan-counts.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { moneyFacts } from './plan-money.ts';

export interface PlanTextOptions {
  style: Style;
  /** Columns of the terminal; less than 40 counts as 40. */
  width: number;
  /** Show every row: kept steps one by one, long lists in full. */
  all?: boolean;
  /** In ms since 1970: posts whose time is over are said to go out at once. */
  now?: number;
  /** It is a plan of play money, and its first line says so. */
  isRehearsal?: boolean;
}

export const glyphs: Readonly<Record<Action, string>> = {
  create: '+',
  redo: '~',
  retry: '^',
  attach: '@',
  download: 'v',
  move: '>',
  keep: '=',
  failed: '!',
  blocked: 'x',
  unresolved: '?',
  orphan: '-',
};

/**
 * The plan for people: what happens to which steps, why and for how much, a line for each cause; then the counts, and the
 * money last, because that is what the question after it is about. Ends with a line feed.
 */
export function planText(plan: Plan, options: PlanTextOptions): string {
  const { style, all = false, isRehearsal = false } = options;
  const isShort = isQuiet(plan) && !all;
  const items = isShort ? [] : groupPlan(plan, { all });
  const unchecked = plan.rows.filter((row) => row.unchecked === true);
  const counts = hasWork(plan) ? style.bold(planHeadline(plan)) : planHeadline(plan);
  return joinBlocks([
    items.length > 0
      ? [`${style.bold(safeText(plan.campaign))}${isRehearsal ? '  with play money (--sandbox)' : ''}`]
      : [],
    itemLines(items, indexRows(plan), options),
    unchecked.length > 0 ? uncheckedLines(unchecked, options) : [],
    wrapText(counts, Math.max(40, options.width), { maxLines: 6 }),
    footerLines(
      [
        ...postFacts(plan, style, options.now),
        ...moneyFacts(plan.totals, { style, isQuiet: isShort }),
        ...limitFacts(plan, style),
        ...timeFacts(plan.totals),
      ],
      options,
    ),
  ]);
}

/** The text that `planText` gives for a quiet plan, for callers that know no more of it than this. */
export function quietText(known: { steps: number; totals: PlanTotals }, { style }: { style: Style }): string {
  const money = moneyFacts(known.totals, { style, isQuiet: true });
  return joinBlocks([[allUpToDate(known.steps)], footerLines(money, { style })]);
}

export function joinBlocks(blocks: string[][]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

interface Cells {
  item: PlanItem;
  name: string;
  kind: string;
  count: string;
  credits: string;
  reason: string;
}

const reasonLines = 5;
const mostKind = 12;
const gap = '  ';
/** A name that takes more than this part of the line is cut in its middle. */
const nameShare = 0.4;
/** Less room than this for names, and kinds are left out. */
const leastName = 8;
/** Less room than this beside the other columns, and reasons go below. */
const leastReason = 24;

/** A line for each item, in columns that fit. `creditsOf`: what stands in the column of credits. */
export function itemLines(
  items: readonly PlanItem[],
  index: RowIndex,
  { style, width: columns, creditsOf = creditsOfItem }: PlanTextOptions & { creditsOf?: typeof creditsOfItem },
): string[] {
  const width = Math.max(40, columns);
  const table = items.map((item) => ({ ...cellsOf(item, index), credits: creditsOf(item.rows) }));
  const widest = (textOf: (cells: Cells) => string, most = width) =>
    table.reduce((max, cells) => Math.max(max, Math.min(most, displayWidth(textOf(cells)))), 0);
  const [count, credits] = [widest((row) => row.count), widest((row) => row.credits)];
  const sumOf = (own: number[]) => own.reduce((sum, one) => sum + (one === 0 ? 0 : gap.length + one), 2);
  const widestKind = widest((row) => row.kind, mostKind);
  const kind = sumOf([widestKind, count, credits]) + leastName > width ? 0 : widestKind;
  const others = sumOf([kind, count, credits]);
  const name = widest((row) => row.name, Math.max(leastName, Math.min(Math.floor(width * nameShare), width - others)));
  const before = others + name + gap.length;
  const room = width - before;
  return table.flatMap((cells) => {
    const paintIt = paint(cells.item.action, style);
    const line = [
      `${paintIt(glyphs[cells.item.action])} ${padRight(cutMiddle(cells.name, name), name)}`,
      ...(kind === 0 ? [] : [style.dim(padRight(cutToWidth(cells.kind, kind), kind))]),
      ...(count === 0 ? [] : [padLeft(cells.count, count)]),
      ...(credits === 0 ? [] : [padLeft(cells.credits, credits)]),
    ].join(gap);
    if (room < leastReason) {
      const reason = wrapText(cells.reason, width - 4, { maxLines: reasonLines });
      return [line.trimEnd(), ...reason.filter(Boolean).map((text) => style.dim(`    ${text}`))];
    }
    const reason = wrapText(cells.reason, room, { maxLines: reasonLines });
    return reason.map((text, at) => (at === 0 ? `${line}${gap}${text}` : `${' '.repeat(before)}${text}`).trimEnd());
  });
}

function cellsOf(item: PlanItem, index: RowIndex): Omit<Cells, 'credits'> {
  const { rows } = item;
  return {
    item,
    name: safeText(nameOfItem(item), 300),
    kind: safeText(item.kind ?? '', 40),
    count: rows.length === 1 ? '' : countOf(rows.length, item.kind === 'post' ? 'post' : 'step'),
    reason: [safeText(describeItem(item, index), 1000), describeDiscarded(item)].filter(Boolean).join(gap),
  };
}

/** `24`; `≈ 24` as it is expected; `?`, or `24 + ?`, where nobody knows the prices of some. */
export function creditsOfItem(rows: readonly PlanRow[]): string {
  const { unknownPrices, estimate } = sumPrices(rows);
  if (estimate === undefined) return '';
  const { likely, unpriced } = estimate;
  const known = likely === 0 ? [] : [`${unknownPrices > unpriced ? '≈ ' : ''}${creditsText(likely)}`];
  return [...known, ...(unpriced > 0 ? ['?'] : [])].join(' + ');
}

/** Stated once for all of them: nobody could check these requests for errors. */
function uncheckedLines(rows: PlanRow[], { style, width }: PlanTextOptions): string[] {
  const kinds = [...new Set(rows.map(({ kind }) => kind))].join(', ');
  const text = `unchecked: ${countOf(rows.length, 'request')} (${kinds}). The service does not document them, nor does an OpenAPI document that is known here; \`plan --refresh\` or a run asks for its own`;
  return wrapText(text, Math.max(40, width), { maxLines: 4 }).map((line) => style.yellow(line));
}

function paint(action: Action, style: Style): (text: string) => string {
  switch (action) {
    case 'create':
      return style.green;
    case 'redo':
    case 'retry':
    case 'unresolved':
    case 'blocked':
      return style.yellow;
    case 'attach':
    case 'download':
    case 'move':
      return style.cyan;
    case 'failed':
      return style.red;
    case 'keep':
    case 'orphan':
      return style.dim;
    default:
      return action satisfies never;
  }
}
