import type { PhoneName } from './phones.ts';

const onsets = ['M', 'N', 'L', 'W', 'Y'] as const;
const vowels = ['AA', 'EH', 'IY', 'AO', 'UW', 'AH', 'AX'] as const;
/** Most signs that nobody can say, and that are hummed. */
const mostHummed = 24;

/**
 * A voice that does not know the script still says something of the right length: a syllable for each sign of a script
 * such as Chinese, and one for each pair of letters of an alphabet.
 */
export function babble(text: string): PhoneName[][] {
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
export function hum(text: string): PhoneName[] {
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
