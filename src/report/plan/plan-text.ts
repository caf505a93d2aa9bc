import { hasWork, isQuiet } from '../../plan/actions.ts';
import type { Action, Plan, PlanRow, PlanTotals } from '../../plan/plan.ts';
import { sumPrices } from '../../plan/prices/sum-prices.ts';
import {
  type Block,
  type Column,
  type Document,
  facts,
  faint,
  line,
  type Mark,
  paragraph,
  strong,
  type Text,
  table,
  warning,
} from '../document.ts';
import { countOf, creditsText } from '../numbers.ts';
import { terminalText } from '../render/terminal-text.ts';
import { safeText } from '../safe-text.ts';
import type { Style } from '../style.ts';
import { limitFacts, modelFacts, postFacts, timeFacts } from './footer-facts.ts';
import { describeDiscarded, describeItem, indexRows, nameOfItem, type RowIndex } from './item-text.ts';
import { allUpToDate, planHeadline } from './plan-counts.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { moneyFacts } from './plan-money.ts';

interface PlanTextOptions {
  style: Style;
  width: number;
  /** Whether to show every row: kept steps one by one, long lists in full. */
  all?: boolean;
  /** In ms since 1970. Posts with an earlier time are marked as published at once. */
  now?: number;
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

/** Shows actions, steps and reasons, a line for each cause, then the counts. Costs come last, next to the question. */
function planView(plan: Plan, { all = false, isRehearsal = false, now }: PlanTextOptions): Document {
  const isShort = isQuiet(plan) && !all;
  const items = isShort ? [] : groupPlan(plan, { all });
  const unchecked = plan.rows.filter((row) => row.unchecked === true);
  const headline = planHeadline(plan);
  return [
    items.length > 0
      ? line([strong(plan.campaign), isRehearsal ? '  with sandbox credits (--sandbox)' : ''])
      : undefined,
    itemTable(items, indexRows(plan)),
    unchecked.length > 0 ? paragraph(warning(uncheckedText(unchecked))) : undefined,
    paragraph(hasWork(plan) ? strong(headline) : headline),
    facts([
      ...postFacts(plan, now),
      ...moneyFacts(plan.totals, { isQuiet: isShort }),
      ...limitFacts(plan),
      ...modelFacts(plan),
      ...timeFacts(plan.totals),
    ]),
  ];
}

export function planText(plan: Plan, options: PlanTextOptions): string {
  return terminalText(planView(plan, options), options);
}

/** Returns what `planText` returns for a plan with nothing to do, for callers that only have these facts. */
export function quietText(
  { steps, totals }: { steps: number; totals: PlanTotals },
  { style }: { style: Style },
): string {
  return terminalText([paragraph(allUpToDate(steps)), facts(moneyFacts(totals, { isQuiet: true }))], { style });
}

const columns: readonly Column[] = [
  { title: '', close: true },
  { title: '', least: 8, cut: 'middle' },
  { title: '', least: 4 },
  { title: '', align: 'right' },
  { title: '', align: 'right' },
  { title: '', least: 24, cut: 'wrap', below: true },
];

export function itemTable(items: readonly PlanItem[], index: RowIndex, creditsOf = creditsOfItem): Block {
  const cells = items.map((item): Text[] => {
    const { rows, action, kind = '' } = item;
    return [
      { text: glyphs[action], mark: marks[action] },
      safeText(nameOfItem(item), 300),
      faint(safeText(kind, 40)),
      rows.length === 1 ? '' : countOf(rows.length, kind === 'post' ? 'post' : 'step'),
      creditsOf(rows),
      [safeText(describeItem(item, index), 1000), describeDiscarded(item)].filter(Boolean).join('  '),
    ];
  });
  return table(columns, cells);
}

const marks: { readonly [action in Action]: Mark } = {
  create: 'good',
  redo: 'warning',
  retry: 'warning',
  unresolved: 'warning',
  blocked: 'warning',
  attach: 'active',
  download: 'active',
  move: 'active',
  failed: 'bad',
  keep: 'faint',
  orphan: 'faint',
};

/** Returns the credits of an item: `24`; `≈ 24` for an estimate; `?` or `24 + ?` with unknown prices. */
export function creditsOfItem(rows: readonly PlanRow[]): string {
  const { unknownPrices, estimate } = sumPrices(rows);
  if (estimate === undefined) return '';
  const { likely, unpriced } = estimate;
  const known = likely === 0 ? [] : [`${unknownPrices > unpriced ? '≈ ' : ''}${creditsText(likely)}`];
  return [...known, ...(unpriced > 0 ? ['?'] : [])].join(' + ');
}

function uncheckedText(rows: readonly PlanRow[]): string {
  const kinds = [...new Set(rows.map(({ kind }) => kind))].join(', ');
  return `unchecked: ${countOf(rows.length, 'request')} (${kinds}). Neither the documentation nor a stored OpenAPI document describes them; \`plan --refresh\` or a run requests the document of the service`;
}
