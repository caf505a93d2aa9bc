import type { Plan, PlanTotals } from '../plan/plan.ts';
import { postsOf } from '../plan/post-consent.ts';
import { isAskedAbout } from '../plan/post-record.ts';
import { countOf } from '../report/numbers.ts';
import { pickedText, spendText } from '../report/plan/plan-money.ts';
import { postsText, sideBySide } from '../report/plan/post-words.ts';
import { safeText } from '../report/safe-text.ts';
import { askPerson } from './ask-person.ts';
import type { Terminal } from './terminal.ts';

/**
 * Asks before credits are spent. `free`: how many steps are carried out for nothing, where nothing is spent at all.
 * `withPicks`: what follows gates is bought in the same run.
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
export function askToPublish(plan: Plan, { terminal }: { terminal: Terminal }) {
  const posts = postsText(postsOf(plan.rows, 'published'));
  return askPerson(`${terminal.style.bold('Publish')} ${posts}? This cannot be taken back.`, { yes: false, terminal });
}

/** One question for each post that may be out under another name, with the words of both. */
export async function askAboutPosts(
  plan: Plan,
  { terminal }: { terminal: Terminal },
): Promise<ReadonlySet<string> | 'interrupted'> {
  const admitted = new Set<string>();
  for (const row of plan.rows.filter(isAskedAbout)) {
    const { address, beside, post } = row;
    if (beside === undefined || post === undefined) continue;
    const known = safeText(beside.address, 200);
    terminal.err(`${safeText(address, 200)} may be ${known}, which is out, under another name\n`);
    for (const line of sideBySide(row)) terminal.err(`    ${line}\n`);
    const question = `${terminal.style.bold('Publish')} ${postsText([post])}, beside ${known}? This cannot be taken back.`;
    const answer = await askPerson(question, { yes: false, terminal });
    if (answer === 'interrupted') return answer;
    if (answer === 'yes') admitted.add(address);
  }
  return admitted;
}
