import type { Command } from 'commander';
import { flagOf, type OptionRow, optionTable, wordsOf } from '../campaign/option-table.ts';
import type { Paste } from '../report/advice-text.ts';
import { shellWord } from '../report/shell-word.ts';
import { defaultManifest } from './program/name-manifest.ts';

/**
 * Returns whether a suggested command repeats an option. Without the limits of the plan it would do more than this
 * command.
 */
function isCarried({ settles, printed }: OptionRow, command: string): boolean {
  const where = printed ?? ({ campaign: 'always', plan: 'apply', run: 'never', here: 'never' } as const)[settles]; // I25
  return where === 'always' || (where === 'apply' && command === 'apply');
}

/** The call of the program, which printed commands repeat. */
export interface Called {
  file: string | undefined;
  /** Options by commander's names. */
  options: { readonly [name: string]: unknown };
}

/** Reads how `command` was called, without default values. */
export function readCall(command: Command): Called {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli');
  const file: unknown = isAboutFile(command) ? command.processedArgs[0] : undefined;
  return { file: typeof file === 'string' ? file : undefined, options: Object.fromEntries(given) };
}

export function pasteAfter(program: Command, called: Called): Paste {
  return ({ call: name, words, file = called.file ?? defaultManifest, bare }) => {
    let command: Command | undefined = program;
    for (const word of name.split(' ')) command = command?.commands.find((one) => one.name() === word);
    if (command === undefined) throw new Error(`internal error: there is no command ${name}`);
    const carried = Object.values(optionTable).flatMap((row) => (isCarried(row, name) ? [flagOf(row)] : []));
    const flags = command.options.flatMap((option) => {
      const { long, short } = option;
      const isGiven = words.some((word) => word === long || word === short);
      if (long == null || bare === true || isGiven || !carried.includes(long)) return [];
      return wordsOf(long, shownValue(option.attributeName(), called));
    });
    const subject = isAboutFile(command) ? [file.startsWith('-') ? `./${file}` : file] : [];
    return ['mediabatch', name, ...[...subject, ...flags, ...words].map((word) => shellWord(word))].join(' ');
  };
}

/** Value of an option as it may be shown. Credentials of an engine are removed. */
function shownValue(name: string, { options }: Called): unknown {
  const value = options[name];
  if (name !== 'engine') return value;
  if (typeof value !== 'string' || !/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  url.password = '';
  for (const secret of ['password', 'sslpassword']) url.searchParams.delete(secret);
  return url.href;
}

function isAboutFile(command: Command): boolean {
  return command.registeredArguments[0]?.name() === 'file';
}
