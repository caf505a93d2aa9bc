import { exitCodes } from '../../contract/exit.ts';
import { failures, titles } from '../../contract/failure.ts';
import { listedFields } from '../../graph/check/request-checker.ts';
import type { Json } from '../../ground/json.ts';
import { defined, groupBy, isMap, type JsonMap, mapOf } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Field, Kind } from '../../kinds/kind.ts';
import { listValues, type ServiceDocument } from '../../kinds/service-document.ts';
import { listNames } from '../../manifest/suggest.ts';
import { jsonOf } from '../document.ts';
import { safeText } from '../safe-text.ts';
import { topicGroups } from './topics.ts';

const exitWords: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'the command finished, or had nothing to do',
  internalError: 'an internal error: a bug in mediabatch',
  changesPending:
    '`plan --detailed-exitcode`: the plan has steps to run, or `--compare` found differences (exit 4 if the budget does not cover these steps or the steps after picks)',
  someFailed: 'the run finished, and some steps failed',
  outOfCredits:
    'the run stopped: the budget or the balance is too low, or a charge exceeded its price in the plan; running jobs are collected',
  waitsForPerson: 'a user must decide: credits or posts need consent, or a gate needs a pick',
  needsDecision: 'the answer to a create request was lost: run again, or settle the request with `resolve`',
  wrongUsage: 'wrong usage',
  wrongInput: 'the manifest, a data file or the lock is invalid, or git lacks the commit',
  unreachable: 'the service cannot be reached, or git cannot be run',
  cannotWrite: 'mediabatch cannot write outputs or the lock',
  lockHeld: 'another run holds the lock',
  keyRefused: 'the API key is missing or refused',
  interrupted: 'the run was interrupted; every paid job is on record',
};

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

export function codeReference(): string {
  const rows = Object.entries(titles).map(([name, title]) => [code(name), plainWords(title)]);
  return table(
    ['code', 'meaning'],
    rows.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  );
}

/**
 * Documents every kind. `document`: stored OpenAPI document of the service, for kinds that the API does not describe.
 */
export function kindReference(document?: ServiceDocument): string {
  return blocks(Object.values(kinds).map((kind) => kindSection(kind, document)));
}

export function kindSection(kind: Kind, document: ServiceDocument | undefined): string {
  const listed = kind.create.documented ? [] : fieldsOf(document?.creates[kind.name]?.schema);
  const checked = kind.create.documented
    ? 'Every field is checked before the request is sent.'
    : listed.length > 0
      ? 'The service documents this request only in its OpenAPI document, which lists these fields.'
      : 'The API does not document this request. The fields below are those of the sandbox; your service may have other fields. `plan --refresh` downloads the field names of your service for this page and for sandbox runs.';
  const fields =
    listed.length > 0
      ? listed.map(([name, schema]) => [code(name), listedWords(kind, name, schema)])
      : Object.entries(kind.fields).map(([name, field]) => [code(name), fieldWords(kind, name, field)]);
  const models = Object.entries(kind.model?.models ?? {}).map(([name, { description, credits }]) => [
    code(name),
    credits === undefined ? '' : String(credits),
    description,
  ]);
  return blocks([
    `## ${kind.name}`,
    `${kind.description} ${checked}`,
    table(['field', 'what'], fields),
    table([kind.model?.field ?? '', 'credits', 'what'], models),
    notesOf(kind, new Set(listed.map(([name]) => name))).join(' '),
  ]);
}

function fieldsOf(schema: Json | undefined): [string, JsonMap][] {
  if (schema === undefined) return [];
  return [...listedFields(schema).byName].map(([name, own]) => [name, mapOf(own)]);
}

function listedWords(kind: Kind, name: string, schema: JsonMap): string {
  const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  const described = typeof schema.description === 'string' ? schema.description : (field?.description ?? '');
  const values = listValues(schema) ?? [];
  return plainWords(
    [safeText(described, 300), ...(values.length === 0 ? [] : [`One of ${listNames(values)}.`])].join(' '),
  );
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

function notesOf(kind: Kind, listed: ReadonlySet<string>): string[] {
  const groups = (kind.oneOf ?? []).filter((names) => listed.size === 0 || names.every((name) => listed.has(name)));
  const outputs = kind.outputs.map((name) => `${code(`{{tasks.NAME.${name}}}`)}`);
  return [
    ...groups.map((names) => `Exactly one of ${names.map(code).join(', ')}.`),
    ...(kind.free === true ? ['Costs no credits.'] : []),
    ...(outputs.length === 0 ? [] : [`Outputs for other tasks: ${outputs.join(', ')}.`]),
    ...(kind.parts === undefined ? [] : [partsText(kind.parts)]),
  ];
}

function partsText({ name, most }: NonNullable<Kind['parts']>): string {
  return `Has parts: ${code(`foreach: "{{tasks.NAME.${name}}}"`)} with ${code('maxItems')}, at most ${most}.`;
}

export function topicReference(): string {
  const groups = Object.entries(topicGroups).map(([group, names]) => {
    const rows = Object.entries(names).map(([name, about]) => [`[${name}](${name}.md)`, about]);
    return blocks([`## ${group}`, table(['', ''], rows)]);
  });
  return blocks(groups);
}

interface CommandDoc {
  name: string;
  listed?: { theme: string; summary: string };
  usage: string;
  description: string;
  options: readonly { flags: string; description: string }[];
  examples: readonly { line: string; about: string }[];
}

export function commandReference(commands: readonly CommandDoc[]): string {
  const listed = commands.flatMap(({ name, listed: one }) => (one === undefined ? [] : [{ name, ...one }]));
  const themes = [...groupBy(listed, ({ theme }) => theme)].map(([theme, own]) => {
    const rows = own.map(({ name, summary }) => [code(name), plainWords(summary)]);
    return table([theme, ''], rows);
  });
  return blocks([...themes, ...commands.map(commandSection)]);
}

function commandSection({ name, usage, description, options, examples }: CommandDoc): string {
  const optionRows = options.map((one) => [code(one.flags), plainWords(one.description)]);
  const exampleRows = examples.map(({ line, about }) => [code(line), plainWords(about)]);
  return blocks([
    `## ${name}`,
    plainWords(description),
    `\`\`\`text\n${usage}\n\`\`\``,
    table(['option', 'what'], optionRows),
    table(['example', ''], exampleRows),
  ]);
}

function blocks(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

function code(text: string): string {
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const ticks = '`'.repeat(longest + 1);
  return longest === 0 ? `${ticks}${text}${ticks}` : `${ticks} ${text} ${ticks}`;
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  return [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
}

function plainWords(text: string): string {
  return text.replace(/[\\*_[\]<>&#]/g, '\\$&');
}

/** Returns the manual page for agents without links to other pages and without marks for the tests. */
export function agentsPage(page: string): string {
  return page.replaceAll(/\[help (\S+)\]\(\S+\.md\)/g, '`mediabatch help $1`').replaceAll(/^(\s*```sh) .*/gm, '$1');
}

export function agentsSkill(page: string): string {
  return `---
name: mediabatch
description: Write, check, price and rehearse campaigns of paid media (images, music, voiceovers, videos, clips, thumbnails, uploads, posts) with the mediabatch command, and have a person approve what costs credits or becomes public. For a folder with a campaign.yaml or a *.lock.jsonl, and where many media are to be made from data.
---

${agentsPage(page)}`;
}

export function keyReference(schema: JsonMap): string {
  const definitions = mapOf(schema.definitions);
  const task = mapOf(definitions.task);
  return [
    '## Keys of a manifest\n',
    ...propertiesOf(schema).flatMap(([name, one]) => entriesOf(name, one, requiredOf(schema), definitions)),
    '\n## Keys of a task\n',
    ...propertiesOf(task).flatMap(([name, one]) => entriesOf(name, one, requiredOf(task), definitions)),
  ].join('\n');
}

function entriesOf(path: string, schema: JsonMap, required: readonly string[], definitions: JsonMap): string[] {
  const { default: absent, description, examples } = schema;
  const notes = [
    typesOf(schema, definitions),
    ...(required.includes(path) ? ['required'] : []),
    ...(absent === undefined ? [] : [`default ${code(flow(absent))}`]),
  ];
  const name = path.split('.').at(-1) ?? path;
  const isShown = String(description).includes(`\`${name}: `);
  const shown =
    Array.isArray(examples) && !isShown ? examples.map((value) => code(`${name}: ${flow(value)}`)).join(', ') : '';
  const own = [`### ${code(path)}\n`, `${notes.join(', ')}. ${String(description)}${shown && ` As in ${shown}.`}\n`];
  const below = path === 'defaults' ? [] : propertiesOf(schema);
  return [...own, ...below.flatMap(([name, one]) => entriesOf(`${path}.${name}`, one, [], definitions))];
}

function propertiesOf({ properties }: JsonMap): [string, JsonMap][] {
  return Object.entries(mapOf(properties)).map(([name, one]) => [name, mapOf(one)]);
}

function requiredOf({ required }: JsonMap): string[] {
  return Array.isArray(required) ? required.map(String) : [];
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  array: 'list',
  object: 'map',
};

function typesOf(schema: JsonMap, definitions: JsonMap): string {
  const { type, enum: values, $ref } = schema;
  if (Array.isArray(values) && values.length <= 5) return `one of ${values.map((one) => code(flow(one))).join(', ')}`;
  if (typeof $ref === 'string') return typesOf(mapOf(definitions[$ref.replace('#/definitions/', '')]), definitions);
  const all = [type].flat().map((one) => typeWords[String(one)] ?? '');
  return schema.const !== undefined
    ? `always ${code(flow(schema.const))}`
    : all.join(', ').replace(/, ([^,]*)$/, ' or $1');
}

function flow(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (isMap(value)) {
    const parts = Object.entries(value).map(
      ([key, one]) => `${/^[\w/-]+$/.test(key) ? key : `"${key}"`}: ${flow(one)}`,
    );
    return `{ ${parts.join(', ')} }`;
  }
  if (typeof value !== 'string') return String(value);
  if (value === '\t') return '"\\t"';
  return /^\d*[A-Za-z][\w ./-]*$/.test(value) ? value : `"${value}"`;
}

export function kindsJson(kinds: readonly Kind[]): Json {
  return jsonOf('kinds', {
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
        ...defined({ values: field.values && [...field.values], default: field.default, maxLength: field.maxLength }),
      })),
      ...(kind.model !== undefined && {
        models: Object.entries(kind.model.models).map(([name, { description, credits, aliasOf }]) => ({
          name,
          description,
          ...defined({ credits, aliasOf }),
        })),
      }),
      outputs: [...kind.outputs],
      ...(kind.parts !== undefined && { parts: { name: kind.parts.name, most: kind.parts.most } }),
    })),
  });
}
