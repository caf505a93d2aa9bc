import { groupBy, ownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { priceClass } from '../../kinds/price.ts';
import type { Task } from '../../manifest/manifest.ts';
import type { Canary, Step } from '../graph.ts';

const mostGroups = 12;

/**
 * Returns the canaries of a task, one for each group of similar steps, because a step proves little about different
 * ones. Similar steps have the same price class and the same values in fields with few choices, such as voice,
 * language, ratio or model. Links and free text are not choices. Fields are used in the order of the request, unless
 * one would make more than 12 groups or fewer than two steps per group on average, because a field that differs in
 * every row defines no groups.
 */
export function canariesOf({ id, canary }: Pick<Task, 'id' | 'canary'>, steps: readonly Step[]): Canary[] {
  if (canary === undefined) return [];
  const groups = groupAlike(steps);
  return [...groups].map(([label, own]) => ({
    name: label === '' ? `canary of ${id}` : `canary of ${id} (${label})`,
    task: id,
    ...canary,
    members: own.map(({ address }) => address),
  }));
}

function groupAlike(steps: readonly Step[]): ReadonlyMap<string, readonly Step[]> {
  const byPrice = groupBy(steps, ({ kind, request }) => {
    const known = kinds[kind];
    return known === undefined ? kind : priceClass(known, request);
  });
  // If the price depends on the whole request, each row may have its own price class.
  const isByRow = byPrice.size > mostGroups && byPrice.size * 2 > steps.length;
  let groups: ReadonlyMap<string, readonly Step[]> = byPrice.size === 1 || isByRow ? new Map([['', steps]]) : byPrice;
  for (const field of new Set(steps.flatMap(({ request }) => Object.keys(request)))) {
    const finer = splitBy(field, groups);
    if (finer !== undefined && finer.size > groups.size && finer.size * 2 <= steps.length) groups = finer;
  }
  return groups;
}

/** Splits groups by the values of a field. Undefined if the field makes too many groups, or can have any value. */
function splitBy(field: string, groups: ReadonlyMap<string, readonly Step[]>): Map<string, Step[]> | undefined {
  const finer = new Map<string, Step[]>();
  for (const [label, own] of groups) {
    for (const step of own) {
      const value = choiceOf(step, field);
      if (value === undefined) return undefined;
      const name = [...(label === '' ? [] : [label]), `${field}=${value}`].join(', ');
      const alike = finer.get(name);
      if (alike === undefined) finer.set(name, [step]);
      else alike.push(step);
    }
    if (finer.size > mostGroups) return undefined;
  }
  return finer;
}

/** Returns the value of a field that groups can be made by; undefined if the field is not a choice. */
function choiceOf({ kind, request }: Step, field: string): string | undefined {
  const fields: Kind['fields'] = kinds[kind]?.fields ?? {};
  const rules = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (rules?.free === true || rules?.url === true) return undefined;
  const value = ownValue(request, field) ?? null;
  if (typeof value === 'object') return value === null ? 'none' : undefined;
  const text = String(value);
  const isText = typeof value === 'string' && (text.length > 40 || /\s/.test(text) || /^https?:\/\//i.test(text));
  return isText ? undefined : text;
}
