import { groupBy, ownValue } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Kind } from '../../kinds/kind.ts';
import { priceClass } from '../../kinds/price.ts';
import type { Task } from '../../manifest/manifest.ts';
import type { Canary, Step } from '../graph.ts';

/** Most kinds of steps that fields tell apart in one task. */
const mostGroups = 12;

/**
 * Returns the canaries of a task: one rule for all steps that are alike, because a step proves little of others. Alike are
 * steps of one price that have the same values in the fields that choose among a few: voice, language, ratio, model. Such a
 * field holds neither a link nor free text. Fields count in the order of the request, as long as no more than 12 kinds of
 * steps come of it, with two steps of each or more on average: what is another in each row tells nothing apart.
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

/** Groups the steps of a task by what tells them apart. */
function groupAlike(steps: readonly Step[]): ReadonlyMap<string, readonly Step[]> {
  const byPrice = groupBy(steps, ({ kind, request }) => {
    const known = kinds[kind];
    return known === undefined ? kind : priceClass(known, request);
  });
  // What is known of prices by the whole request alone may be another price for each row.
  const isByRow = byPrice.size > mostGroups && byPrice.size * 2 > steps.length;
  let groups: ReadonlyMap<string, readonly Step[]> = byPrice.size === 1 || isByRow ? new Map([['', steps]]) : byPrice;
  for (const field of new Set(steps.flatMap(({ request }) => Object.keys(request)))) {
    const finer = splitBy(field, groups);
    if (finer !== undefined && finer.size > groups.size && finer.size * 2 <= steps.length) groups = finer;
  }
  return groups;
}

/** Splits groups by the values of a field. Undefined: it chooses among too many, or may hold anything. */
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

/** The value of a field by which canaries are chosen; undefined where the field is not a choice. */
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
