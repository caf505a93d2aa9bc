import { kinds } from '../../kinds/index.ts';
import { nearestName } from '../../manifest/suggest.ts';

/** Text with which a user names steps: an address or a task, with `*` as wildcard. */
export interface Name {
  text: string;
  literal: boolean;
}

export interface Named {
  address: string;
  task: string;
}

/** Parses a name. A text that is an existing address always names that address. A quoted name has no wildcards. */
export function readName(text: string, isAddress: (text: string) => boolean): Name {
  const exact = findAddress(text, isAddress);
  if (exact !== undefined) return { text: exact, literal: true };
  const [, quoted] = /^"((?:\\.|[^"\\])*)"$/s.exec(text) ?? [];
  return quoted === undefined ? { text, literal: false } : { text: quoted.replaceAll(/\\(.)/gs, '$1'), literal: true };
}

/** Finds the address that a user typed, also with the escapes that messages print for invisible characters. */
export function findAddress(text: string, isAddress: (text: string) => boolean): string | undefined {
  if (isAddress(text)) return text;
  if (!text.includes('\\')) return undefined;
  const shown = text.replaceAll(shownEscape, (_escape, byte, unit, point) => {
    const code = Number.parseInt(byte ?? unit ?? point, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
  return isAddress(shown) ? shown : undefined;
}

const shownEscape = /\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}/g;

/** Writes an address as a name that matches only this address, at any position of a selection. */
export function writeName(address: string): string {
  const isPlain = /^[^\s"*+,:@]+(@[^\s"*@]*[^\s"*@+,])?$/.test(address) && !startsOther.test(address);
  return isPlain ? address : `"${address.replaceAll(/["\\]/g, '\\$&')}"`;
}

const startsOther = /,\+?(?:(?:kind|tag|state|cost|selector):|")|,(?:,|$)/;

/** Finds the item with this address. If no item has the address, finds all items whose address or task matches. */
export function findNamed<T extends Named>(name: Name, among: readonly T[]): T[] {
  const exact = among.filter(({ address }) => address === name.text);
  if (exact.length > 0) return exact; // I25
  return among.filter(({ address, task }) => fits(address, name) || fits(task, name));
}

/** Matches a pattern in which `*` represents any characters. Does not backtrack, so its time is bounded. */
export function fits(text: string, { text: pattern, literal }: Name): boolean {
  const parts = literal ? [pattern] : pattern.split('*');
  const [first = '', ...others] = parts;
  if (others.length === 0) return text === pattern;
  const last = others.pop() ?? '';
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > text.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns the path of an output without extension. `index` starts at 0; numbers in paths start at 1. */
export function wantedPath(step: { kind: string; save: string }, index: number): string {
  return kinds[step.kind]?.parts === undefined ? step.save : `${step.save}-${index + 1}`;
}

export function withoutExtension(path: string): string {
  return path.replace(/\.[A-Za-z0-9]+$/, '');
}

const most = 5;

export function nearNames(written: string, known: readonly Named[]): string[] {
  const text = written.replace(/^\+|\+$/g, '').replaceAll('"', '');
  const addresses = known.map(({ address }) => address);
  const ofTask = known.filter(({ task }) => task === text.split(/[@/]/, 1)[0]).map(({ address }) => address);
  const among = ofTask.length > 0 ? ofTask : addresses;
  const nearest = nearestName(text, among);
  const alike = text === '' ? [] : among.filter((address) => address.startsWith(text.slice(0, 3)));
  return [...new Set([...(nearest === undefined ? [] : [nearest]), ...alike])].slice(0, most);
}
