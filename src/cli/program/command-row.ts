import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  flagOf,
  lockOptions,
  type OptionRow,
  optionTable,
  type Range,
  varOptions,
} from '../../campaign/option-table.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import { groupBy } from '../../ground/values.ts';
import { faint, line, table } from '../../report/document.ts';
import { terminalText } from '../../report/render/terminal-text.ts';
import type { Style } from '../../report/style.ts';
import type { ApplyOptions } from '../open.ts';
import type { Terminal } from '../terminal.ts';

/**
 * A command line and its explanation. `not run`: tests skip the example. `until Ctrl-C`: tests interrupt the command.
 * `at gates`: tests run the command in the campaign draft-to-final. `asks`: the command asks the user to confirm.
 */
type Example = readonly [line: string, about: string, how?: 'not run' | 'until Ctrl-C' | 'at gates' | 'asks'];

/** All facts about a command, for the parser, the help, the manual and the tests. */
export interface CommandRow {
  name: string;
  summary: string;
  description: string;
  arguments?: readonly (readonly [name: string, about: string, standard?: string])[];
  options?: readonly CommandOption[];
  notes?: string;
  /** At least two. A test runs each example in the campaign quickstart or draft-to-final. */
  examples: readonly Example[];
  isEveryday?: true;
  /** Set if the command can lose data: an error message then never suggests the command for a misspelt one. */
  isDestructive?: true;
  alsoCalled?: readonly string[];
  /** Other names of this command, each with the option that the name implies. */
  shortForms?: Readonly<Record<string, string>>;
  /** Returns the exit code; undefined means 0. `given`: arguments, options and the Commander command. */
  run?: (terminal: Terminal, ...given: Given) => Promise<number> | Promise<void>;
}

type Given = Parameters<Parameters<Command['action']>[0]>;

export type CommandGroup = readonly [heading: string, rows: readonly CommandRow[]];

export interface ProgramContext {
  terminal: Terminal;
  exit(code: number): void;
}

const rowsByCommand = new WeakMap<Command, CommandRow>();

export function rowOf(command: Command): CommandRow | undefined {
  return rowsByCommand.get(command);
}

export function addCommands(program: Command, [heading, rows]: CommandGroup, context: ProgramContext): void {
  program.commandsGroup(heading);
  for (const row of rows) addCommand(program, row, context);
}

function addCommand(program: Command, row: CommandRow, { terminal, exit }: ProgramContext): void {
  const [own = '', parent] = row.name.split(' ').reverse();
  const above = program.commands.find((one) => one.name() === parent) ?? program;
  const command = above.command(own).summary(row.summary).description(row.description);
  rowsByCommand.set(command, row);
  for (const [name, about, standard] of row.arguments ?? []) command.argument(name, about, standard);
  for (const option of row.options ?? []) command.addOption(optionOf(option));
  if (command.options.length > mostUngrouped) underHeadings(command);
  if (row.notes !== undefined) command.addHelpText('after', `\n${row.notes}`);
  command.addHelpText('after', () => examplesText(row.examples, terminal.outStyle));
  const { run } = row;
  if (run === undefined) return;
  command.action(async (...given) => {
    requireNeeded(command, row.options ?? []);
    exit((await run(terminal, ...given)) ?? exitCodes.done);
  });
}

export function namedCommands({ commands }: Command): [string, Command, CommandRow][] {
  return commands.flatMap((one) => {
    const row = rowOf(one);
    return row === undefined ? [] : [[row.name, one, row] as [string, Command, CommandRow], ...namedCommands(one)];
  });
}

function examplesText(own: readonly Example[], style: Style): string {
  const cells = own.map(([example, about]) => [example, faint(`# ${about}`)]);
  return `\n${terminalText([line('Examples:', [table([{ title: '' }, { title: '' }], cells)])], { style })}`;
}

type OwnOption = readonly [flags: string, about: string, more?: OptionDetails];

interface OptionDetails extends Omit<Partial<OptionRow>, 'takes' | 'standard' | 'conflicts'> {
  takes?: OptionRow['takes'] | 'whole' | 'bytes';
  standard?: unknown;
  conflicts?: string | string[];
  needs?: string;
}

export type CommandOption = OptionRow | OwnOption;

export const state: readonly OptionRow[] = Object.values({ ...lockOptions, ...varOptions });

/** Typed options by name in the option table, without defaults. */
export function typedOptions(command: Command): ApplyOptions {
  const typed = Object.entries(optionTable).flatMap(([name, { flags }]) => {
    const own = new Option(flags).attributeName();
    return command.getOptionValueSource(own) === 'cli' ? [[name, command.getOptionValue(own)]] : [];
  });
  return Object.fromEntries(typed);
}

const mostUngrouped = 15;

const headings = Object.entries({
  'Consent and money:': 'yes publish max-credits on-error wait-for-balance',
  'Which steps:': 'select exclude first redo',
  'Which campaign:': 'lock var var-file strict service-moved new refresh',
  'Output:': 'json all format out compare detailed-exitcode quiet verbose events dry-run review',
  'Pace and failures:': 'concurrency poll-interval patience request-timeout lock-timeout on-unknown',
  'Sandbox:': 'sandbox sandbox-credits sandbox-speed sandbox-fail-rate',
  'Engine:': 'engine store',
}).flatMap(([heading, names]) => names.split(' ').map((name) => ({ name, heading })));

function underHeadings(command: Command): void {
  const placeOf = (option: { name(): string }) => {
    const place = headings.findIndex(({ name }) => name === option.name());
    return place === -1 ? headings.length : place;
  };
  for (const option of command.options) option.helpGroup(headings[placeOf(option)]?.heading ?? 'Others:');
  const byPlace = (a: { name(): string }, b: { name(): string }) => placeOf(a) - placeOf(b);
  command.configureHelp({
    ...command.configureHelp(),
    // Only the help sorts the options; printed commands use the order of `optionTable`.
    groupItems: (_all, visible, headingOf) => groupBy(visible.toSorted(byPlace), headingOf),
  });
}

function detailsOf(given: CommandOption): OptionDetails & Pick<OptionRow, 'flags' | 'about'> {
  return 'flags' in given ? given : { flags: given[0], about: given[1], ...given[2] };
}

function optionOf(given: CommandOption): Option {
  const { flags, about, takes, range, standard, shown, conflicts } = detailsOf(given);
  const option = new Option(flags, about);
  if (Array.isArray(takes)) option.choices(takes);
  const reader = readerOf(takes, range) ?? (/<(?:file|dir)>$/.test(flags) ? readPath : undefined);
  if (reader !== undefined) option.argParser(reader);
  if (conflicts !== undefined) option.conflicts(conflicts);
  // The text of some options already contains the default.
  if (standard === undefined || /\bdefault\b/.test(about)) return option;
  return option.default(standard, shown ?? JSON.stringify(standard));
}

function requireNeeded(command: Command, options: readonly CommandOption[]): void {
  const isGiven = (flag: string) => command.getOptionValueSource(new Option(flag).attributeName()) === 'cli';
  for (const { flags, needs } of options.map(detailsOf)) {
    const flag = flagOf({ flags });
    if (needs === undefined || !isGiven(flag) || isGiven(needs)) continue;
    throw new CampaignError({
      code: 'MB3000',
      message: `${flag} requires ${needs}`,
      hint: `add ${needs}, or remove ${flag}`,
      options: [flag, needs],
    });
  }
}

type Reader = (text: string, earlier: unknown) => unknown;

/** Returns the parser of an option's values. Undefined for strings, and for sets of words, which Commander checks. */
function readerOf(takes: OptionDetails['takes'], range: Range = { least: 0 }): Reader | undefined {
  const append: Reader = (text, earlier = []) => [...(earlier as string[]), text];
  const readers: Readonly<Record<string, Reader | undefined>> = {
    texts: append,
    paths: append,
    pairs: (text, earlier) => ({ ...(earlier as object | undefined), ...readPair(text) }),
    number: numberIn(range),
    whole: numberIn({ least: 0, whole: true }),
    bytes,
    seconds: secondsIn(range),
    duration,
    interval: pollInterval,
  };
  return typeof takes === 'string' ? readers[takes] : undefined;
}

/** Throws if the value of a path option starts with `--`, because the user probably forgot the path. */
function readPath(text: string): string {
  if (/^--\w/.test(text))
    throw new InvalidArgumentError(`give a path before ${text} (for a file with this name: ./${text})`);
  return text;
}

function readPair(text: string): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('use the form name=value');
  return { [text.slice(0, at)]: text.slice(at + 1) };
}

function numberIn({ least, most, whole }: Range): (text: string) => number {
  const kind = whole ? 'a whole number' : 'a number';
  const above = least === Number.MIN_VALUE ? ' above 0' : `, ${least} or more`;
  const range = most === undefined ? above : ` from ${least} to ${most}`;
  return (text) => {
    const isNumber = whole ? /^\d{1,15}$/.test(text) : text.trim() !== '';
    const value = isNumber ? Number(text) : Number.NaN;
    if (value >= least && value <= (most ?? Number.POSITIVE_INFINITY)) return value;
    throw new InvalidArgumentError(`use ${kind}${range}`);
  };
}

function secondsIn({ least }: Range): (text: string) => number {
  const read = numberIn({ least: least / 1000, most: 86_400 });
  return (text) => read(text) * 1000;
}

function measure(units: Readonly<Record<string, number>>, examples: string): (text: string) => number {
  return (text) => {
    const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?) ?([a-z]+)$/i.exec(text) ?? [];
    const factor = units[unit.toLowerCase()];
    if (factor === undefined) throw new InvalidArgumentError(`use a value such as ${examples}`);
    return Math.round(Number(number) * factor);
  };
}

const hourMs = 3_600_000;
const duration = measure({ s: 1000, m: 60_000, h: hourMs, d: 24 * hourMs }, '90s, 30m, 2h or 7d');
const bytes = measure({ kb: 1e3, mb: 1e6, gb: 1e9 }, '500kB, 20MB or 1GB');

function pollInterval(text: string): number | undefined {
  if (text === 'auto') return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 10) throw new InvalidArgumentError('use auto, or at least 10 ms');
  return value;
}
