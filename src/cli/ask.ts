import type { Plan, PlanTotals } from '../plan/plan.ts';
import { postsOf } from '../plan/post-consent.ts';
import { countOf } from '../report/numbers.ts';
import { pickedText, spendText } from '../report/plan/plan-money.ts';
import { type AccountNames, postsText } from '../report/plan/post-words.ts';
import { askPerson } from './ask-person.ts';
import type { Terminal } from './terminal.ts';

/**
 * `free`: how many steps are carried out for nothing, where nothing is spent at all. `withPicks`: what follows gates is bought
 * in the same run.
 */
export function askToSpend(
  totals: PlanTotals,
  { terminal, free, withPicks }: { terminal: Terminal; free: number; withPicks: boolean },
) {
  const { toSpend, unknownPrices, estimate, afterPicks } = totals;
  const { bold } = terminal.style;
  const ask = (question: string) => askPerson(question, { yes: false, terminal });
  if (withPicks && afterPicks !== undefined) {
    const now = toSpend === 0 && unknownPrices === 0 ? '' : `${spendText(totals)} now, `;
    return ask(`${bold('Spend')} ${now}${pickedText(afterPicks)} after the picks?`);
  }
  if (toSpend === 0 && unknownPrices === 0) return ask(`${bold('Carry out')} ${countOf(free, 'step')} for 0 credits?`);
  const isEstimated = toSpend + (estimate?.likely ?? 0) > 0;
  return ask(`${bold(isEstimated ? 'Spend' : 'Buy')} ${spendText(totals)}?`);
}

/** A question of its own: what goes public is not taken back, whatever it costs. */
export function askToPublish(plan: Plan, { terminal, names }: { terminal: Terminal; names: AccountNames }) {
  const posts = postsText(postsOf(plan.rows, 'published'), names);
  return askPerson(`${terminal.style.bold('Publish')} ${posts}? This cannot be taken back.`, { yes: false, terminal });
}
