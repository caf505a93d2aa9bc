import { flatText } from '../manifest/flat-text.ts';
import { slug } from '../manifest/template/helpers.ts';

/** Longest key, in characters. */
export const maxKeyLength = 100;

/** Characters that a key cannot have: they have a meaning in addresses, selections or file names, or are invisible. */
const forbidden = /[\s,@/\\*?\p{C}]/u;

/** Finds the first character that a key cannot have. */
export function forbiddenIn(key: string): string | undefined {
  return forbidden.exec(key)?.[0];
}

/** Formats a matrix value for an address. */
export function addressPart(value: string): string {
  if (value === '') return '';
  return forbidden.test(value) ? slug(value).slice(0, maxKeyLength) : value.slice(0, maxKeyLength);
}

/** Builds an address: `task`, `task@key,v1,v2`, `task@key/2`. */
export function stepAddress(
  task: string,
  parts: { key: string | undefined; values: readonly string[]; take: number | undefined },
): string {
  const names = [...(parts.key === undefined ? [] : [parts.key]), ...parts.values];
  const cell = names.length === 0 ? '' : `@${names.join(',')}`;
  const take = parts.take === undefined ? '' : `/${parts.take}`;
  return flatText(task, cell, take);
}

/** Returns the task that an address names, existing or not. */
export function taskOfAddress(address: string): string {
  return /^[^@/]*/.exec(address)?.[0] ?? address;
}
