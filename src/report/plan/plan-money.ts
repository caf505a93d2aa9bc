import type { PlanRow, PlanTotals } from '../../plan/plan.ts';
import { sumPrices } from '../../plan/sum-prices.ts';
import { countOf, creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { padRight } from '../text-width.ts';

/**
 * The footer of a plan: its cost, earlier payments, and what the caps leave. Quiet (nothing to do): payments and budget
 * only.
 */
export function moneyLines(totals: PlanTotals, options: { style: Style; isQuiet: boolean }): string[] {
  return moneyFacts(totals, options)
    .filter((fact) => !options.isQuiet || !fact.isAboutThisPlan)
    .map(({ label, text }) => `${options.style.dim(padRight(label, 12))}  ${text}`);
}

interface MoneyFact {
  label: string;
  text: string;
  /** True when it concerns what this plan would do, not the campaign. */
  isAboutThisPlan: boolean;
}

function moneyFacts(totals: PlanTotals, options: { style: Style }): MoneyFact[] {
  const { mayRetry, alreadyPaid, held, discarded, budget, maxCredits, balance } = totals;
  const facts: MoneyFact[] = [];
  const add = (label: string, text: string) => facts.push({ label, text, isAboutThisPlan: false });
  const addOfPlan = (label: string, text: string) => facts.push({ label, text, isAboutThisPlan: true });
  addOfPlan('to spend', options.style.bold(toSpendText(totals)));
  if (mayRetry !== undefined) {
    addOfPlan(
      'retries',
      mayRetry > 0 ? `up to ${countOf(mayRetry, 'credit')} more, should jobs fail` : 'of unknown price',
    );
  }
  add('already paid', creditsText(alreadyPaid));
  if (held > 0) add('held', `${creditsText(held)} for creates whose outcome is not known`);
  if (discarded > 0) addOfPlan('discarded', `${creditsText(discarded)} of paid work that is bought anew`);
  if (budget !== undefined) add('budget', budgetText(totals, budget, options.style));
  if (maxCredits !== undefined) addOfPlan('this run', `at most ${countOf(maxCredits, 'credit')}`);
  if (balance !== undefined) add('balance', creditsText(balance));
  return facts;
}

/** The same with what follows from it: steps of uncertain price go alone first. */
function toSpendText(totals: PlanTotals): string {
  if (totals.unknownPrices === 0) return rangeText(totals.estimate) ?? spendText(totals);
  const { list = 0, 'other-lock': charged = 0 } = totals.estimate?.sources ?? {};
  const notes = [
    ...(charged > 0 ? [`${countOf(charged, 'step')} by what another campaign was charged`] : []),
    ...(list > 0 ? [`${countOf(list, 'step')} by list price`] : []),
    'the first of each goes alone and prices the rest',
  ];
  return `${spendText(totals)} (${notes.join('; ')})`;
}

/** What a plan spends: `39 credits`; `≈ 44 credits + 3 steps of unknown price`. Never 0 for unknown. */
export function spendText({ toSpend, unknownPrices, estimate }: PlanTotals): string {
  if (unknownPrices === 0) return countOf(toSpend, 'credit');
  const unpriced = estimate?.unpriced ?? unknownPrices;
  const likely = estimate?.likely ?? toSpend;
  // What no list prices is known for certain.
  const known = unpriced === unknownPrices ? countOf(toSpend, 'credit') : likelyText(likely, estimate);
  const parts = [
    ...(likely > 0 ? [known] : []),
    ...(unpriced > 0 ? [`${countOf(unpriced, 'step')} of unknown price`] : []),
  ];
  return parts.join(' + ');
}

function likelyText(likely: number, estimate: PlanTotals['estimate']): string {
  const { low = likely, high = null } = estimate ?? {};
  const least = low < likely ? `, at least ${creditsText(low)}` : '';
  return `≈ ${countOf(likely, 'credit')}${least}${high === null ? '' : `, at most ${creditsText(high)}`}`;
}

/** What some rows cost, in parts: `26 credits`, `≈ 39 credits`, `3 of unknown price`. */
export function pricesText(rows: readonly PlanRow[]): string[] {
  const { toSpend, unknownPrices, estimate } = sumPrices(rows);
  const unpriced = estimate?.unpriced ?? 0;
  const likely = estimate === undefined ? 0 : estimate.likely;
  const known = unknownPrices > unpriced ? [`≈ ${countOf(likely, 'credit')}`] : [countOf(toSpend, 'credit')];
  return [...(toSpend + likely > 0 ? known : []), ...(unpriced > 0 ? [`${unpriced} of unknown price`] : [])];
}

/** What certain prices come to, where requests of one class were charged differently. */
function rangeText(estimate: PlanTotals['estimate']): string | undefined {
  if (estimate === undefined || estimate.high === null || estimate.low === estimate.high) return undefined;
  const { low, likely, high } = estimate;
  return `${creditsText(low)}–${countOf(high, 'credit')}, likely ${creditsText(likely)}`;
}

function budgetText(totals: PlanTotals, budget: number, style: Style): string {
  const total = creditsText(budget);
  const before = totals.budgetLeft;
  if (before === undefined) return total;
  if (totals.toSpend === 0 && totals.unknownPrices === 0) return `${total}, ${creditsText(before)} left`;
  const { estimate, toSpend } = totals;
  const after = before - toSpend;
  if (after < 0)
    return style.red(`${total}, ${creditsText(before)} left: ${creditsText(-after)} too few for this plan`);
  const likely = before - Math.max(toSpend, estimate?.likely ?? 0);
  const left = `${total}, ${creditsText(before)} left now`;
  if (totals.unknownPrices === 0) return `${left}, ${creditsText(after)} after this plan`;
  if (likely < 0) return style.red(`${left}: likely ${creditsText(-likely)} too few for this plan`);
  if ((estimate?.unpriced ?? 1) > 0) return `${left}, at most ${creditsText(likely)} after this plan`;
  return `${left}, likely ${creditsText(likely)} after this plan`;
}
