import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/**
 * Values that stand in a request for the output of another step. Only these functions make them: a map of a data file
 * or a manifest that looks like one is ordinary data, and must never name a step.
 */
const ours = new WeakSet<object>();

export function makeReference(address: string, field: string): JsonMap {
  const reference: JsonMap = { $ref: address, field };
  ours.add(reference);
  return reference;
}

/** Stands for the output of the `pick`th step, from 1, that is picked at a gate: which one that is, the lock knows. */
export function makePickReference(gate: string, field: string, pick: number): JsonMap {
  const reference: JsonMap = { $ref: gate, field, pick };
  ours.add(reference);
  return reference;
}

/** Makes a text with references in it. */
export function makeReferenceText(parts: Json[]): JsonMap {
  const text: JsonMap = { $text: parts };
  ours.add(text);
  return text;
}

/** Tells whether a value stands for the output of another step. */
export function isReference(value: Json): value is JsonMap {
  return isMap(value) && ours.has(value);
}

/** Tells whether a value is, or contains, the output of another step. */
export function holdsReference(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return isReference(value) || Object.values(value).some(holdsReference);
}

/** Finds the first key that starts with `$` in a value that a user wrote. */
export function findForeignKey(value: Json): string | undefined {
  if (value === null || typeof value !== 'object' || isReference(value)) return undefined;
  if (!Array.isArray(value)) {
    const own = Object.keys(value).find((key) => key.startsWith('$'));
    if (own !== undefined) return own;
  }
  for (const item of Object.values(value)) {
    const found = findForeignKey(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
