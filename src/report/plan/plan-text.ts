import { hasWork, isQuiet } from '../../plan/actions.ts';
import type { Action, Plan, PlanRow, PlanTotals } from '../../plan/plan.ts';
import { countOf, creditsText, priceText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { cutMiddle, cutToWidth, displayWidth, padLeft, padRight, wrapText } from '../text-width.ts';
import { moneyLines, pricesText } from './plan-money.ts';
import { postLines } from './plan-posts.ts';
import { allUpToDate, groupPlanRows, type PlanGroup, type PlanItem, planHeadline } from './plan-rows.ts';

export interface PlanTextOptions {
  style: Style;
  /** Columns of the terminal; less than 40 counts as 40. */
  width: number;
  /** Show every row: kept steps one by one, long lists in full. */
  all?: boolean;
}

const glyphs: Readonly<Record<Action, string>> = {
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

/** The plan for people: each step's action, reason and price, and the totals. Ends with a line feed. */
export function planText(plan: Plan, options: PlanTextOptions): string {
  const { style } = options;
  const isShort = isQuiet(plan) && options.all !== true;
  const headline = hasWork(plan) ? `${style.bold(safeText(plan.campaign))}: ${planHeadline(plan)}` : planHeadline(plan);
  const groups = isShort ? [] : groupPlanRows(plan, { all: options.all ?? false });
  const columns = measureColumns(groups, options.width);
  const unchecked = plan.rows.filter((row) => row.unchecked === true);
  return joinBlocks([
    [headline],
    ...groups.map((group) => groupLines(group, columns, style)),
    unchecked.length > 0 ? uncheckedLines(unchecked, options) : [],
    [...postLines(plan, { style }), ...moneyLines(plan.totals, { style, isQuiet: isShort })],
  ]);
}

/** The text that `planText` gives for a quiet plan, for callers that know no more of it than this. */
export function quietText(known: { steps: number; totals: PlanTotals }, { style }: { style: Style }): string {
  return joinBlocks([[allUpToDate(known.steps)], moneyLines(known.totals, { style, isQuiet: true })]);
}

function joinBlocks(blocks: string[][]): string {
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

interface Columns {
  width: number;
  address: number;
  kind: number;
  credits: number;
  /** Position of the reason: on the same line, or on lines of its own below if there is no room. */
  reason: 'beside' | 'below';
  reasonWidth: number;
}

const indentation = '  ';
const reasonLines = 3;

function measureColumns(groups: PlanGroup[], terminalWidth: number): Columns {
  const width = Math.max(40, terminalWidth);
  const items = groups.flatMap((group) => group.items);
  const widest = (texts: string[], most: number) =>
    texts.reduce((max, text) => Math.max(max, Math.min(most, displayWidth(text))), 0);
  const kind = widest(items.map(kindOf), 12);
  const credits = Math.max(1, widest(items.map(creditsOf), 12));
  const others = indentation.length + 2 + 2 + kind + 2 + credits;
  const address = widest(items.map(addressOf), Math.min(Math.floor(width * 0.4), width - others));
  const before = others + address + 2;
  const isBeside = width - before >= 24;
  return {
    width,
    address,
    kind,
    credits,
    reason: isBeside ? 'beside' : 'below',
    reasonWidth: isBeside ? width - before : width - 6,
  };
}

function groupLines(group: PlanGroup, columns: Columns, style: Style): string[] {
  const head = [`${group.action}: ${countOf(group.rows.length, 'step')}`, ...pricesText(group.rows)].join(', ');
  return [
    paint(group.action, style)(head),
    ...group.items.flatMap((item) => itemLines(item, group.action, columns, style)),
  ];
}

function itemLines(item: PlanItem, action: Action, columns: Columns, style: Style): string[] {
  const start = indentation.length + 2;
  if (item.is === 'more') {
    const more = [`${' '.repeat(start)}… and ${item.rows.length} more`, ...pricesText(item.rows)].join(', ');
    return [style.dim(cutToWidth(more, columns.width))];
  }
  const glyph = paint(action, style)(glyphs[action]);
  const address = padRight(cutMiddle(addressOf(item), columns.address), columns.address);
  const kind = padRight(cutToWidth(kindOf(item), columns.kind), columns.kind);
  const credits = padLeft(creditsOf(item), columns.credits);
  const line = `${indentation}${glyph} ${address}  ${style.dim(kind)}  ${credits}`;
  const reason = wrapText(reasonOf(item), columns.reasonWidth, { maxLines: reasonLines });
  if (columns.reason === 'below') {
    return [line.trimEnd(), ...reason.filter(Boolean).map((text) => style.dim(`      ${text}`.trimEnd()))];
  }
  const margin = ' '.repeat(columns.width - columns.reasonWidth);
  return reason.map((text, index) => (index === 0 ? `${line}  ${text}` : `${margin}${text}`).trimEnd());
}

function addressOf(item: PlanItem): string {
  if (item.is === 'more') return '';
  return safeText(item.is === 'row' ? item.row.address : item.task, 300);
}

function kindOf(item: PlanItem): string {
  if (item.is === 'more') return '';
  return safeText(item.is === 'row' ? item.row.kind : item.kind, 40);
}

function creditsOf(item: PlanItem): string {
  return item.is === 'row' && item.row.credits !== 0 ? priceText(item.row) : '';
}

function reasonOf(item: PlanItem): string {
  switch (item.is) {
    case 'row':
      return safeText(describeReason(item.row), 1000);
    case 'kept':
      return keptText(item);
    case 'more':
      return '';
    default:
      return item satisfies never;
  }
}

function keptText({ steps, unneeded }: Extract<PlanItem, { is: 'kept' }>): string {
  const here = steps - unneeded;
  const parts = [
    ...(here > 0 || unneeded === 0 ? [steps === 1 ? 'up to date' : `${countOf(here, 'step')} up to date`] : []),
    ...(unneeded > 0 ? [`${countOf(unneeded, 'step')} not needed`] : []),
  ];
  return parts.join(', ');
}

/** Stated once for all of them: nobody could check these requests for errors. */
function uncheckedLines(rows: PlanRow[], { style, width }: PlanTextOptions): string[] {
  const kinds = [...new Set(rows.map(({ kind }) => kind))].join(', ');
  const text = `unchecked: ${countOf(rows.length, 'request')} (${kinds}). The service does not document them, and its OpenAPI document is not known here; \`plan --refresh\` or a run fetches it`;
  return wrapText(text, Math.max(40, width), { maxLines: 4 }).map((line) => style.yellow(line));
}

/** The reason, and the paid work that the row gives up. */
export function describeReason(row: PlanRow): string {
  return row.discards === undefined || row.discards === 0
    ? row.reason
    : `${row.reason}; discards ${creditsText(row.discards)}`;
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
