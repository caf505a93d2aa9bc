import type { Json } from '../../ground/json.ts';
import type { Field, Kind } from '../../kinds/kind.ts';
import type { HelperDoc } from '../../manifest/template/helper-docs.ts';
import type { Style } from '../style.ts';
import { wrapText } from '../text-width.ts';

/** Every kind with its fields, for people. */
export function kindsText(kinds: readonly Kind[], options: { style: Style; width: number }): string {
  return kinds
    .map((kind) => kindLines(kind, options).join('\n'))
    .join('\n\n')
    .concat('\n');
}

function kindLines(kind: Kind, { style, width }: { style: Style; width: number }): string[] {
  const fields = Object.entries(kind.fields);
  const nameWidth = Math.max(...fields.map(([name]) => name.length));
  const body = Math.max(30, width - nameWidth - 4);
  const lines = [`${style.bold(kind.name)}  ${kind.description}`];
  const checked = kind.create.documented
    ? 'Its request is documented: every field is checked.'
    : 'Its request is not documented: these names are those of the embedded service, and another one may have others, which its own OpenAPI document lists.';
  lines.push(...wrapText(checked, width - 2, { maxLines: 4 }).map((line) => style.dim(`  ${line}`)));
  for (const [name, field] of fields) {
    const [first = '', ...others] = wrapText(fieldWords(kind, name, field), body, { maxLines: 20 });
    lines.push(`  ${style.cyan(name.padEnd(nameWidth))}  ${first}`);
    lines.push(...others.map((line) => `${' '.repeat(nameWidth + 4)}${line}`));
  }
  for (const text of notes(kind)) lines.push(...wrapText(text, width - 2, { maxLines: 20 }).map((line) => `  ${line}`));
  return lines;
}

function fieldWords(kind: Kind, name: string, field: Field): string {
  const needed = field.required === true ? 'Required. ' : '';
  const values = field.values ?? (kind.model?.field === name ? Object.keys(kind.model.models) : undefined);
  const choice = values === undefined ? '' : ` One of ${values.join(', ')}.`;
  const longest = field.maxLength === undefined ? '' : ` At most ${field.maxLength} characters.`;
  const absent = field.default === undefined ? '' : ` Default: ${field.default}.`;
  return `${needed}${field.description}${choice}${longest}${absent}`;
}

function notes(kind: Kind): string[] {
  const outputs = kind.outputs.map((name) => `{{tasks.NAME.${name}}}, {{tasks.NAME.${name}s}}`).join(', ');
  const models = Object.entries(kind.model?.models ?? {}).flatMap(([name, { credits }]) =>
    credits === undefined ? [] : [`${name} ${credits}`],
  );
  return [
    ...(kind.oneOf ?? []).map((names) => `Exactly one of ${names.join(', ')}.`),
    ...(models.length === 0 ? [] : [`Credits: ${models.join(', ')}.`]),
    ...(kind.free === true ? ['Costs no credits.'] : []),
    ...(outputs === '' ? [] : [`Gives other tasks: ${outputs}.`]),
    ...(kind.parts === undefined
      ? []
      : [`Gives parts: foreach: "{{tasks.NAME.${kind.parts.name}}}" with maxItems, at most ${kind.parts.most}.`]),
  ];
}

/**
 * `{mediabatch: 'kinds', version: 1, kinds: [{name, description, media, documented, fields: [{name, description, type,
 * required, values?, default?, maxLength?}], models?, outputs, parts?}]}`.
 */
export function kindsJson(kinds: readonly Kind[]): Json {
  return {
    mediabatch: 'kinds',
    version: 1,
    kinds: kinds.map((kind) => ({
      name: kind.name,
      description: kind.description,
      media: kind.media,
      documented: kind.create.documented,
      fields: Object.entries(kind.fields).map(([name, field]) => ({
        name,
        description: field.description,
        type: field.type,
        required: field.required === true,
        ...(field.values !== undefined && { values: [...field.values] }),
        ...(field.default !== undefined && { default: field.default }),
        ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
      })),
      ...(kind.model !== undefined && {
        models: Object.entries(kind.model.models).map(([name, { description, credits, aliasOf }]) => ({
          name,
          description,
          ...(credits !== undefined && { credits }),
          ...(aliasOf !== undefined && { aliasOf }),
        })),
      }),
      outputs: [...kind.outputs],
      ...(kind.parts !== undefined && { parts: { name: kind.parts.name, most: kind.parts.most } }),
    })),
  };
}

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
