import type { Json } from '../../ground/json.ts';
import { isMap } from '../../ground/values.ts';

/** Maximum length of a title, in UTF-16 code units. */
const longestTitle = 60;

const addressOrFile = /^https?:|\.\w{2,4}$/;

/** Returns the first short text of a row that has several words, because a single word is usually a key. */
export function titleOf(row: Json): string | undefined {
  if (!isMap(row)) return typeof row === 'string' && row.length <= longestTitle ? row : undefined;
  let first: string | undefined;
  for (const value of Object.values(row)) {
    if (typeof value !== 'string' || value === '' || value.length > longestTitle || addressOrFile.test(value)) continue;
    if (value.includes(' ')) return value;
    first ??= value;
  }
  return first;
}
