import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/**
 * What stands in a request for the output of another step. Only these functions make such values: a map of a data file or
 * a manifest that looks like one is somebody's text, and must never name a step.
 */
const ours = new WeakSet<object>();

export function makeReference(address: string, field: string): JsonMap {
  const reference: JsonMap = { $ref: address, field };
  ours.add(reference);
  return reference;
}

/** A text with references in it. */
export function makeReferenceText(parts: Json[]): JsonMap {
  const text: JsonMap = { $text: parts };
  ours.add(text);
  return text;
}

/** Whether a value stands for an output of another step. */
export function isReference(value: Json): value is JsonMap {
  return isMap(value) && ours.has(value);
}

/** Whether a value is an output of another step, or has one in it. */
export function holdsReference(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return isReference(value) || Object.values(value).some(holdsReference);
}

/** The first key that starts with `$` in a value that somebody has written. */
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
