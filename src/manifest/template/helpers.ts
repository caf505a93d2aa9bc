import { canonicalJson, type Json } from '../../ground/json.ts';
import { describeValue, isMap, isScalar, ownValue, shorten } from '../../ground/values.ts';
import { suggestName } from '../suggest.ts';
import { holds } from './template.ts';

type HelperResult = { value: Json } | { wrong: string } | { missing: string; hint: string };

/**
 * A pure function without clock or randomness, because the result of a template determines purchases. An argument can
 * be `undefined` only if `optional` is true.
 */
interface Helper {
  takes: readonly [number, number];
  usage: string;
  optional: boolean;
  /** Set if the result is a reference to a step, so that a call of the helper cannot be an argument or a condition. */
  makesStep?: true;
  ofFile?: true;
  /** Set if the result is a list. A template that consists only of this call renders to the list. */
  givesList?: true;
  run(values: readonly (Json | undefined)[]): HelperResult;
}

/** The map has no prototype, so that `toString` is not a helper. */
export const helpers: Readonly<Record<string, Helper>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Helper>, {
    slug: ofText('slug row.name', slug),
    upper: ofText('upper row.name', (text) => text.toUpperCase()),
    lower: ofText('lower row.name', (text) => text.toLowerCase()),
    title: ofText('title row.name', titleCase),
    trim: ofText('trim row.name', (text) => text.trim()),
    lookup: helper('lookup vars.cta matrix.locale', [2, 2], ([map, key]) => lookUp(map, key)),
    join: helper('join row.colors ", "', [1, 2], ([list, separator]) => joinList(list, separator)),
    default: helper(
      'default row.style "plain"',
      [2, 2],
      ([value, other]) => ({ value: isBlank(value) ? (other ?? null) : (value ?? null) }),
      true,
    ),
    json: helper('json row.facts', [1, 1], ([value]) => ({ value: canonicalJson(value ?? null) })),
    split: { ...helper('split row.refs', [1, 2], ([text, separator]) => splitText(text, separator)), givesList: true },
    truncate: helper('truncate row.text 80', [2, 2], ([value, count]) => truncate(value, count)),
    pad: helper('pad row.number 3', [2, 3], ([value, width, fill]) => pad(value, width, fill)),
    replace: helper('replace row.name "&" "and"', [3, 3], ([value, from, to]) => replace(value, from, to)),
    eq: helper('eq row.kind "lamp"', [2, 2], ([a, b]) => ({ value: isEqual(a, b) }), true),
    ne: helper('ne row.kind "lamp"', [2, 2], ([a, b]) => ({ value: !isEqual(a, b) }), true),
    and: helper('and row.name row.style', [2, 20], (values) => decide(values, (all) => !all.includes(false)), true),
    or: helper('or row.name row.style', [2, 20], (values) => decide(values, (all) => all.includes(true)), true),
    upload: {
      ...helper('upload "assets/logo.png"', [1, 1], () => ({ wrong: 'can only be used in `with`' })),
      makesStep: true,
      ofFile: true,
    },
    read: { ...helper('read row.path', [1, 1], () => ({ wrong: 'can only be used in `with`' })), ofFile: true },
    not: helper('not row.style', [1, 1], (values) => decide(values, ([value]) => value !== true), true),
  }),
);

/** Letters that Unicode does not decompose into a Latin letter and an accent. */
const latin: Readonly<Record<string, string>> = {
  ß: 'ss',
  ø: 'o',
  æ: 'ae',
  œ: 'oe',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
};

/**
 * Makes lower-case words joined by `-`. Removes accents. Keeps letters of all scripts. A text without letters and
 * digits becomes its code points, so that the result is never empty.
 */
export function slug(text: string): string {
  const words = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, (marks) => (/^[\u0300-\u036f]+$/.test(marks) ? '' : marks))
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[ßøæœłđðþı]/g, (letter) => latin[letter] ?? letter)
    .replaceAll(/['’]/g, '')
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '');
  if (words !== '') return words;
  return [...text].map((character) => (character.codePointAt(0) ?? 0).toString(16)).join('-');
}

function helper(usage: string, takes: readonly [number, number], run: Helper['run'], optional = false): Helper {
  return { usage: `{{${usage}}}`, takes, run, optional };
}

function ofText(usage: string, change: (text: string) => string): Helper {
  return helper(usage, [1, 1], ([value]) =>
    isScalar(value) ? { value: change(String(value)) } : { wrong: `needs text, but got ${describeValue(value)}` },
  );
}

function decide(values: readonly (Json | undefined)[], answer: (truths: readonly boolean[]) => boolean): HelperResult {
  const truths = values.map(holds);
  const odd = truths.indexOf(undefined);
  if (odd !== -1) return { wrong: `needs true or false, and got ${describeValue(values[odd])}` };
  return { value: answer(truths as boolean[]) };
}

function titleCase(text: string): string {
  return text.replaceAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}'’]*/gu, (word) => {
    const [first = '', ...rest] = [...word];
    return first.toUpperCase() + rest.join('');
  });
}

function lookUp(map: Json | undefined, key: Json | undefined): HelperResult {
  if (!isMap(map)) return { wrong: `needs a map, and got ${describeValue(map)}` };
  if (!isScalar(key)) return { wrong: `needs the name of a value in the map, and got ${describeValue(key)}` };
  const found = ownValue(map, String(key));
  if (found !== undefined) return { value: found };
  return {
    missing: `finds nothing for "${shorten(String(key))}"`,
    hint: suggestName(String(key), Object.keys(map), { what: 'the map has' }),
  };
}

function joinList(list: Json | undefined, separator: Json | undefined): HelperResult {
  if (!Array.isArray(list)) return { wrong: `needs a list, and got ${describeValue(list)}` };
  const odd = list.find((item) => !isScalar(item));
  if (odd !== undefined) return { wrong: `needs a list of strings and numbers, and found ${describeValue(odd)} in it` };
  if (separator !== undefined && !isScalar(separator)) return { wrong: 'needs a string between the items' };
  const between = String(separator ?? ', ');
  // As in `replace`, the length of the result is checked before the string is built.
  const length = list.reduce<number>((sum, item) => sum + String(item).length + between.length, 0);
  if (length > longestResult) return { wrong: `would give more than ${longestResult} characters` };
  return { value: list.join(between) };
}

function splitText(text: Json | undefined, separator: Json | undefined): HelperResult {
  if (Array.isArray(text)) return { value: text };
  if (text !== null && !isScalar(text)) return { wrong: `needs text, but got ${describeValue(text)}` };
  if (separator !== undefined && (!isScalar(separator) || separator === '')) {
    return { wrong: 'needs a string between the items' };
  }
  const parts = String(text ?? '').split(separator === undefined ? /[;,\n]/ : String(separator));
  return { value: parts.map((part) => part.trim()).filter((part) => part !== '') };
}

function truncate(value: Json | undefined, count: Json | undefined): HelperResult {
  if (!isScalar(value)) return { wrong: `needs text, but got ${describeValue(value)}` };
  const most = wholeNumber(count);
  if (most === undefined) return { wrong: `needs a number of characters, and got ${describeValue(count)}` };
  return { value: [...String(value)].slice(0, most).join('') };
}

function pad(value: Json | undefined, width: Json | undefined, fill: Json | undefined): HelperResult {
  if (!isScalar(value)) return { wrong: `needs a string or a number, and got ${describeValue(value)}` };
  const least = wholeNumber(width);
  if (least === undefined || least > 1000)
    return { wrong: `needs a width up to 1000, and got ${describeValue(width)}` };
  if (fill !== undefined && !isScalar(fill))
    return { wrong: `needs a character to fill with, and got ${describeValue(fill)}` };
  const padded = String(value).padStart(least, String(fill ?? '0'));
  // `padStart` counts UTF-16 units, so it could cut an emoji in half.
  if (/\p{Surrogate}/u.test(padded)) return { wrong: `would cut ${describeValue(fill)} in half` };
  return { value: padded };
}

const longestResult = 262_144;

function replace(value: Json | undefined, from: Json | undefined, to: Json | undefined): HelperResult {
  if (!isScalar(value) || !isScalar(from) || !isScalar(to)) return { wrong: 'needs three strings' };
  if (from === '') return { wrong: 'needs a text to search for, but got an empty string' };
  const parts = String(value).split(String(from));
  // The length of the result is checked before it is built, because a few nested calls could fill the memory.
  if (String(value).length + parts.length * String(to).length > longestResult) {
    return { wrong: `would give more than ${longestResult} characters` };
  }
  return { value: parts.join(String(to)) };
}

/** Compares values. 1 and "1" are equal, because data files contain strings where a template contains numbers. */
function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (isScalar(a) && isScalar(b)) return String(a) === String(b);
  return canonicalJson(a ?? null) === canonicalJson(b ?? null);
}

function isBlank(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '';
}

function wholeNumber(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^[0-9]{1,6}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : undefined;
}
