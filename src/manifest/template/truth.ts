import type { Json } from '../../ground/json.ts';

/** Strings that users write for true or false. They are refused as ambiguous. */
const unclear = /^(?:yes|no|y|n|on|off|ja|nein|oui|non|si|sí|wahr|falsch|vrai|faux|verdadero|falso|vero)$/i;

/**
 * Parses true and false as spreadsheets and data files write them; an empty cell is false. Undefined for other values.
 */
export function readTruth(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' || text === '' ? false : undefined;
}

/**
 * Evaluates a condition of a template. True and false are parsed by `readTruth`; other values are true, except missing
 * ones, empty lists and the number 0. Undefined for a string such as `no`.
 */
export function holds(value: Json | undefined): boolean | undefined {
  const truth = readTruth(value);
  if (truth !== undefined) return truth;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'string') return Boolean(value);
  if (/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value) !== 0;
  return unclear.test(value.trim()) ? undefined : true;
}
