import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  applyOptions,
  lockOptions,
  type OptionRow,
  optionTable,
  planOptions,
  type Range,
  scopeOptions,
  selectionOptions,
  sharedOptions,
  varOptions,
} from '../../campaign/option-table.ts';
import { CampaignError } from '../../contract/failure.ts';
import { groupBy } from '../../ground/values.ts';
import type { ApplyOptions } from '../open.ts';

type OwnOption = readonly [flags: string, about: string, more?: OptionDetails];

interface OptionDetails extends Omit<Partial<OptionRow>, 'standard' | 'conflicts'> {
  /** Default value, which help shows. */
  standard?: unknown;
  conflicts?: string | string[];
  /** Name of an option that this one requires. */
  needs?: string;
  /** Parser of a value that has no type in `takes`. */
  read?: (text: string) => unknown;
}

export type CommandOption = OptionRow | OwnOption;

export const variables: readonly OptionRow[] = Object.values(varOptions);
export const state: readonly OptionRow[] = [...Object.values(lockOptions), ...variables];
export const selecting: readonly OptionRow[] = Object.values(selectionOptions);
export const planning: readonly OptionRow[] = [
  ...state,
  ...selecting,
  ...Object.values(scopeOptions),
  ...Object.values(sharedOptions),
];

export const { sandbox: sandboxOption, lock: lockOption } = lockOptions;
export const { strict: strictOption } = planOptions;
export const { serviceMoved: serviceMovedOption } = scopeOptions;
export const { lockTimeoutMs: lockTimeoutOption, engine: engineOption } = applyOptions;
export const { json: jsonOption } = sharedOptions;
export const yesOption: OwnOption = ['-y, --yes', 'do not ask'];
export const wholeNumber = { takes: 'number', range: { least: 0, whole: true } } as const;

/** Typed options by their names in the option table, without defaults, which are added where they are needed. */
export function typedOptions(command: Command): ApplyOptions {
  const typed = Object.entries(optionTable).flatMap(([name, { flags }]) => {
    const own = new Option(flags).attributeName();
    return command.getOptionValueSource(own) === 'cli' ? [[name, command.getOptionValue(own)]] : [];
  });
  return Object.fromEntries(typed);
}

/** Names of options under each heading of a long help. */
const headings: Readonly<Record<string, string>> = {
  'Consent and money:': 'yes publish max-credits on-error wait-for-balance',
  'Which campaign:': 'lock var var-file strict service-moved new refresh',
  'Which steps:': 'select exclude first sample redo',
  'Output:': 'json all format out compare detailed-exitcode quiet verbose events dry-run review',
  'Pace and failures:': 'concurrency poll-interval patience request-timeout lock-timeout on-unknown',
  'Sandbox:': 'sandbox sandbox-credits sandbox-speed sandbox-fail-rate',
  'Engine:': 'engine store',
};

export function underHeadings(command: Command): Command {
  const all = Object.entries(headings);
  for (const option of command.options) {
    const found = all.find(([, names]) => names.split(' ').includes(option.name()));
    option.helpGroup(found?.[0] ?? 'Others:');
  }
  // Printed commands keep the order of the table.
  const order = (name: string) => Object.keys(headings).indexOf(name) + 1 || all.length + 1;
  return command.configureHelp({
    ...command.configureHelp(),
    groupItems: (_all, visible, groupOf) =>
      groupBy(
        visible.toSorted((a, b) => order(groupOf(a)) - order(groupOf(b))),
        groupOf,
      ),
  });
}

export function optionOf(given: CommandOption): Option {
  const row: OptionDetails & Pick<OptionRow, 'flags' | 'about'> =
    'flags' in given ? given : { flags: given[0], about: given[1], ...given[2] };
  const option = new Option(row.flags, row.about);
  if (row.words !== undefined) option.choices(row.words);
  const reader = readerOf(row) ?? (/<(?:file|dir)>$/.test(row.flags) ? readPath : undefined);
  if (reader !== undefined) option.argParser(reader);
  if (row.conflicts !== undefined) option.conflicts(row.conflicts);
  const shown =
    row.shown ?? ('flags' in given || row.standard === undefined ? undefined : JSON.stringify(row.standard));
  return shown === undefined ? option : option.default(row.standard ?? shown, shown);
}

/** Throws if an option was given without the option that it requires. */
export function requireNeeded(command: Command, options: readonly CommandOption[]): void {
  const isGiven = (name: string) => command.getOptionValueSource(name) === 'cli';
  for (const given of options) {
    if ('flags' in given || given[2]?.needs === undefined) continue;
    const { needs } = given[2];
    const option = optionOf(given);
    if (!isGiven(option.attributeName()) || isGiven(needs)) continue;
    const { long } = option;
    const other = command.options.find((one) => one.attributeName() === needs)?.long;
    throw new CampaignError({
      code: 'MB3000',
      message: `${long} requires ${other}`,
      hint: `add ${other}, or remove ${long}`,
      options: [`${long}`, `${other}`],
    });
  }
}

type Reader = (text: string, earlier: unknown) => unknown;

/** Parser of an option's value. Undefined if the value is a plain string. */
function readerOf({ takes, read, range = { least: 0 } }: OptionDetails): Reader | undefined {
  if (read !== undefined) return read;
  switch (takes) {
    case 'texts':
    case 'paths':
      return (text, earlier = []) => [...(earlier as string[]), text];
    case 'pairs':
      return (text, earlier) => ({ ...(earlier as object | undefined), ...readPair(text) });
    case 'number':
      return numberIn(range);
    case 'seconds':
      return secondsIn(range);
    case 'duration':
      return duration;
    case 'interval':
      return pollInterval;
    case 'text':
    case 'path':
    case undefined:
      return undefined;
    default:
      return takes satisfies never;
  }
}

/** Refuses a word like an option, which Commander would take for the path that was forgotten. */
function readPath(text: string): string {
  if (/^--\w/.test(text))
    throw new InvalidArgumentError(`give a path before ${text} (for a file of that name: ./${text})`);
  return text;
}

function readPair(text: string): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('write it as name=value');
  return { [text.slice(0, at)]: text.slice(at + 1) };
}

function numberIn({ least, most, whole }: Range): (text: string) => number {
  const kind = whole ? 'a whole number' : 'a number';
  const above = least === Number.MIN_VALUE ? ' above 0' : `, ${least} or more`;
  const range = most === undefined ? above : ` from ${least} to ${most}`;
  return (text) => {
    const value = whole && !/^\d{1,15}$/.test(text) ? Number.NaN : Number(text);
    if (value >= least && value <= (most ?? Number.POSITIVE_INFINITY)) return value;
    throw new InvalidArgumentError(`give ${kind}${range}`);
  };
}

/** Parses seconds; returns ms. */
function secondsIn({ least }: Range): (text: string) => number {
  return (text) => {
    const value = Number(text);
    const isWithin = text.trim() !== '' && value >= 0 && value <= 86_400;
    if (!isWithin) throw new InvalidArgumentError('give seconds, 0 to 86400');
    if (value * 1000 < least) throw new InvalidArgumentError('give seconds above 0');
    return value * 1000;
  };
}

/** Returns a parser of a number with one of these units. */
function measure(units: Readonly<Record<string, number>>, examples: string): (text: string) => number {
  return (text) => {
    const [, number, unit = ''] = /^(\d{1,6}(?:\.\d{1,3})?) ?([a-z]+)$/i.exec(text) ?? [];
    const factor = units[unit.toLowerCase()];
    if (factor === undefined) throw new InvalidArgumentError(`write it as ${examples}`);
    return Math.round(Number(number) * factor);
  };
}

const hourMs = 3_600_000;
const duration = measure({ s: 1000, m: 60_000, h: hourMs }, '90s, 30m or 2h');
export const age = measure({ h: hourMs, d: 24 * hourMs }, '12h or 30d');
export const bytes = measure({ kb: 1e3, mb: 1e6, gb: 1e9 }, '500kB, 20MB or 1GB');

function pollInterval(text: string): number | undefined {
  if (text === 'auto') return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 10) throw new InvalidArgumentError('give auto, or at least 10 ms');
  return value;
}
