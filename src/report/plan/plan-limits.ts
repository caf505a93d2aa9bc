import { groupBy } from '../../ground/values.ts';
import type { PlanRow } from '../../plan/plan.ts';
import { countOf, creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { footerLines } from './footer-lines.ts';

/** Says which limit holds back what: a line for each limit that something in the plan does not fit into. */
export function limitLines(rows: readonly PlanRow[], options: { style: Style; width?: number }): string[] {
  const limited = rows.filter(({ reason }) => reason.code === 'budget' || reason.code === 'run-limit');
  return [...groupBy(limited, ({ reason }) => reason.code)].flatMap(([code, own]) => {
    const credits = own.reduce((sum, { wouldCost }) => sum + (wouldCost ?? 0), 0);
    const unknown = own.filter(({ wouldCost }) => wouldCost === null).length;
    const cost = [
      ...(credits > 0 ? [`cost ${countOf(credits, 'credit')}`] : []),
      ...(unknown > 0 ? [`${creditsText(unknown)} of unknown price`] : []),
    ].join(', ');
    const limit = code === 'budget' ? 'the budget' : '--max-credits';
    const text = `${limit} holds back ${countOf(own.length, 'step')}${cost === '' ? '' : ` (${cost})`}`;
    return footerLines('held back', text, { ...options, paint: options.style.yellow });
  });
}
