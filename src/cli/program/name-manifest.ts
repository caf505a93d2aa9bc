import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { CampaignError } from '../../contract/failure.ts';
import { call, way } from '../../ground/advice.ts';

export const defaultManifest = 'campaign.yaml';

export const manifestArgument = ['[file]', `the manifest (default: ${defaultManifest})`] as const;
export const manifestsArgument = ['[files...]', `manifests (default: ${defaultManifest})`] as const;

export function isAboutManifest(command: Command): boolean {
  const first = command.registeredArguments[0]?.name();
  return first === 'file' || first === 'files';
}

/**
 * Inserts `campaign.yaml` into a command line that omits FILE; returns any other line unchanged. If the number of
 * words does not decide, the first word does: it is FILE if it has the extension of a manifest or is an existing
 * file. Refuses ambiguous lines.
 */
export function nameManifest(program: Command, argv: readonly string[], isFile = isPlainFile): readonly string[] {
  const found = findCommand(program, argv);
  if (found === undefined || !isAboutManifest(found.command)) return argv;
  const { command, at } = found;
  const words = operandsOf(command, argv.slice(at));
  if (hasManifest(command, words, isFile)) return argv;
  return [...argv.slice(0, at), defaultManifest, ...argv.slice(at)];
}

function hasManifest(command: Command, words: readonly string[], isFile: (path: string) => boolean): boolean {
  const [first] = words;
  if (first === undefined) return false;
  const [{ variadic } = { variadic: true }, ...others] = command.registeredArguments;
  if (others.at(-1)?.variadic === false && words.length > others.length) return true;
  const needed = others.filter(({ required }) => required).length;
  const isFixed = variadic || needed === others.length;
  // A word that looks like a manifest is FILE, so that the error is about the missing last argument.
  if (isFixed) return words.length > needed || /\.ya?ml$/i.test(first);
  const mayBeAddress = /^[A-Za-z_][\w-]*(?:[@/*].*)?$/.test(first);
  const mayBeFile = /^\.{0,2}\/|\.(?:ya?ml|jsonc?|jsonl)$/i.test(first);
  if (!isFile(first)) return mayBeFile && !(mayBeAddress && first.includes('@'));
  if (!mayBeAddress || (mayBeFile && !first.includes('@')) || !isFile(defaultManifest)) return true;
  const name = command.name();
  throw new CampaignError({
    code: 'MB3000',
    message: `${first} is a file here, and may be a step of ${defaultManifest}`,
    hint: [
      way('for the file', { ...call(name), file: `./${first}` }),
      way('for the step', { ...call(name, first), file: defaultManifest }),
    ],
  });
}

/** Finds the command of a line, and the index of its first word. */
function findCommand(program: Command, argv: readonly string[]): { command: Command; at: number } | undefined {
  const named = ({ commands }: Command, at: number) => commands.find((one) => one.name() === argv[at]);
  let at = argv.findIndex((word) => !word.startsWith('-'));
  let command: Command | undefined;
  for (let next = named(program, at); next !== undefined; next = named(next, at)) {
    command = next;
    at += 1;
  }
  return command && { command, at };
}

/** Words that are neither options nor values of options. */
function operandsOf(command: Command, words: readonly string[]): string[] {
  const found: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return [...found, ...words.slice(at + 1)];
    if (word === '-' || !word.startsWith('-')) found.push(word);
    else if (takesNext(command, word)) at += 1;
  }
  return found;
}

/** Whether the value of an option is the next word: `--lock FILE` and `-ys SEL`, not `--lock=FILE` or `-sSEL`. */
function takesNext({ options }: Command, word: string): boolean {
  if (word.startsWith('--')) return options.some(({ long, required }) => required && long === word);
  for (const [at, letter] of [...word.slice(1)].entries()) {
    const option = options.find(({ short }) => short === `-${letter}`);
    if (option === undefined) return false;
    if (option.required) return at === word.length - 2;
  }
  return false;
}

function isPlainFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
