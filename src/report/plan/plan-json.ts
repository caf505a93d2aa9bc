import type { Json } from '../../ground/json.ts';
import type { Plan } from '../../plan/plan.ts';

/**
 * Returns the document of `schemas/plan.schema.json`. The key `mediabatch` comes first. All other keys are sorted, so
 * that equal plans give equal texts. `next`: the commands that the text output shows.
 */
export function planJson({ mediabatch, rows, ...rest }: Plan, more: { next?: readonly object[] } = {}): Json {
  const sorted = sortKeys({
    ...rest,
    ...more,
    rows: rows.map(({ order: _order, later: _later, asked: _asked, parts: _parts, ...row }) => row),
  });
  return { mediabatch, ...(sorted as { [key: string]: Json }) };
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
