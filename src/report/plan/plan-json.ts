import type { Json } from '../../ground/json.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * The plan for programs, as `schemas/plan.schema.json` describes it: without the orders, which are for execution, and
 * with sorted keys, so that equal plans give equal text. `next`: commands for the next steps, if they are printed.
 */
export function planJson(plan: Plan, more: { next?: readonly object[] } = {}): Json {
  const { rows, ...rest } = plan;
  return sortKeys({
    ...rest,
    ...more,
    rows: rows.map(({ order: _order, later: _later, asked: _asked, parts: _parts, ...row }) => row),
  });
}

function sortKeys(value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string')
    return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object') throw new Error(`internal error: a plan holds a ${typeof value}`);
  const sorted: { [key: string]: Json } = {};
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (item !== undefined) sorted[key] = sortKeys(item);
  }
  return sorted;
}
