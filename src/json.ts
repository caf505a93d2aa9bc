/** A JSON value. Everything that crosses a room's border and everything we write to disk is one. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The one text of a JSON value: keys sorted by code unit, no white space.
 * Digests and request bodies are made from it, so equal values always give equal bytes.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`internal error: ${value} is not JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const parts: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(item)}`);
  }
  return `{${parts.join(',')}}`;
}
