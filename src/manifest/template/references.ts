import type { Json } from '../../ground/json.ts';
import { isMap, type JsonMap } from '../../ground/values.ts';

/**
 * References to outputs of other steps. Only the functions here make them: a map of a data file or a manifest that
 * looks like a reference is ordinary data, and must never refer to a step.
 */
const ours = new WeakSet<object>();

export function makeReference(address: string, field: string): JsonMap {
  const reference: JsonMap = { $ref: address, field };
  ours.add(reference);
  return reference;
}

/** Refers to the output of the `pick`th picked step of a gate, from 1. The lock determines the step. */
export function makePickReference(gate: string, field: string, pick: number): JsonMap {
  const reference: JsonMap = { $ref: gate, field, pick };
  ours.add(reference);
  return reference;
}

export function makeReferenceText(parts: Json[]): JsonMap {
  const text: JsonMap = { $text: parts };
  ours.add(text);
  return text;
}

export function isReference(value: Json): value is JsonMap {
  return isMap(value) && ours.has(value);
}

export function holdsReference(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false;
  return isReference(value) || Object.values(value).some(holdsReference);
}

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
