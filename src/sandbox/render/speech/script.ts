import type { PhoneName } from './phones.ts';
import { soundOut } from './sound-out.ts';
import { type Accent, applyAccent } from './speakers.ts';

const groups = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
] as const;

export interface Word {
  readonly phones: readonly PhoneName[];
  readonly stressed: boolean;
}

/** Words said in one breath. */
export interface Phrase {
  readonly words: readonly Word[];
  /** How the voice goes at the end. */
  readonly ending: 'fall' | 'rise' | 'hold';
  readonly pauseMs: number;
}

/** More words than are said in one breath, where the text has no sign. */
const longestPhrase = 14;
const weakWords = new Set(
  `a am an and are as at be been but by can could did do for from had has have he her his i if in is it its me my of on or
  our she should so than that the their them then they this to us was we were will with would you your`.split(/\s+/),
);
const signs: Readonly<Record<string, string>> = {
  '%': 'percent',
  '&': 'and',
  '+': 'plus',
  '=': 'equals',
  '@': 'at',
  $: 'dollars',
  '€': 'euros',
  '£': 'pounds',
};
const letters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'th',
  þ: 'th',
  ł: 'l',
  ı: 'i',
};
const tokens = new RegExp(
  [
    String.raw`(?<number>\d+(?:[.,]\d+)*)`,
    String.raw`(?<latin>\p{Script=Latin}[\p{Script=Latin}\p{Mn}'’]*)`,
    String.raw`(?<other>(?:(?!\p{Script=Latin})[\p{L}\p{Mn}\p{Mc}])+)`,
    String.raw`(?<stop>[.!?…。！？।]+|\n+)`,
    '(?<comma>[,;:–—、，；：])',
    '(?<sign>[%&+=@$€£])',
  ].join('|'),
  'gu',
);

/** The phrases of a text, read as English; at least one. Other scripts become syllables without sense. */
export function readScript(text: string, accent: Accent): Phrase[] {
  const plain = text.normalize('NFKC');
  const shouts = !/\p{Ll}/u.test(plain);
  const phrases: Phrase[] = [];
  let words: Word[] = [];
  const endPhrase = (ending: Phrase['ending'], pauseMs: number) => {
    if (words.length > 0) phrases.push({ words, ending, pauseMs });
    words = [];
  };
  const addWord = (phones: readonly PhoneName[], stressed: boolean) => {
    if (phones.length === 0) return;
    if (words.length >= longestPhrase) endPhrase('hold', 120);
    words.push({ phones: applyAccent(phones, accent), stressed });
  };
  for (const { groups = {} } of plain.matchAll(tokens)) {
    const { number, latin, other, stop, comma, sign } = groups;
    if (number !== undefined) for (const word of sayNumber(number)) addWord(soundOut(word), true);
    else if (latin !== undefined) addWord(...readLatin(latin, shouts));
    else if (other !== undefined) for (const syllables of babble(other)) addWord(syllables, true);
    else if (sign !== undefined) addWord(soundOut(signs[sign] ?? ''), false);
    else if (comma !== undefined) endPhrase('hold', 180);
    else if (stop !== undefined) endPhrase(stop.startsWith('?') || stop.startsWith('？') ? 'rise' : 'fall', 380);
  }
  endPhrase('fall', 250);
  if (phrases.length === 0) addWord(hum(plain), false);
  endPhrase('fall', 250);
  return phrases;
}

function readLatin(text: string, shouts: boolean): [phones: PhoneName[], stressed: boolean] {
  const word = text
    // At the end of a word an e without its accent would be silent.
    .replace(/[éê](?=s?$)/iu, 'ay')
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[ßæœøđðþłı]/g, (letter) => letters[letter] ?? '')
    .replaceAll(/[^a-z]/g, '');
  const short = /^\p{Lu}{2,3}$/u.test(text) && !shouts && !weakWords.has(word);
  const unsayable = /^[^aeiouy]{1,4}$/.test(word);
  if (short || unsayable) return [spellOut(word), true];
  return [soundOut(word), !weakWords.has(word)];
}

const small = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** The words for digits such as `1200`, `1,200` or `3.5`. Very long numbers are read digit by digit. */
function sayNumber(text: string): string[] {
  const [whole = '', fraction = ''] = text.replaceAll(/,(?=\d{3}(?!\d))/g, '').split(/[.,]/);
  const isPlain = /^(0|[1-9]\d{0,11})$/.test(whole);
  const words = isPlain ? (readYear(text) ?? sayWhole(Number(whole))) : sayDigits(whole);
  return fraction === '' ? words : [...words, 'point', ...sayDigits(fraction)];
}

/** As years are said: nineteen ninety. A number with a comma in it is none. */
function readYear(text: string): string[] | undefined {
  const value = /^\d{4}$/.test(text) ? Number(text) : 0;
  if (value < 1100 || value >= 2000 || value % 100 < 10) return undefined;
  return [...sayWhole(Math.floor(value / 100)), ...sayWhole(value % 100)];
}

function sayWhole(value: number): string[] {
  if (value < 20) return [small[value] ?? ''];
  if (value < 100) return [tens[Math.floor(value / 10)] ?? '', ...sayRest(value % 10)];
  const [size, name] = groups.find(([least]) => value >= least) ?? [100, 'hundred'];
  return [...sayWhole(Math.floor(value / size)), name, ...sayRest(value % size)];
}

function sayRest(value: number): string[] {
  return value === 0 ? [] : sayWhole(value);
}

function sayDigits(digits: string): string[] {
  return [...digits].map((digit) => small[Number(digit)] ?? '');
}

const names: Readonly<Record<string, readonly PhoneName[]>> = {
  a: ['EY'],
  b: ['B', 'IY'],
  c: ['S', 'IY'],
  d: ['D', 'IY'],
  e: ['IY'],
  f: ['EH', 'F'],
  g: ['JH', 'IY'],
  h: ['EY', 'CH'],
  i: ['AY'],
  j: ['JH', 'EY'],
  k: ['K', 'EY'],
  l: ['EH', 'L'],
  m: ['EH', 'M'],
  n: ['EH', 'N'],
  o: ['OW'],
  p: ['P', 'IY'],
  q: ['K', 'Y', 'UW'],
  r: ['AA', 'R'],
  s: ['EH', 'S'],
  t: ['T', 'IY'],
  u: ['Y', 'UW'],
  v: ['V', 'IY'],
  w: ['D', 'AH', 'B', 'AX', 'L', 'Y', 'UW'],
  x: ['EH', 'K', 'S'],
  y: ['W', 'AY'],
  z: ['Z', 'IY'],
};

/** The names of the letters from a to z, one after the other. */
function spellOut(word: string): PhoneName[] {
  return [...word].flatMap((letter) => names[letter] ?? []);
}

const onsets = ['M', 'N', 'L', 'W', 'Y'] as const;
const vowels = ['AA', 'EH', 'IY', 'AO', 'UW', 'AH', 'AX'] as const;
/** Most signs that nobody can say, and that are hummed. */
const mostHummed = 24;

/**
 * A voice that does not know the script still says something of the right length: a syllable for each sign of a script
 * such as Chinese, and one for each pair of letters of an alphabet.
 */
function babble(text: string): PhoneName[][] {
  const signs = [...text].filter((sign) => !/\p{M}/u.test(sign));
  const isAlphabet = /[\p{Ll}\p{Lu}]/u.test(text);
  if (!isAlphabet) return signs.map((sign) => makeSyllable(sign, sign));
  const phones: PhoneName[] = [];
  for (let index = 0; index < signs.length; index += 2) {
    phones.push(...makeSyllable(signs[index] ?? '', signs[index + 1] ?? ''));
  }
  return [phones];
}

/** For a text without a letter: a hum that grows with its length. */
function hum(text: string): PhoneName[] {
  const count = Math.min(mostHummed, Math.max(3, [...text].length));
  return Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 'M' : 'AX'));
}

function makeSyllable(first: string, second: string): PhoneName[] {
  const onset = onsets[codeOf(first) % onsets.length] ?? 'M';
  // Divided, so that the two do not go together when they come from one sign.
  const vowel = vowels[Math.floor(codeOf(second) / onsets.length) % vowels.length] ?? 'AX';
  return [onset, vowel];
}

function codeOf(sign: string): number {
  return sign.codePointAt(0) ?? 0;
}
