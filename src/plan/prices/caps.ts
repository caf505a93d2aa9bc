import type { PlanTotals } from '../plan.ts';

/** Credits that may still be spent, and who says so, in the words of a reason. */
export interface Cap {
  name: 'budget' | 'run-limit' | 'limit';
  left: number;
}

/** `budget`: what is left of it. */
export function capsOf({ budget, maxCredits, limit }: Caps): Cap[] {
  const all: [Cap['name'], number | undefined][] = [
    ['budget', budget],
    ['run-limit', maxCredits],
    ['limit', limit?.left],
  ];
  return all.flatMap(([name, left]) => (left === undefined ? [] : [{ name, left }]));
}

type Caps = { [name in 'budget' | 'maxCredits' | 'limit']?: PlanTotals[name] | undefined };

/** The cap that leaves least; of equal ones the first. Undefined: there is none. */
export function tightestCap(caps: readonly Cap[]): Cap | undefined {
  return caps.toSorted((a, b) => a.left - b.left)[0];
}

export function limitName(limit: PlanTotals['limit']): string {
  return limit?.of === 'engine' ? 'the limit of the workers' : 'MEDIABATCH_LIMIT';
}
