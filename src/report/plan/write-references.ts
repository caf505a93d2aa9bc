import type { Json } from '../../ground/json.ts';

/** References as a person would write them, with the address of the step instead of the name of its task. */
export function writeReferences(value: Json): Json {
  if (Array.isArray(value)) return value.map(writeReferences);
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$ref === 'string') return `{{${value.$ref}.${String(value.field)}}}`;
  if (Array.isArray(value.$text)) return value.$text.map((part) => String(writeReferences(part))).join('');
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writeReferences(item)]));
}
