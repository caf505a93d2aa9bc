import { groupBy } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { priceClass } from '../../kinds/price.ts';
import type { Task } from '../../manifest/manifest.ts';
import type { Canary, Step } from '../graph.ts';

/** Returns the canaries of a task: one rule for all steps of a price, because a cheap one proves little of a dear one. */
export function canariesOf({ id, canary }: Pick<Task, 'id' | 'canary'>, steps: readonly Step[]): Canary[] {
  if (canary === undefined) return [];
  const classes = groupBy(steps, ({ kind, request }) => {
    const known = kinds[kind];
    return known === undefined ? kind : priceClass(known, request);
  });
  return [...classes].map(([name, own]) => ({
    name: classes.size === 1 ? `canary of ${id}` : `canary of ${id} (${name})`,
    task: id,
    ...canary,
    members: own.map(({ address }) => address),
  }));
}
