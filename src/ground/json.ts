export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Returns JSON with sorted keys and no white space. Equal values have equal digests. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`internal error: ${value} is not JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  const parts = Object.keys(value)
    .sort()
    .flatMap((key) => {
      const item = value[key];
      return item === undefined ? [] : `${JSON.stringify(key)}:${canonicalJson(item)}`;
    });
  return `{${parts.join(',')}}`;
}
