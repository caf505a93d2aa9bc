/** A stretch of a text; `differs`: other texts do not have it there. */
export interface Stretch {
  text: string;
  differs: boolean;
}

/** More than that is compared as a whole: the comparison takes time with the square. */
const mostWords = 800;
/** So many others show in which words a text differs; a group may have hundreds. */
const mostOthers = 20;

/** `text` in stretches, by words: what `others` have too, and what at least one of them does not. */
export function markWords(text: string, others: readonly string[]): Stretch[] {
  const words = text.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
  const differs = words.map(() => false);
  for (const other of [...new Set(others)].slice(0, mostOthers)) {
    const theirs = other.match(/\s+|[\p{L}\p{N}]+|[^\s\p{L}\p{N}]/gu) ?? [];
    const shared = sharedWords(words, theirs);
    words.forEach((_, index) => {
      if (!shared.has(index)) differs[index] = true;
    });
  }
  return joinStretches(words.map((word, index) => ({ text: word, differs: differs[index] === true })));
}

/** Indexes of `words` that are part of the longest common subsequence with `others`. */
function sharedWords(words: readonly string[], others: readonly string[]): Set<number> {
  const start = words.findIndex((word, index) => word !== others[index]);
  const same = start < 0 ? words.length : start;
  const longest = Math.min(words.length, others.length) - same;
  let tail = 0;
  while (tail < longest && words.at(-1 - tail) === others.at(-1 - tail)) tail += 1;
  const shared = new Set<number>();
  for (let index = 0; index < same; index += 1) shared.add(index);
  for (let index = words.length - tail; index < words.length; index += 1) shared.add(index);
  const [mine, theirs] = [words.slice(same, words.length - tail), others.slice(same, others.length - tail)];
  if (mine.length > mostWords || theirs.length > mostWords) return shared;
  for (const index of commonSubsequence(mine, theirs)) shared.add(same + index);
  return shared;
}

function commonSubsequence(mine: readonly string[], theirs: readonly string[]): number[] {
  const columns = theirs.length + 1;
  /** Length of the longest one of `mine` from row on and `theirs` from column on. */
  const lengths = new Uint16Array((mine.length + 1) * columns);
  const at = (row: number, column: number) => lengths[row * columns + column] ?? 0;
  for (let row = mine.length - 1; row >= 0; row -= 1) {
    for (let column = theirs.length - 1; column >= 0; column -= 1) {
      lengths[row * columns + column] =
        mine[row] === theirs[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const found: number[] = [];
  for (let row = 0, column = 0; row < mine.length && column < theirs.length; ) {
    if (mine[row] === theirs[column]) {
      found.push(row);
      row += 1;
      column += 1;
    } else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
  return found;
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
