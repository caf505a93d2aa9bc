import { exitCodes } from '../../contract/exit.ts';
import { failures, titles } from '../../contract/failure.ts';
import { kinds } from '../../kinds/index.ts';
import type { Field, Kind } from '../../kinds/kind.ts';
import { helperDocs } from '../../manifest/template/helper-docs.ts';
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

/** Every kind with its fields. */
export function kindReference(): string {
  return Object.values(kinds).map(kindSection).join('\n\n');
}

function kindSection(kind: Kind): string {
  const checked = kind.create.documented
    ? 'Every field is checked before it is paid for.'
    : 'The service documents its request nowhere: these fields are known, and the rest is held against its own OpenAPI document.';
  const fields = Object.entries(kind.fields).map(([name, field]) => [code(name), fieldWords(kind, name, field)]);
  return [
    `## ${kind.name}`,
    `${kind.description} ${checked}`,
    table(['field', 'what'], fields),
    ...modelTable(kind),
    notesOf(kind).join(' '),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
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

function notesOf(kind: Kind): string[] {
  const outputs = kind.outputs.map((name) => `${code(`{{tasks.NAME.${name}}}`)}`);
  return [
    ...(kind.oneOf ?? []).map((names) => `Exactly one of ${names.map(code).join(', ')}.`),
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
