import type { Options } from '../plan/plan.generated.ts';
import type { OptionRow } from './option-table.ts';
import { findGiven, flagOf } from './options.ts';

/** Whether a saved plan keeps this option: it decides what the plan is. */
export function isKept({ settles }: OptionRow): boolean {
  return settles === 'campaign' || settles === 'plan';
}

/** Picks the options that a saved plan keeps from those that were given, with its paths as `write` gives them. */
export function optionsToKeep(options: object, write: (path: string) => string): Options {
  const kept = findGiven(options, isKept).filter(({ value }) => value !== false);
  return Object.fromEntries(
    kept.map(({ name, row: { takes }, value }) => {
      if (takes === 'path') return [name, write(String(value))];
      return [name, takes === 'paths' && Array.isArray(value) ? value.map(write) : value];
    }),
  );
}

/** Words that make the same plan again, but for the file and what every command goes on with. */
export function wordsOfPlan(options: object): string[] {
  return findGiven(options, ({ settles }) => settles === 'plan').flatMap(({ row, value }) =>
    wordsOf(flagOf(row), value),
  );
}

/** An option as a command line gives it. */
export function wordsOf(flag: string, value: unknown): string[] {
  if (value === undefined || value === false) return [];
  if (value === true) return [flag];
  if (Array.isArray(value)) return value.flatMap((one) => [flag, String(one)]);
  if (typeof value !== 'object' || value === null) return [flag, String(value)];
  return Object.entries(value).flatMap(([name, text]) => [flag, `${name}=${text}`]);
}
