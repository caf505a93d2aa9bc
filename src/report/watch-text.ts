import type { Failure } from '../contract/failure.ts';
import { type Diagnostic, sortDiagnostics } from '../ground/diagnostic.ts';
import type { Json } from '../ground/json.ts';
import type { OtherAction, PlanDifference } from '../plan/compare/compare-plans.ts';
import type { Plan, PlanTotals } from '../plan/plan.ts';
import type { Paste } from './advice-text.ts';
import { diagnosticJson } from './diagnostics/diagnostics-json.ts';
import { diagnosticsText } from './diagnostics/diagnostics-text.ts';
import { failureJson, failureText } from './failure-text.ts';
import { countOf, signedText } from './numbers.ts';
import { chargesText, differenceLines } from './plan/compare-text.ts';
import { actionWords, planHeadline } from './plan/plan-counts.ts';
import { budgetText, spendText } from './plan/plan-money.ts';
import { safeText, shortList } from './safe-text.ts';
import type { Style } from './style.ts';
import { displayWidth, wrapText } from './text-width.ts';

/** Everything that there is to say after a save. */
export interface WatchView {
  plan?: Plan;
  /** The last plan before, where there was one. */
  before?: Plan;
  difference?: PlanDifference;
  diagnostics: readonly Diagnostic[];
  /** Texts that diagnostics point into, by file name. */
  sources: ReadonlyMap<string, string>;
  failure?: Failure;
  notices: readonly string[];
  /** ms since 1970. */
  at: number;
  tookMs: number;
}

export interface WatchTextOptions {
  style: Style;
  width: number;
  paste: Paste;
  /** A line with the time goes before it; otherwise the time stands in its first line. */
  rule: boolean;
}

const mostMistakes = 5;
const mostChanges = 24;
const mostNamed = 3;

/** Credits first, then what changed, then what is wrong. Ends with a line feed. */
export function watchText(view: WatchView, options: WatchTextOptions): string {
  const width = Math.max(40, options.width);
  const { style, paste } = options;
  const { diagnostics, sources, failure, notices } = view;
  const wrap = (text: string) => wrapText(text, width, { maxLines: 4 });
  const lines = [
    ...(options.rule ? [ruleText(view, width, style)] : []),
    ...wrap(`${options.rule ? '' : `${timeText(view.at)} `}${moneyText(view)}`).map((line) =>
      style[view.plan === undefined ? 'red' : 'bold'](line),
    ),
    ...planLines(view, { style, wrap }),
    ...changeLines(view, { style, width, wrap }),
    ...notices.flatMap((text) => wrap(`notice ${safeText(text, 1000)}`).map(style.yellow)),
  ];
  return [
    `${lines.join('\n')}\n`,
    diagnosticsText(diagnostics, sources, { style, width, most: mostMistakes }),
    failure === undefined ? '' : failureText(failure, { style, paste }),
  ].join('');
}

function ruleText({ at, tookMs }: WatchView, width: number, style: Style): string {
  const [left, right] = [`── ${timeText(at)} `, ` ${Math.round(tookMs)} ms ──`];
  return style.dim(`${left}${'─'.repeat(Math.max(0, width - displayWidth(left) - displayWidth(right)))}${right}`);
}

/** `18:42:07`, by the clock of this machine. */
export function timeText(at: number): string {
  return new Date(at).toTimeString().slice(0, 8);
}

/** Says what the plan spends, and how much that is more or less than before. */
function moneyText({ plan, before }: WatchView): string {
  if (plan === undefined)
    return `no plan${before === undefined ? '' : `; the last one would spend ${spendText(before.totals)}`}`;
  const change = before === undefined ? 0 : likelyOf(plan.totals) - likelyOf(before.totals);
  return `to spend: ${spendText(plan.totals)}${change === 0 ? '' : ` (${signedText(change)})`}`;
}

function likelyOf({ knownPrices, estimate }: PlanTotals): number {
  return estimate?.likely ?? knownPrices;
}

type Wrap = (text: string) => string[];

function planLines({ plan }: WatchView, { style, wrap }: { style: Style; wrap: Wrap }): string[] {
  if (plan === undefined) return [];
  const { budget, discarded } = plan.totals;
  const { text = '', isShort = false } = budget === undefined ? {} : budgetText(plan.totals, budget);
  return [
    ...(budget === undefined ? [] : wrap(`budget ${text}`).map((line) => (isShort ? style.red(line) : line))),
    ...(discarded > 0 ? wrap(`gives up ${countOf(discarded, 'credit')} of paid work`).map(style.yellow) : []),
    ...wrap(planHeadline(plan)),
  ];
}

function changeLines(
  { difference }: WatchView,
  { style, width, wrap }: { style: Style; width: number; wrap: Wrap },
): string[] {
  if (difference === undefined) return [];
  const { steps, bought, others } = difference;
  const lines = [
    ...differenceLines({ steps }, { style, width }),
    ...(bought.length > 0 ? wrap(`bought ${chargesText(bought)}`) : []),
    ...others.flatMap((other) => wrap(otherText(other))),
  ];
  if (lines.length === 0) return [style.dim('no step differs from the last plan')];
  const left = lines.length - mostChanges;
  return left <= 0 ? lines : [...lines.slice(0, mostChanges), style.dim(`… and ${countOf(left, 'line')} more`)];
}

/** `hero@lamp, hero@vase and 10 more: up to date, before: to create`. */
function otherText({ from, to, addresses }: OtherAction): string {
  return `${shortList(addresses, mostNamed)}: ${actionWords[to]}, before: ${actionWords[from]}`;
}

/**
 * Renders what there is to say after a save, for programs, as `schemas/watch.schema.json` describes it. `changes` and
 * `totals` are those of `plan --compare --json` and `plan --json`.
 */
export function watchJson(view: WatchView, paste: Paste): Json {
  const { plan, difference, diagnostics, failure, notices, at, tookMs } = view;
  const actions: { [action: string]: number } = {};
  for (const { action } of plan?.rows ?? []) actions[action] = (actions[action] ?? 0) + 1;
  const json = {
    mediabatch: 'watch',
    version: 1,
    at: new Date(at).toISOString(),
    tookMs: Math.round(tookMs),
    valid: plan !== undefined,
    ...(plan !== undefined && {
      campaign: plan.campaign,
      steps: plan.rows.filter(({ action }) => action !== 'orphan').length,
      actions,
      totals: plan.totals,
    }),
    ...(difference !== undefined && {
      changes: difference.steps,
      others: difference.others,
      bought: difference.bought.map(({ id, address, credits }) => ({ id, address, credits })),
    }),
    diagnostics: sortDiagnostics(diagnostics).map(diagnosticJson),
    ...(failure !== undefined && { failure: failureJson(failure, paste) }),
    notices,
  };
  return json as unknown as Json;
}
