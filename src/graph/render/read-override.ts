import type { Json } from '../../ground/json.ts';
import { describeValue, freshCopy } from '../../ground/values.ts';
import { findUnsendableInJson, type Unsendable, whyNumberIsUnsendable } from '../../manifest/check/unsendable.ts';

/** Reads a value from outside, which is a text, as the type of the declared one. */
export function readOverride(
  declared: Json,
  text: string,
): { value: Json } | { wanted: string } | { unsendable: Unsendable } {
  // Text that is not UTF-8 on the command line or in the environment arrives with this character.
  if (text.includes('\ufffd')) {
    const problem = 'is not UTF-8 text';
    return { unsendable: { problem, hint: 'give it in UTF-8; a file in another encoding has to be converted first' } };
  }
  if (declared === null || typeof declared === 'string') return { value: text };
  if (typeof declared === 'number') {
    const number = Number(text);
    if (text.trim() === '' || Number.isNaN(number) || !/\d/.test(text)) return { wanted: 'a number' };
    const unsendable = whyNumberIsUnsendable(number, text.trim());
    return unsendable === undefined ? { value: number } : { unsendable };
  }
  if (typeof declared === 'boolean') {
    return text === 'true' || text === 'false' ? { value: text === 'true' } : { wanted: '`true` or `false`' };
  }
  const wanted = `${describeValue(declared)} written as JSON`;
  try {
    const value = freshCopy(JSON.parse(text) as Json);
    if (typeof value !== 'object' || value === null || Array.isArray(value) !== Array.isArray(declared)) {
      return { wanted };
    }
    const [unsendable] = findUnsendableInJson(text);
    return unsendable === undefined ? { value } : { unsendable };
  } catch {
    return { wanted };
  }
}
