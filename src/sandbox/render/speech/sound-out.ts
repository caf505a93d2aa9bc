import { knownWords, letterRules } from './letter-rules.ts';
import { isPhoneName, type PhoneName } from './phones.ts';

interface Rule {
  readonly letters: string;
  readonly before: RegExp | undefined;
  readonly after: RegExp | undefined;
  readonly phones: readonly PhoneName[];
}

const vowel = '[aeiouy]';
const consonant = '[bcdfghjklmnpqrstvwxz]';
const classes: Readonly<Record<string, string>> = {
  '#': `${vowel}+`,
  ':': `${consonant}*`,
  '^': consonant,
  '.': '[bdgjlmnrvwz]',
  '%': '(?:er|es|ed|ing|ely|e)(?![a-z])',
  '&': '(?:ch|sh|[scgzxj])',
  '@': '(?:th|ch|sh|[tsrdlznj])',
  '+': '[eiy]',
};

let rules: ReadonlyMap<string, readonly Rule[]> | undefined;
let words: ReadonlyMap<string, readonly PhoneName[]> | undefined;

/** The phones of one English word, in small letters from a to z. */
export function soundOut(word: string): PhoneName[] {
  words ??= new Map(
    splitEntries(knownWords).map((entry) => {
      const [name = '', phones = ''] = entry.split('=');
      return [name, readPhones(phones)];
    }),
  );
  rules ??= new Map(
    Object.entries(letterRules).map(([letter, text]) => [letter, splitEntries(text).map((rule) => readRule(rule))]),
  );
  const known = words.get(word);
  if (known !== undefined) return [...known];
  const phones: PhoneName[] = [];
  for (let at = 0; at < word.length; ) {
    const rule = rules.get(word.charAt(at))?.find((candidate) => fits(candidate, word, at));
    phones.push(...(rule?.phones ?? []));
    at += rule?.letters.length ?? 1;
  }
  // The rules give "ted" and the like twice the vowel, and double letters twice the consonant.
  return phones.filter((phone, index) => phone !== phones[index - 1]);
}

function fits(rule: Rule, word: string, at: number): boolean {
  if (!word.startsWith(rule.letters, at)) return false;
  if (rule.before !== undefined && !rule.before.test(word.slice(0, at))) return false;
  return rule.after === undefined || rule.after.test(word.slice(at + rule.letters.length));
}

function splitEntries(text: string): string[] {
  return text
    .split(';')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readRule(text: string): Rule {
  const [, left, letters, right, phones] = /^(.*)\[(.+)\](.*)=(.*)$/.exec(text) ?? [];
  if (left === undefined || letters === undefined || right === undefined || phones === undefined)
    throw new Error(`internal error: a rule of speech that cannot be read: ${text}`);
  const pattern = (context: string, boundary: string) =>
    [...context].map((sign) => (sign === '_' ? boundary : (classes[sign] ?? sign))).join('');
  return {
    letters,
    before: left === '' ? undefined : new RegExp(`(?:${pattern(left, '^')})$`),
    after: right === '' ? undefined : new RegExp(`^(?:${pattern(right, '$')})`),
    phones: readPhones(phones),
  };
}

function readPhones(text: string): PhoneName[] {
  return text
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => {
      if (!isPhoneName(name)) throw new Error(`internal error: a phone that does not exist: ${name}`);
      return name;
    });
}
