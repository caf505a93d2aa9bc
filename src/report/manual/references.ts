import { exitCodes } from '../../contract/exit.ts';
import { failures, titles } from '../../contract/failure.ts';
import { fieldSchemas } from '../../graph/check/unlisted-fields.ts';
import type { Json } from '../../ground/json.ts';
import { type JsonMap, mapOf } from '../../ground/values.ts';
import { listValues } from '../../kinds/document-differences.ts';
import { kinds } from '../../kinds/index.ts';
import type { Field, Kind } from '../../kinds/kind.ts';
import type { ServiceDocument } from '../../kinds/service-document.ts';
import { listNames } from '../../manifest/suggest.ts';
import { helperDocs } from '../../manifest/template/helper-docs.ts';
import { safeText } from '../safe-text.ts';
import { exitWords } from './exit-words.ts';
import { code, plainWords, table } from './markdown.ts';
import { topicGroups } from './topics.ts';

/** Every exit code with its meaning, and the codes of the errors that end with it. */
export function exitReference(): string {
  const rows = Object.entries(exitCodes).map(([name, exit]) => {
    const own = Object.entries(failures).flatMap(([code, failure]) => (failure.exit === exit ? [code] : []));
    return [
      String(exit),
      `${exitWords[name as keyof typeof exitCodes]}${own.length === 0 ? '' : ` (${own.join(', ')})`}`,
    ];
  });
  return table(['exit', 'when'], rows);
}

/** Every code with its title. */
export function codeReference(): string {
  const rows = Object.entries(titles).map(([name, title]) => [code(name), plainWords(title)]);
  return table(
    ['code', 'meaning'],
    rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}

/** Every template helper with an example. */
export function helperReference(): string {
  return helperDocs
    .map(({ usage, description, example, result }) => {
      const gives = result === '' ? 'nothing' : code(result);
      return `- ${code(usage)} – ${description} ${code(example)} gives ${gives}.`;
    })
    .join('\n');
}

/**
 * Every kind with its fields. `document`: the service's own description, where one is kept: of a request that is documented
 * nowhere else only the service knows what its fields are called.
 */
export function kindReference(document?: ServiceDocument): string {
  return Object.values(kinds)
    .map((kind) => kindSection(kind, document))
    .join('\n\n');
}

function kindSection(kind: Kind, document: ServiceDocument | undefined): string {
  const listed = kind.create.documented ? [] : listedFields(document?.creates[kind.name]?.schema);
  const checked = kind.create.documented
    ? 'Every field is checked before it is paid for.'
    : listed.length > 0
      ? 'The service documents its request only in its own OpenAPI document: these are the fields that it lists.'
      : 'The service documents its request nowhere: these names are those of the embedded service, and another one may have others. `plan --refresh` asks for its own OpenAPI document, and this page shows its names then.';
  const fields =
    listed.length > 0
      ? listed.map(([name, schema]) => [code(name), listedWords(kind, name, schema)])
      : Object.entries(kind.fields).map(([name, field]) => [code(name), fieldWords(kind, name, field)]);
  return [
    `## ${kind.name}`,
    `${kind.description} ${checked}`,
    table(['field', 'what'], fields),
    ...modelTable(kind),
    notesOf(kind, new Set(listed.map(([name]) => name))).join(' '),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** The fields of a schema in all its forms, with what it says of each. */
function listedFields(schema: Json | undefined): [string, JsonMap][] {
  if (schema === undefined) return [];
  return [...fieldSchemas(schema)].map(([name, [first]]) => [name, mapOf(first)]);
}

function listedWords(kind: Kind, name: string, schema: JsonMap): string {
  const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  const told = typeof schema.description === 'string' ? schema.description : (field?.description ?? '');
  const values = listValues(schema) ?? [];
  return plainWords([safeText(told, 300), ...(values.length === 0 ? [] : [`One of ${listNames(values)}.`])].join(' '));
}

function fieldWords(kind: Kind, name: string, field: Field): string {
  const values = kind.model?.field === name ? undefined : field.values;
  return [
    ...(field.required === true ? ['Required.'] : []),
    field.description,
    ...(values === undefined ? [] : [`One of ${values.join(', ')}.`]),
    ...(field.maxLength === undefined ? [] : [`At most ${field.maxLength} characters.`]),
    ...(field.default === undefined ? [] : [`Default: ${code(String(field.default))}.`]),
  ].join(' ');
}

function modelTable({ model }: Kind): string[] {
  if (model === undefined) return [];
  const rows = Object.entries(model.models).map(([name, { description, credits }]) => [
    code(name),
    credits === undefined ? '' : String(credits),
    description,
  ]);
  return [table([model.field, 'credits', 'what'], rows)];
}

/** `listed`: the fields that the service names; empty where it names none. */
function notesOf(kind: Kind, listed: ReadonlySet<string>): string[] {
  const groups = (kind.oneOf ?? []).filter((names) => listed.size === 0 || names.every((name) => listed.has(name)));
  const outputs = kind.outputs.map((name) => `${code(`{{tasks.NAME.${name}}}`)}`);
  return [
    ...groups.map((names) => `Exactly one of ${names.map(code).join(', ')}.`),
    ...(kind.free === true ? ['Costs no credits.'] : []),
    ...(outputs.length === 0 ? [] : [`Gives other tasks ${outputs.join(', ')}.`]),
    ...(kind.parts === undefined
      ? []
      : [
          `Gives parts: ${code(`foreach: "{{tasks.NAME.${kind.parts.name}}}"`)} with ${code('maxItems')}, at most ${kind.parts.most}.`,
        ]),
  ];
}

/** The manual's table of contents. */
export function topicReference(): string {
  return Object.entries(topicGroups)
    .map(([group, names]) => {
      const rows = Object.entries(names).map(([name, about]) => [`[${name}](${name}.md)`, about]);
      return `## ${group}\n\n${table(['', ''], rows)}`;
    })
    .join('\n\n');
}

/** A command as its help tells it. */
export interface CommandDoc {
  name: string;
  usage: string;
  description: string;
  options: readonly { flags: string; description: string }[];
  examples: readonly { line: string; about: string }[];
}

/** Every command with its options. */
export function commandReference(commands: readonly CommandDoc[]): string {
  return commands
    .map(({ name, usage, description, options, examples }) =>
      [
        `## ${name}`,
        plainWords(description),
        `\`\`\`text\n${usage}\n\`\`\``,
        ...(options.length === 0
          ? []
          : [
              table(
                ['option', 'what'],
                options.map((one) => [code(one.flags), plainWords(one.description)]),
              ),
            ]),
        table(
          ['example', ''],
          examples.map(({ line, about }) => [code(line), plainWords(about)]),
        ),
      ].join('\n\n'),
    )
    .join('\n\n');
}
