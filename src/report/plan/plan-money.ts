import type { PlanTotals } from '../../plan/plan.ts';
import { countOf, creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { footerLines } from './footer-lines.ts';

/**
 * The footer of a plan: its cost, earlier payments, and what the caps leave. Quiet (nothing to do): payments and budget
 * only.
 */
export function moneyLines(totals: PlanTotals, options: { style: Style; isQuiet: boolean; width?: number }): string[] {
  return moneyFacts(totals, options)
    .filter((fact) => !options.isQuiet || !fact.isAboutThisPlan)
    .flatMap(({ label, text, paint }) => footerLines(label, text, { ...options, ...(paint && { paint }) }));
}

interface MoneyFact {
  label: string;
  text: string;
  /** True when it concerns what this plan would do, not the campaign. */
  isAboutThisPlan: boolean;
  paint?: ((text: string) => string) | undefined;
}

function moneyFacts(totals: PlanTotals, { style }: { style: Style }): MoneyFact[] {
  const { toSpend, unknownPrices, mayRetry, alreadyPaid, held, discarded, budget, maxCredits, balance } = totals;
  const facts: MoneyFact[] = [];
  const add = (label: string, text: string, paint?: MoneyFact['paint']) =>
    facts.push({ label, text, isAboutThisPlan: false, paint });
  const addOfPlan = (label: string, text: string, paint?: MoneyFact['paint']) =>
    facts.push({ label, text, isAboutThisPlan: true, paint });
  addOfPlan('to spend', toSpendText(toSpend, unknownPrices), style.bold);
  if (mayRetry !== undefined) {
    addOfPlan(
      'retries',
      mayRetry > 0 ? `up to ${countOf(mayRetry, 'credit')} more, should jobs fail` : 'of unknown price',
    );
  }
  add('already paid', creditsText(alreadyPaid));
  if (held > 0) add('held', `${creditsText(held)} for creates whose outcome is not known`);
  if (discarded > 0) addOfPlan('discarded', `${creditsText(discarded)} of paid work that is bought anew`);
  if (budget !== undefined) {
    const { text, isShort } = budgetText(totals, budget);
    add('budget', text, isShort ? style.red : undefined);
  }
  if (maxCredits !== undefined) addOfPlan('this run', `at most ${countOf(maxCredits, 'credit')}`);
  if (balance !== undefined) add('balance', creditsText(balance));
  return facts;
}

function toSpendText(toSpend: number, unknownPrices: number): string {
  const known = countOf(toSpend, 'credit');
  if (unknownPrices === 0) return known;
  return `${known} + ${countOf(unknownPrices, 'step')} of unknown price (the first of each goes alone and prices the rest)`;
}

function budgetText(totals: PlanTotals, budget: number): { text: string; isShort: boolean } {
  const total = creditsText(budget);
  const before = totals.budgetLeft;
  if (before === undefined) return { text: total, isShort: false };
  if (totals.toSpend === 0 && totals.unknownPrices === 0) {
    return { text: `${total}, ${creditsText(before)} left`, isShort: false };
  }
  const after = before - totals.toSpend;
  if (after < 0) {
    return {
      text: `${total}, ${creditsText(before)} left: ${creditsText(-after)} too few for this plan`,
      isShort: true,
    };
  }
  const atMost = totals.unknownPrices > 0 ? 'at most ' : '';
  return {
    text: `${total}, ${creditsText(before)} left now, ${atMost}${creditsText(after)} after this plan`,
    isShort: false,
  };
}
