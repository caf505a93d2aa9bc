import type { Options } from '../plan/plan.generated.ts';
import { findGiven, flagOf } from './check-options.ts';
import type { OptionRow } from './option-table.ts';

export function isKept({ settles }: OptionRow): boolean {
  return settles === 'campaign' || settles === 'plan';
}

/** Picks the options that a saved plan stores from the given ones. Their paths are converted by `write`. */
export function optionsToKeep(options: object, write: (path: string) => string): Options {
  const kept = findGiven(options, isKept).filter(({ value }) => value !== false);
  return Object.fromEntries(
    kept.map(({ name, row: { takes }, value }) => {
      if (takes === 'path') return [name, write(String(value))];
      return [name, takes === 'paths' && Array.isArray(value) ? value.map(write) : value];
    }),
  );
}

/**
 * Returns the words of a command line that make the same plan again, without the file and the options that every
 * command repeats.
 */
export function wordsOfPlan(options: object): string[] {
  return findGiven(options, ({ settles }) => settles === 'plan').flatMap(({ row, value }) =>
    wordsOf(flagOf(row), value),
  );
}

export function wordsOf(flag: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [flag];
  if (Array.isArray(value)) return value.flatMap((one) => [flag, String(one)]);
  if (typeof value !== 'object' || value === null) return [flag, String(value)];
  return Object.entries(value).flatMap(([name, text]) => [flag, `${name}=${text}`]);
}
