import { hasWork } from '../../plan/actions.ts';
import type { Plan, PlanRow } from '../../plan/plan.ts';
import { countOf, creditsText, priceText } from '../numbers.ts';
import { makeStyle } from '../style.ts';
import { withCanary } from './canary-words.ts';
import { fitComment, markdownCode, markdownTable } from './fit-comment.ts';
import { limitFacts, postFacts, timeFacts } from './footer-lines.ts';
import { describeDiscarded, describeItem, indexRows, nameOfItem, type RowIndex } from './item-text.ts';
import { planHeadline } from './plan-counts.ts';
import { groupPlan, type PlanItem } from './plan-items.ts';
import { moneyFacts } from './plan-money.ts';
import { creditsOfItem, glyphs } from './plan-text.ts';

/**
 * The plan as Markdown, for a comment on a pull request: a row for each cause as on a terminal, their steps folded away
 * below, the money last. All names and texts of the campaign stand in code spans, in which nothing has a meaning.
 *
 * @param marker its first line @param notes Markdown to stand below the title
 * @param now ms since 1970
 */
export function planMarkdown(
  plan: Plan,
  { marker, notes = [], now }: { marker?: string; notes?: readonly string[]; now?: number } = {},
): string {
  const items = groupPlan(plan, { all: false });
  const index = indexRows(plan);
  const style = makeStyle(false);
  const footer = [
    ...postFacts(plan, style, now).map(({ label, text }) => `- ${label}: ${markdownCode(text)}`),
    ...[
      ...moneyFacts(plan.totals, { style, isQuiet: false }),
      ...limitFacts(plan, style),
      ...timeFacts(plan.totals),
    ].map(({ label, text }) => `- ${label}: ${text}`),
  ];
  return fitComment({
    before: [...(marker === undefined ? [] : [marker]), `### ${markdownCode(plan.campaign)}`, ...notes],
    table: {
      text: itemTable(items, index, { title: 'why', wordOf: ({ action }) => action, creditsOf: creditsOfItem }).join(
        '',
      ),
      steps: items.map(({ rows }) => rows.length),
    },
    between: [hasWork(plan) ? `**${planHeadline(plan)}**` : planHeadline(plan)],
    lists: items.flatMap((item) => listOf(item)),
    after: [footer.join('\n')],
  });
}

/** A row for each item; nothing without items. `title`: of the last column, which says what `describeItem` says. */
export function itemTable(
  items: readonly PlanItem[],
  index: RowIndex,
  {
    title,
    wordOf,
    creditsOf,
  }: { title: string; wordOf: (item: PlanItem) => string; creditsOf: (rows: readonly PlanRow[]) => string },
): string[] {
  if (items.length === 0) return [];
  const rows = items.map((item) => [
    `\`${glyphs[item.action]}\` ${wordOf(item)}`,
    markdownCode(nameOfItem(item), 300),
    markdownCode(item.kind ?? ''),
    creditsText(item.rows.length),
    creditsOf(item.rows),
    [markdownCode(describeItem(item, index)), describeDiscarded(item)].filter(Boolean).join('; '),
  ]);
  const columns = [
    { title: '' },
    { title: 'task' },
    { title: 'kind' },
    { title: 'steps', align: 'right' as const },
    { title: 'credits', align: 'right' as const },
    { title },
  ];
  return [markdownTable(columns, rows)];
}

/** The steps behind a row that stands for several; kept ones need no list. */
function listOf({ action, rows, ...item }: PlanItem): { summary: string; lines: string[] }[] {
  if (rows.length === 1 || action === 'keep') return [];
  const name = inHtml(nameOfItem({ action, rows, ...item }));
  return [{ summary: `${action} ${countOf(rows.length, 'step')} of <code>${name}</code>`, lines: rows.map(stepOf) }];
}

function stepOf(row: PlanRow): string {
  const { address, credits, price, reason, output } = row;
  const text = priceText({ credits, ...(price && { price }) });
  const cost =
    credits === 0 ? '' : `, ${text === '?' ? 'price unknown' : `${text} ${text === '1' ? 'credit' : 'credits'}`}`;
  const was = output === undefined ? '' : ` ${markdownCode(output)}`;
  return `- ${markdownCode(address, 300)}${cost}: ${markdownCode(withCanary(reason.text, row), 300)}${was}`;
}

/** Names of tasks are ASCII words by the rules of the manifest; a lock that somebody edited may say anything. */
export function inHtml(text: string): string {
  return text.replace(/[^A-Za-z0-9_ -]/g, (character) => `&#${character.codePointAt(0)};`);
}
