import { flatText } from '../manifest/flat-text.ts';
import { slug } from '../manifest/template/helpers.ts';

/** Longest key, in characters. */
export const maxKeyLength = 100;

/** What cannot stand in a key: it has a meaning in addresses, selections or file names, or cannot be seen. */
const forbidden = /[\s,@/\\*?\p{C}]/u;

/** The first character that a key cannot have. */
export function forbiddenIn(key: string): string | undefined {
  return forbidden.exec(key)?.[0];
}

/** A matrix value as it stands in an address. */
export function addressPart(value: string): string {
  if (value === '') return '';
  return forbidden.test(value) ? slug(value).slice(0, maxKeyLength) : value.slice(0, maxKeyLength);
}

/** `task`, `task@key,v1,v2`, `task@key/2`. */
export function stepAddress(
  task: string,
  parts: { key: string | undefined; values: readonly string[]; take: number | undefined },
): string {
  const names = [...(parts.key === undefined ? [] : [parts.key]), ...parts.values];
  const cell = names.length === 0 ? '' : `@${names.join(',')}`;
  const take = parts.take === undefined ? '' : `/${parts.take}`;
  return flatText(task, cell, take);
}

/** The task that an address names, whether or not there is one. */
export function taskOfAddress(address: string): string {
  return /^[^@/]*/.exec(address)?.[0] ?? address;
}
