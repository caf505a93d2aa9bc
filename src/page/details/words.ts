import { pairCommon } from '../../ground/common-words.ts';

/** A stretch of a text; `differs`: other texts do not have it there. */
export interface Stretch {
  text: string;
  differs: boolean;
}

/** Cells of a comparison that takes no time to speak of. More than that is compared as a whole. */
const mostCells = 640_000;
/** Most others that show in which words a text differs; a group may have hundreds. */
const mostOthers = 20;

/** `text` in stretches, by words: what `others` have too, and what at least one of them does not. */
export function markWords(text: string, others: readonly string[]): Stretch[] {
  const words = text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
  const differs = words.map(() => false);
  for (const other of [...new Set(others)].slice(0, mostOthers)) {
    const theirs = other.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
    const shared = new Set(pairCommon(words, theirs, mostCells).map(([index]) => index));
    words.forEach((_, index) => {
      if (!shared.has(index)) differs[index] = true;
    });
  }
  return joinStretches(words.map((word, index) => ({ text: word, differs: differs[index] === true })));
}

/** Neighbours of one sort become one; a space between two that differ belongs to them. */
function joinStretches(stretches: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = [];
  stretches.forEach((stretch, index) => {
    const isBetween = stretch.text.trim() === '' && stretches[index - 1]?.differs && stretches[index + 1]?.differs;
    const differs = isBetween === true || (stretch.differs && stretch.text.trim() !== '');
    const last = joined.at(-1);
    if (last?.differs === differs) last.text += stretch.text;
    else joined.push({ text: stretch.text, differs });
  });
  return joined;
}
