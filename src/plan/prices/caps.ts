import type { PlanTotals } from '../plan.ts';

export interface Cap {
  name: 'budget' | 'run-limit' | 'limit';
  left: number;
}

/** Lists the limits that are set. `budget`: its remaining credits. */
export function capsOf({ budget, maxCredits, limit }: Caps): Cap[] {
  const all: [Cap['name'], number | undefined][] = [
    ['budget', budget],
    ['run-limit', maxCredits],
    ['limit', limit?.left],
  ];
  return all.flatMap(([name, left]) => (left === undefined ? [] : [{ name, left }]));
}

type Caps = { [name in 'budget' | 'maxCredits' | 'limit']?: PlanTotals[name] | undefined };

/** Returns the cap with the fewest credits left; of equal ones the first. Undefined without caps. */
export function tightestCap(caps: readonly Cap[]): Cap | undefined {
  return caps.toSorted((a, b) => a.left - b.left)[0];
}

export function limitName(limit: PlanTotals['limit']): string {
  return limit?.of === 'engine' ? 'the limit of the workers' : 'MEDIABATCH_LIMIT';
}
