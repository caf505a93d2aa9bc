import type { PhoneName } from './phones.ts';

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
export function spellOut(word: string): PhoneName[] {
  return [...word].flatMap((letter) => names[letter] ?? []);
}
