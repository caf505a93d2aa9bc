import type { Json } from '../../ground/json.ts';
import type { HelperDoc } from '../../manifest/template/helper-docs.ts';
import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';

/** Every template helper with an example and its result. */
export function helpersText(docs: readonly HelperDoc[], options: { style: Style; width: number }): string {
  const { style, width } = options;
  const blocks = docs.map(({ usage, description, example, result }) => [
    style.bold(usage),
    ...wrapText(description, Math.max(30, width - 2), { maxLines: 20 }).map((line) => `  ${line}`),
    `  ${example} ${style.dim('gives')} ${style.green(result === '' ? '(an empty text)' : result)}`,
  ]);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** `{mediabatch: 'helpers', version: 1, helpers: [{name, usage, description, example, result}], row}`. */
export function helpersJson(docs: readonly HelperDoc[], row: Json): Json {
  const helpers = docs.map(({ name, usage, description, example, result }) => ({
    name,
    usage,
    description,
    example,
    result,
  }));
  return { mediabatch: 'helpers', version: 1, helpers, row };
}
