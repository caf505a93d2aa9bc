import type { PlanRow } from '../../plan/plan.ts';

const shownCanaries = 3;

/** Returns words such as `goes first, as canary` or `after its canary hero@lamp`. Empty without a canary. */
export function canaryWords({ canary, canaries = [] }: Pick<PlanRow, 'canary' | 'canaries'>): string {
  if (canary === true) return 'goes first, as canary';
  if (canaries.length === 0) return '';
  const more = canaries.length > shownCanaries ? ` and ${canaries.length - shownCanaries} more` : '';
  return `after its ${canaries.length === 1 ? 'canary' : 'canaries'} ${canaries.slice(0, shownCanaries).join(', ')}${more}`;
}

export function withCanary(text: string, row: Pick<PlanRow, 'canary' | 'canaries'>): string {
  const words = canaryWords(row);
  return words === '' ? text : `${text}; ${words}`;
}
