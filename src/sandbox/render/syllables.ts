/** Letters that are sung on one note. */
export interface Syllable {
  readonly vowel: Vowel;
  readonly lastOfLine: boolean;
}

export type Vowel = 'a' | 'e' | 'i' | 'o' | 'u';

const vowels: readonly Vowel[] = ['a', 'e', 'i', 'o', 'u'];

/**
 * The syllables of lyrics, one for each group of vowels. Section marks such as `[Chorus]` are not sung. A letter of a
 * script without vowels of its own counts as a syllable.
 */
export function readSyllables(lyrics: string): Syllable[] {
  const syllables: Syllable[] = [];
  for (const line of lyrics.replaceAll(/\[[^\]]*\]/g, '').split(/[\n.;!?]+/)) {
    const plain = line.normalize('NFD').toLowerCase();
    const sung = plain.match(/[aeiouyäöüаеёиоуыэюяαεηιουω]+|[\p{Lo}]/gu) ?? [];
    for (const [index, sound] of sung.entries()) {
      syllables.push({ vowel: vowelOf(sound), lastOfLine: index === sung.length - 1 });
    }
  }
  return syllables;
}

function vowelOf(sound: string): Vowel {
  const first = sound.charAt(0);
  const found = vowels.find((vowel) => vowel === first);
  return found ?? vowels[(sound.codePointAt(0) ?? 0) % vowels.length] ?? 'a';
}
