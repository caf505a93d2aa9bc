import { defined } from '../../ground/values.ts';
import { isSpending } from '../actions.ts';
import type { Row } from '../plan.generated.ts';
import type { PlanTotals } from '../plan.ts';
import { ceilingOfRows } from './shares.ts';

type PriceTotals = Pick<
  PlanTotals,
  'toSpend' | 'ceiling' | 'knownPrices' | 'unknownPrices' | 'discarded' | 'mayRetry' | 'estimate'
>;

export function sumPrices(rows: readonly Row[]): PriceTotals {
  const sum = (pick: (row: Row) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const estimate = estimateOf(rows);
  return {
    toSpend: estimate === undefined ? 0 : estimate.unpriced > 0 ? null : estimate.likely,
    ceiling: ceilingOfRows(rows),
    knownPrices: sum(({ credits }) => credits ?? 0),
    unknownPrices: sum(({ credits }) => (credits === null ? 1 : 0)),
    discarded: sum(({ discards }) => discards ?? 0),
    ...(rows.some(({ mayRetry }) => mayRetry !== undefined) && { mayRetry: sum(({ mayRetry }) => mayRetry ?? 0) }),
    ...defined({ estimate }),
  };
}

export function estimateOf(rows: readonly Pick<Row, 'action' | 'credits' | 'price'>[]): PlanTotals['estimate'] {
  const spending = rows.filter(({ action, credits }) => isSpending(action) && credits !== 0);
  if (spending.length === 0) return undefined;
  const sources: NonNullable<PlanTotals['estimate']>['sources'] = {};
  const total = { low: 0, likely: 0, high: 0 as number | null, unpriced: 0, sources };
  for (const { credits, price } of spending) {
    const { source = 'unknown' } = price ?? {};
    sources[source] = (sources[source] ?? 0) + 1;
    const likely = price?.likely ?? credits;
    if (likely === null) {
      total.unpriced += 1;
      total.high = null;
      continue;
    }
    const high = price?.high ?? credits;
    total.low += price?.low ?? likely;
    total.likely += likely;
    total.high = total.high === null || high === null ? null : total.high + high;
  }
  return total;
}
