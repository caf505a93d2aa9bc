import { defined } from '../../ground/values.ts';
import { hasWork } from '../../plan/actions.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import { type Block, type Column, facts, heading, named, paragraph, strong, type Text } from '../document.ts';
import { countOf, creditsText, priceText } from '../numbers.ts';
import { markdownText } from '../render/markdown-text.ts';
import { safeText } from '../safe-text.ts';
import { withCanary } from './canary-words.ts';
import { limitFacts, modelFacts, postFacts, timeFacts } from './footer-facts.ts';
import { describeDiscarded, describeItem, indexRows, nameOfItem, type RowIndex } from './item-text.ts';
import { planHeadline } from './plan-counts.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { moneyFacts } from './plan-money.ts';
import { creditsOfItem, glyphs } from './plan-text.ts';

/**
 * The plan as Markdown, for a comment on a pull request: a row for each cause as on a terminal, their steps folded away
 * below, the costs last.
 *
 * @param marker its first line @param unlike why it is shown instead of a comparison @param now ms since 1970
 */
export function planMarkdown(
  plan: Plan,
  { marker, unlike, now }: { marker?: string; unlike?: string; now?: number } = {},
): string {
  const items = groupPlan(plan, { all: false });
  const headline = planHeadline(plan);
  const document = [
    heading(named(plan.campaign)),
    unlike === undefined
      ? undefined
      : paragraph(['There is nothing to compare with, so this is the whole plan: ', named(unlike)]),
    commentTable(items, indexRows(plan), { title: 'why', wordOf: ({ action }) => action, creditsOf: creditsOfItem }),
    paragraph(hasWork(plan) ? strong(headline) : headline),
    ...items.flatMap(stepsOf),
    facts([
      ...postFacts(plan, now),
      ...moneyFacts(plan.totals, { isQuiet: false }),
      ...limitFacts(plan),
      ...modelFacts(plan),
      ...timeFacts(plan.totals),
    ]),
  ];
  return markdownText(document, { marker });
}

export function commentTable(
  items: readonly PlanItem[],
  index: RowIndex,
  {
    title,
    wordOf,
    creditsOf,
  }: { title: string; wordOf: (item: PlanItem) => string; creditsOf: (rows: readonly PlanRow[]) => string },
): Block {
  const rows = items.map((item): Text[] => {
    const discarded = describeDiscarded(item);
    return [
      [{ text: glyphs[item.action], mark: 'code' }, ` ${wordOf(item)}`],
      named(safeText(nameOfItem(item), 300)),
      named(item.kind ?? ''),
      creditsText(item.rows.length),
      creditsOf(item.rows),
      [named(describeItem(item, index)), discarded === '' ? '' : `; ${discarded}`],
    ];
  });
  const columns: Column[] = [
    { title: '' },
    { title: 'task' },
    { title: 'kind' },
    { title: 'steps', align: 'right' },
    { title: 'credits', align: 'right' },
    { title },
  ];
  return { is: 'table', columns, rows, counts: items.map((item) => item.rows.length) };
}

function stepsOf(item: PlanItem): Block[] {
  const { action, rows } = item;
  if (rows.length === 1 || action === 'keep') return [];
  const title = [`${action} ${countOf(rows.length, 'step')} of `, named(nameOfItem(item))];
  return [{ is: 'folded', title, lines: rows.map(stepOf) }];
}

function stepOf(row: PlanRow): Text {
  const { address, credits, price, reason, output } = row;
  const text = priceText({ credits, ...defined({ price }) });
  const cost =
    credits === 0 ? '' : `, ${text === '?' ? 'price unknown' : `${text} ${text === '1' ? 'credit' : 'credits'}`}`;
  const was = output === undefined ? [] : [' ', named(output)];
  return [named(safeText(address, 300)), `${cost}: `, named(safeText(withCanary(reason.text, row), 300)), ...was];
}
