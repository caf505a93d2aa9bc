import type { Command, Option } from 'commander';
import type { Paste } from '../report/advice-text.ts';
import { shellWord } from '../report/shell-word.ts';
import { defaultManifest } from './program/name-manifest.ts';

/** Which lock is meant, whose money, and what the manifest is told: every command that knows them is told the same. */
const state: readonly string[] = ['sandbox', 'lock', 'var', 'varFile']; // I25

/** Limits of a run: without these a suggested command would do more than the one before it. */
const limits: readonly string[] = [
  'select',
  'exclude',
  'first',
  'sample',
  'seed',
  'maxCredits',
  'concurrency',
  'onUnknown',
  'new',
];

/** Who carries a run out: while an engine has it, nobody else may. */
const engines: readonly string[] = ['engine', 'store', 'workers'];

/** How the program was called, as far as commands that are printed have to be called alike. */
export interface Called {
  /** As the person gave it. */
  file: string | undefined;
  /** By the names that commander gives them. */
  options: { readonly [name: string]: unknown };
}

/** How `command` was called. Defaults were not given. */
export function readCall(command: Command): Called {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  const file: unknown = isAboutFile(command) ? command.processedArgs[0] : undefined;
  return { file: typeof file === 'string' ? file : undefined, options: Object.fromEntries(given) };
}

/** Writes commands of this program that go on from a call of it. */
export function pasteAfter(program: Command, called: Called): Paste {
  return ({ call: name, words, file = called.file ?? defaultManifest, bare }) => {
    let command: Command | undefined = program;
    for (const word of name.split(' ')) command = command?.commands.find((one) => one.name() === word);
    if (command === undefined) throw new Error(`internal error: there is no command ${name}`);
    const carried = bare === true ? [] : name === 'apply' ? [...state, ...limits, ...engines] : [...state, 'engine'];
    const flags = command.options.flatMap((option) => {
      const isGiven = words.some((word) => word === option.long || word === option.short);
      return carried.includes(option.attributeName()) && !isGiven
        ? flagOf(option, shownValue(option.attributeName(), called))
        : [];
    });
    const subject = isAboutFile(command) ? [file.startsWith('-') ? `./${file}` : file] : [];
    return ['mediabatch', name, ...[...subject, ...flags, ...words].map((word) => shellWord(word))].join(' ');
  };
}

/** What signs in to an engine is shown to nobody. */
function shownValue(name: string, { options }: Called): unknown {
  const value = options[name];
  if (name !== 'engine' || value === 'embedded') return value;
  if (typeof value !== 'string' || !/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  url.password = '';
  for (const secret of ['password', 'sslpassword']) url.searchParams.delete(secret);
  return url.href;
}

function isAboutFile(command: Command): boolean {
  return command.registeredArguments[0]?.name() === 'file';
}

function flagOf({ long }: Option, value: unknown): string[] {
  if (long == null || value === undefined || value === false) return [];
  if (value === true) return [long];
  if (Array.isArray(value)) return value.flatMap((one) => [long, String(one)]);
  if (typeof value !== 'object' || value === null) return [long, String(value)];
  return Object.entries(value).flatMap(([name, text]) => [long, `${name}=${text}`]);
}
