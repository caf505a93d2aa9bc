import type { Plan } from '../../plan/plan.ts';
import { priceText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';
import { makeStyle } from '../style.ts';
import { moneyLines, pricesText } from './plan-money.ts';
import { postLines } from './plan-posts.ts';
import { groupPlanRows, type PlanItem, planHeadline } from './plan-rows.ts';
import { describeReason } from './plan-text.ts';

/** The plan as a Markdown table, for a comment on a pull request. Long lists are folded as on a terminal. */
export function planMarkdown(plan: Plan): string {
  const rows = groupPlanRows(plan, { all: false }).flatMap(({ action, items }) =>
    items.map((item) => `| ${[action, ...cellsOf(item)].join(' | ')} |`),
  );
  const style = makeStyle(false);
  const posts = postLines(plan, { style }).map((line) => markdownText(line));
  const money = [...posts, ...moneyLines(plan.totals, { style, isQuiet: false })];
  const parts = [`### ${markdownText(plan.campaign)}`, planHeadline(plan)];
  if (rows.length > 0) {
    parts.push(['| action | step | kind | credits | reason |', '| --- | --- | --- | ---: | --- |', ...rows].join('\n'));
  }
  parts.push(money.map((line) => `- ${line.replace(/ {2,}/, ': ')}`).join('\n'));
  return `${parts.join('\n\n')}\n`;
}

function cellsOf(item: PlanItem): string[] {
  switch (item.is) {
    case 'row': {
      const { address, kind, credits } = item.row;
      return [
        markdownText(address, 300),
        markdownText(kind),
        credits === 0 ? '' : markdownText(priceText(item.row)),
        markdownText(describeReason(item.row)),
      ];
    }
    case 'kept':
      return [markdownText(item.task), markdownText(item.kind), '', `${item.steps} up to date`];
    case 'more':
      return [`… and ${item.rows.length} more`, '', pricesText(item.rows).join(', '), ''];
    default:
      return item satisfies never;
  }
}

/** Every character with a meaning to Markdown, HTML or a link finder. Entities never form structure. */
const special = /[!-,./:-@[-`{-~]/g;

/**
 * A text as Markdown that shows exactly this text: no structure, no HTML, no links. The empty comments keep a code host
 * from reading `@name` as a person to notify and `#12` as an issue.
 */
export function markdownText(text: string, maxLength = 500): string {
  return safeText(text, maxLength).replace(special, (character) => {
    if (harmless.has(character)) return character;
    const entity = `&#${character.charCodeAt(0)};`;
    return character === '@' || character === '#' ? `${entity}<!-- -->` : entity;
  });
}

/** Within a line that does not begin with them, these have no meaning of their own. */
const harmless = new Set([',', ';', '%', '?', "'", '"', '/', '(', ')', '=', '+']);
