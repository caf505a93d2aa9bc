import { type Accent, applyAccent } from './accents.ts';
import type { PhoneName } from './phones.ts';
import { sayNumber } from './say-number.ts';
import { soundOut } from './sound-out.ts';
import { spellOut } from './spell-out.ts';
import { babble, hum } from './unread.ts';

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
