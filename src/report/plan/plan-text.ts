import { countSteps, hasWork, isHeldBack, isQuiet } from '../../plan/actions.ts';
import type { Action, Plan, PlanRow, PlanTotals } from '../../plan/plan.ts';
import { sumPrices } from '../../plan/sum-up.ts';
import {
  active,
  type Block,
  bad,
  type Document,
  facts,
  faint,
  good,
  heading,
  listOf,
  named,
  paragraph,
  type Span,
  strong,
  type Text,
  warning,
} from '../document.ts';
import { costCell, countOf, countWords, creditsText, priceText } from '../numbers.ts';
import { markdownText } from '../render/markdown-text.ts';
import { terminalText } from '../render/terminal-text.ts';
import type { Style } from '../style.ts';
import { costOf, limitFacts, modelFacts, moneyFacts, postFacts, timeFacts } from './plan-facts.ts';
import {
  actionOrder,
  describeItem,
  groupPlan,
  indexRows,
  nameOfItem,
  type PlanItem,
  withCanary,
} from './plan-items.ts';

interface ViewOptions {
  all?: boolean;
  /** Current time in ms since 1970. If given, the text counts posts scheduled for an earlier time. */
  now?: number;
  isRehearsal?: boolean;
}

const glyphs: { readonly [action in Action]: Span } = {
  create: good('+'),
  redo: warning('~'),
  retry: warning('^'),
  attach: active('@'),
  download: active('v'),
  move: active('>'),
  keep: '=',
  failed: bad('!'),
  blocked: warning('x'),
  unresolved: warning('?'),
  orphan: '-',
};

/** Shows each action with its cause, then the counts. Costs come last, because the prompt for approval follows. */
function planView(plan: Plan, { all = false, isRehearsal = false, now }: ViewOptions): Document {
  const items = groupPlan(plan, { all });
  const headline = planHeadline(plan);
  return [
    heading([named(plan.campaign), isRehearsal ? faint('  with sandbox credits (--sandbox)') : '']),
    itemTable(items, plan, { creditsOf: (rows) => costCell(costOf(sumPrices(rows))) }),
    uncheckedBlock(plan),
    paragraph(hasWork(plan) ? strong(headline) : headline),
    ...items.flatMap(stepsOf),
    facts([
      ...postFacts(plan, now),
      ...moneyFacts(plan.totals),
      ...limitFacts(plan),
      ...modelFacts(plan),
      ...timeFacts(plan.totals),
    ]),
  ];
}

export function planText(plan: Plan, options: ViewOptions & { style: Style; width: number }): string {
  const isShort = isQuiet(plan) && options.all !== true;
  return isShort
    ? quietText({ steps: countSteps(plan), ...plan }, options)
    : terminalText(planView(plan, options), options);
}

export function quietText(
  { steps, totals }: { steps: number; totals: PlanTotals },
  look: { style: Style; width?: number },
): string {
  return terminalText(
    [paragraph(`Nothing to do: ${keptAll(steps)}`), facts(moneyFacts(totals, { isQuiet: true }))],
    look,
  );
}

/**
 * Returns a comment for a pull request. `marker`: first line of the comment. `unlike`: reason why there is no
 * comparison.
 */
export function planMarkdown(
  plan: Plan,
  { marker, unlike, now }: { marker?: string; unlike?: string; now?: number } = {},
): string {
  const [title, ...view] = planView(plan, now === undefined ? {} : { now });
  const why =
    unlike === undefined
      ? undefined
      : paragraph(['There is no version to compare with, so this is the whole plan: ', named(unlike)]);
  return markdownText([title, why, ...view], { marker });
}

export function itemTable(
  items: readonly PlanItem[],
  plan: Pick<Plan, 'rows'>,
  { title = 'credits', creditsOf }: { title?: string; creditsOf(rows: readonly PlanRow[]): string },
): Block {
  const index = indexRows(plan);
  return listOf(
    items,
    [
      { title: '', close: true, of: ({ action }) => glyphs[action] },
      { title: 'task', least: 8, cut: 'middle', of: (item) => named(nameOfItem(item)) },
      { title: 'kind', least: 4, of: ({ kind = '' }) => faint(kind) },
      { title: 'steps', align: 'right', of: ({ rows, kind }) => (rows.length === 1 ? '' : stepsText(rows, kind)) },
      { title, align: 'right', of: ({ rows }) => creditsOf(rows) },
      { title: 'why', least: 24, cut: 'wrap', of: (item) => [named(describeItem(item, index)), discardText(item)] },
    ],
    { hasHead: false },
  );
}

function stepsText({ length }: readonly PlanRow[], kind: string | undefined): string {
  return countOf(length, kind === 'post' ? 'post' : 'step');
}

function discardText({ rows }: PlanItem): string {
  const discards = rows.reduce((sum, row) => sum + (row.discards ?? 0), 0);
  return discards > 0 ? `  gives up ${creditsText(discards)}` : '';
}

function stepsOf({ action, rows, task, kind }: PlanItem): Block[] {
  if (rows.length === 1 || action === 'keep') return [];
  const title = [`${action} ${stepsText(rows, kind)} of `, named(task ?? '')];
  return [{ is: 'folded', title, lines: rows.map(stepOf) }];
}

function stepOf(row: PlanRow): Text {
  const { address, credits, reason, output } = row;
  const cost = credits === 0 ? '' : `, ${priceText(row)}`;
  const file = output === undefined ? [] : [' ', named(output)];
  return [named(address), `${cost}: `, named(withCanary(reason.text, row)), ...file];
}

function uncheckedBlock({ rows }: Plan): Block | undefined {
  const unchecked = rows.filter((row) => row.unchecked === true);
  if (unchecked.length === 0) return undefined;
  const kinds = [...new Set(unchecked.map(({ kind }) => kind))].join(', ');
  return paragraph(
    warning(
      `unchecked: ${countOf(unchecked.length, 'request')} (${kinds}). Neither the documentation nor a stored OpenAPI document describes these requests; \`plan --refresh\` or a run downloads the document of the service`,
    ),
  );
}

function planHeadline(plan: Plan): string {
  const { rows } = plan;
  const count = (has: (row: PlanRow) => boolean) => rows.filter(has).length;
  const atGates = count(({ blockedBy }) => blockedBy === 'gate');
  const waiting = count(({ blockedBy }) => blockedBy === 'consent');
  const posted = count(({ changedSince }) => changedSince === true);
  const pinned = count(isHeldBack) - posted;
  const byAction = countWords(
    actionOrder.map((action) => [count((row) => row.action === action && !isApart(row)), actionWords[action]]),
  );
  const apart = countWords([
    [pinned, `unchanged because of ${pinned === 1 ? 'a pin' : 'pins'}`],
    [posted, 'posted, then changed'],
    [waiting, 'waiting for consent'],
    [atGates, 'waiting for a pick'],
  ]);
  const isSettled = (row: PlanRow) => row.action === 'orphan' || (row.action === 'keep' && !isApart(row));
  if (rows.every(isSettled)) return `Nothing to do: ${keptAll(countSteps(plan))}`;
  return [...byAction, ...apart].join(', ');
}

function isApart(row: PlanRow): boolean {
  return row.blockedBy === 'gate' || row.blockedBy === 'consent' || isHeldBack(row);
}

function keptAll(steps: number): string {
  if (steps === 0) return 'there are no steps';
  return steps === 1 ? 'the only step is up to date' : `all ${creditsText(steps)} steps are up to date`;
}

const actionWords: Readonly<Record<Action, string>> = {
  create: 'to create',
  redo: 'to redo',
  retry: 'to retry',
  attach: 'to collect',
  download: 'to download',
  move: 'to move',
  unresolved: 'unresolved',
  failed: 'failed',
  blocked: 'blocked',
  orphan: 'no longer in the manifest',
  keep: 'up to date',
};
