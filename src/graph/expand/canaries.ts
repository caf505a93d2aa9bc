import { groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { priceClass } from '../../kinds/price.ts';
import type { Task } from '../../manifest/manifest.ts';
import type { Canary, Step } from '../graph.ts';

const mostGroups = 12;

/** Returns the canaries of a task, one for each price class. */
export function canariesOf({ id, canary }: Pick<Task, 'id' | 'canary'>, steps: readonly Step[]): Canary[] {
  if (canary === undefined) return [];
  const byPrice = groupBy(steps, ({ kind, request }) => {
    const known = kinds[kind];
    return known === undefined ? kind : priceClass(known, request);
  });
  // If the price depends on the whole request, each row may have its own price class.
  const isByRow = byPrice.size > mostGroups && byPrice.size * 2 > steps.length;
  const groups = byPrice.size === 1 || isByRow ? new Map([['', [...steps]]]) : byPrice;
  return [...groups].map(([label, own]) => ({
    name: label === '' ? `canary of ${id}` : `canary of ${id} (${label})`,
    task: id,
    ...canary,
    members: own.map(({ address }) => address),
  }));
}
