import type { PlanRow } from '../../plan/plan.ts';

const shownCanaries = 3;

/** `goes first, as canary`, `after its canary hero@lamp`: what stands behind a row's reason. Empty: there is no canary. */
export function canaryWords({ canary, canaries = [] }: Pick<PlanRow, 'canary' | 'canaries'>): string {
  if (canary === true) return 'goes first, as canary';
  if (canaries.length === 0) return '';
  const more = canaries.length > shownCanaries ? ` and ${canaries.length - shownCanaries} more` : '';
  return `after its ${canaries.length === 1 ? 'canary' : 'canaries'} ${canaries.slice(0, shownCanaries).join(', ')}${more}`;
}

/** A sentence about a row, with what there is to say of its canary. */
export function withCanary(text: string, row: Pick<PlanRow, 'canary' | 'canaries'>): string {
  const words = canaryWords(row);
  return words === '' ? text : `${text}; ${words}`;
}
