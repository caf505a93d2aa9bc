/**
 * Returns pairs of positions of a longest common subsequence, in order. A common start and end of both lists is always
 * found; a middle of more than `mostCells` cells (words of one list times words of the other) is not compared, because
 * the time grows with it.
 */
export function pairCommon(
  one: readonly string[],
  other: readonly string[],
  mostCells: number,
): (readonly [number, number])[] {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  const most = Math.min(one.length, other.length) - start;
  let end = 0;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [rows, columns] = [one.length - end, other.length - end];
  const pairs = Array.from({ length: start }, (_, index) => [index, index] as const);
  if ((rows - start) * (columns - start) <= mostCells) {
    pairs.push(...pairMiddle(one.slice(0, rows), other.slice(0, columns), start));
  }
  for (let index = 0; index < end; index += 1) pairs.push([rows + index, columns + index]);
  return pairs;
}

function* pairMiddle(one: readonly string[], other: readonly string[], start: number): Generator<[number, number]> {
  const width = other.length + 1;
  /** Length of the longest subsequence of `one` from a row on and `other` from a column on. */
  const longest = new Uint32Array((one.length + 1 - start) * width);
  const at = (row: number, column: number) => longest[(row - start) * width + column] ?? 0;
  for (let row = one.length - 1; row >= start; row -= 1) {
    for (let column = other.length - 1; column >= start; column -= 1) {
      longest[(row - start) * width + column] =
        one[row] === other[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  for (let [row, column] = [start, start]; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) yield [row++, column++];
    else if (at(row + 1, column) >= at(row, column + 1)) row += 1;
    else column += 1;
  }
}
