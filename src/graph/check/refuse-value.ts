import type { DiagnosticCode } from '../../ground/diagnostic.ts';
import type { Json } from '../../ground/json.ts';
import { shorten } from '../../ground/values.ts';
import { findUnsendable } from '../../manifest/check/unsendable.ts';
import { findForeignKey } from '../../manifest/template/references.ts';

/** Explains why the value of a field cannot be part of any request, whatever its kind. */
export function whyRefused(
  field: string,
  value: Json,
): { code: DiagnosticCode; message: string; hint: string } | undefined {
  const key = findForeignKey(value);
  if (key !== undefined) {
    // A key such as `$ref` would be mistaken for a reference.
    const message = `\`${field}\` has the key \`${shorten(key)}\`, and keys that start with $ are kept for references`;
    const hint = 'rename it, here or in the data; an output of another task is {{tasks.name.url}}';
    return { code: 'MB1503', message, hint };
  }
  // Written values are checked where they are written; this covers the output of templates and names of files.
  const found = findUnsendable(value);
  if (found === undefined) return undefined;
  const { written, problem, hint } = found;
  return {
    code: 'MB1106',
    message: `\`${field}\`${written === undefined ? '' : ` is ${written}, which`} ${problem}`,
    hint,
  };
}
