import type { PlanTotals } from '../../plan/plan.ts';
import { guessText } from '../../plan/prices/prices.ts';
import { bad, type Fact, strong, type Text } from '../document.ts';
import { countOf, creditsText, limitText } from '../numbers.ts';
import { safeText } from '../safe-text.ts';

/** Returns cost, earlier payments and limits. `isQuiet`: nothing to do, so only payments and budget are shown. */
export function moneyFacts(totals: PlanTotals, { isQuiet }: { isQuiet: boolean }): Fact[] {
  const { mayRetry, alreadyPaid, held, discarded, budget, maxCredits, limit, balance } = totals;
  const facts: Fact[] = [];
  const add = (label: string, text: Text) => facts.push({ label, text });
  const addOfPlan = (label: string, text: Text) => (isQuiet ? undefined : add(label, text));
  addOfPlan('to spend', strong(toSpendText(totals)));
  if (mayRetry !== undefined) {
    addOfPlan(
      'retries',
      mayRetry > 0 ? `up to ${countOf(mayRetry, 'credit')} more, should jobs fail` : 'of unknown price',
    );
  }
  const { afterPicks, ceiling } = totals;
  if (ceiling < totals.knownPrices) {
    addOfPlan('approved', bad(`${countOf(ceiling, 'credit')} left: steps beyond that are not bought`));
  }
  if (afterPicks !== undefined) addOfPlan('after picks', afterPicksText(afterPicks));
  add('already paid', creditsText(alreadyPaid));
  if (held > 0) add('reserved', heldText(totals));
  if (discarded > 0) addOfPlan('discarded', `${creditsText(discarded)} of paid work that is replaced`);
  if (budget !== undefined) {
    const { text, isShort } = budgetText(totals, budget);
    add('budget', isShort ? bad(text) : text);
  }
  if (maxCredits !== undefined) addOfPlan('this run', `at most ${countOf(maxCredits, 'credit')}`);
  if (limit !== undefined) {
    addOfPlan('limit', limit.left < totals.knownPrices ? bad(limitText(limit)) : limitText(limit));
  }
  if (balance !== undefined) add('balance', creditsText(balance));
  const missing = missingInAccount(totals);
  if (missing !== undefined) addOfPlan('account', bad(missing));
  return facts;
}

/** Warns that the account is likely to run out of credits, judging by the balance after the last run. */
function missingInAccount({ lastBalance, estimate, knownPrices }: PlanTotals): string | undefined {
  if (lastBalance === undefined) return undefined;
  const { credits, at } = lastBalance;
  const missing = Math.ceil(Math.max(knownPrices, estimate?.likely ?? 0) - credits);
  if (missing <= 0) return undefined;
  return `likely ${creditsText(missing)} too few in the account, which had ${creditsText(credits)} at ${safeText(at.slice(0, 16).replace('T', ' '))} UTC`;
}

/**
 * Words like `48 for creates whose charge is not known`; for an estimate, its source and how to find out the charge.
 */
function heldText({ held, guessed = [], heldUnpriced = 0 }: PlanTotals): string {
  const text = `${creditsText(held)} for creates whose charge is not known (\`status --list\` shows them, \`resolve\` records it)`;
  if (guessed.length === 0) return text;
  return `${text}; ${safeText(guessText(guessed, heldUnpriced))}`;
}

function afterPicksText(after: NonNullable<PlanTotals['afterPicks']>): string {
  const { steps } = after;
  return `${pickedText(after)}, for ${countOf(steps, 'step')} that ${steps === 1 ? 'waits' : 'wait'}`;
}

/** Returns a text such as `at most 8 credits + 3 steps of unknown price`. */
export function pickedText(after: NonNullable<PlanTotals['afterPicks']>): string {
  const { steps, credits, unknownPrices, likely, unpriced, mayRetry } = after;
  const known = unknownPrices === 0 ? `at most ${countOf(credits, 'credit')}` : `≈ ${countOf(likely, 'credit')}`;
  const parts = [
    ...(steps > unpriced && (unknownPrices === 0 || likely > 0) ? [known] : []),
    ...(unpriced > 0 ? [`${countOf(unpriced, 'step')} of unknown price`] : []),
    ...(mayRetry === undefined
      ? []
      : [mayRetry > 0 ? `up to ${mayRetry} should jobs fail` : 'retries of unknown price']),
  ];
  return parts.join(' + ');
}

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

/** Spending of a plan, such as `39 credits`, `≈ 44 credits + 3 steps of unknown price`. Never 0 for an unknown price. */
export function spendText(totals: Pick<PlanTotals, 'knownPrices' | 'unknownPrices' | 'estimate' | 'ceiling'>): string {
  const { knownPrices, unknownPrices, estimate } = totals;
  if (unknownPrices === 0) return countOf(knownPrices, 'credit');
  const unpriced = estimate?.unpriced ?? unknownPrices;
  const likely = estimate?.likely ?? knownPrices;
  // Prices that are in no list are never certain.
  const known = unpriced === unknownPrices ? countOf(knownPrices, 'credit') : likelyText(likely, totals);
  const parts = [
    ...(likely > 0 ? [known] : []),
    ...(unpriced > 0 ? [`${countOf(unpriced, 'step')} of unknown price`] : []),
  ];
  return parts.join(' + ');
}

/** Returns the limit of an approval with unknown prices: the budget, or the ceiling of the estimates if lower. */
export function capText({
  unknownPrices,
  toSpend,
  ceiling,
  budgetLeft,
}: Pick<PlanTotals, 'unknownPrices' | 'toSpend' | 'ceiling' | 'budgetLeft'>): string {
  if (unknownPrices === 0 || budgetLeft === undefined || (toSpend !== null && ceiling <= budgetLeft)) return '';
  return `, within the ${creditsText(budgetLeft)} that are left of the budget`;
}

/** Returns the likely cost, and the ceiling at which the run stops sending create requests. */
function likelyText(likely: number, { estimate, ceiling }: Pick<PlanTotals, 'estimate' | 'ceiling'>): string {
  const { low = likely } = estimate ?? {};
  const least = low < likely ? `, at least ${creditsText(low)}` : '';
  return `≈ ${countOf(likely, 'credit')}${least}, at most ${creditsText(ceiling)}`;
}

/** Returns a range of certain prices, if requests of one class were charged differently. */
function rangeText(estimate: PlanTotals['estimate']): string | undefined {
  if (estimate === undefined || estimate.high === null || estimate.low === estimate.high) return undefined;
  const { low, likely, high } = estimate;
  return `${creditsText(low)}–${countOf(high, 'credit')}, likely ${creditsText(likely)}`;
}

/** Returns a text such as `200, 176 left now, 152 after this plan`. */
function budgetText(totals: PlanTotals, budget: number): { text: string; isShort: boolean } {
  const { budgetLeft: before, estimate, knownPrices, unknownPrices } = totals;
  const total = creditsText(budget);
  if (before === undefined) return { text: total, isShort: false };
  if (knownPrices === 0 && unknownPrices === 0)
    return { text: `${total}, ${creditsText(before)} left`, isShort: false };
  const after = before - knownPrices;
  if (after < 0) {
    return {
      text: `${total}, ${creditsText(before)} left: ${creditsText(-after)} too few for this plan`,
      isShort: true,
    };
  }
  const left = `${total}, ${creditsText(before)} left now`;
  if (unknownPrices === 0) return { text: `${left}, ${creditsText(after)} after this plan`, isShort: false };
  const likely = before - Math.max(knownPrices, estimate?.likely ?? 0);
  if (likely < 0) return { text: `${left}: likely ${creditsText(-likely)} too few for this plan`, isShort: true };
  const word = (estimate?.unpriced ?? 1) > 0 ? 'at most' : 'likely';
  return { text: `${left}, ${word} ${creditsText(likely)} after this plan`, isShort: false };
}
