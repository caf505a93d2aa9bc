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
  return isInOrder(value) ? JSON.stringify(value) : writeInOrder(value);
}

function isInOrder(value: Json | undefined): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'object': {
      if (value === null) return true;
      if (Array.isArray(value)) return value.every(isInOrder);
      let before: string | undefined;
      for (const key of Object.keys(value)) {
        if ((before !== undefined && before > key) || !isInOrder(value[key])) return false;
        before = key;
      }
      return true;
    }
    default:
      return Number.isFinite(value);
  }
}

function writeInOrder(value: Json): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`internal error: ${value} is not JSON`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(writeInOrder).join(',')}]`;
  let text = '{';
  for (const key of Object.keys(value).sort()) {
    const item = value[key];
    if (item !== undefined) text += `${text === '{' ? '' : ','}${JSON.stringify(key)}:${writeInOrder(item)}`;
  }
  return `${text}}`;
}
