import type { Json } from '../../ground/json.ts';

/** Texts that people write for true or false in a table, and that nothing here takes for either. */
const unclear = /^(?:yes|no|y|n|on|off|ja|nein|oui|non|si|sí|wahr|falsch|vrai|faux|verdadero|falso|vero)$/i;

/** Reads true and false as spreadsheets and data files write them; an empty cell is false. Undefined for anything else. */
export function readTruth(value: Json | undefined): boolean | undefined {
  if (value === undefined || value === null) return false;
  if (typeof value !== 'string') return typeof value === 'boolean' ? value : undefined;
  const text = value.trim().toLowerCase();
  if (text === 'true') return true;
  return text === 'false' || text === '' ? false : undefined;
}

/**
 * Tells whether a condition of a template holds: true and false as `readTruth` reads them; else a value is true when it is
 * there, and a number when it is not 0. Undefined for a text such as `no`.
 */
export function holds(value: Json | undefined): boolean | undefined {
  const truth = readTruth(value);
  if (truth !== undefined) return truth;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== 'string') return Boolean(value);
  if (/^\s*-?\d+(?:\.\d+)?\s*$/.test(value)) return Number(value) !== 0;
  return unclear.test(value.trim()) ? undefined : true;
}
