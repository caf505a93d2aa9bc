import { splitGraphemes } from '../../../report/text-width.ts';

/** Part of a text that is set in one font and one direction. */
export interface Run {
  /** In UTF-16 units of the text. */
  from: number;
  to: number;
  /** -1: none. */
  font: number;
  isRightToLeft: boolean;
}

/** Levels of the bidirectional algorithm, one for each UTF-16 unit; odd ones lead from right to left. */
export type Order = (text: string) => ArrayLike<number>;

/** Parts of an address, and what stands between marks on a line. */
const words = /[^@,·|()“”]+/gu;
const rightToLeft = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}]/u;

/** Makes each part of an address a whole of its own: else numbers after Arabic letters would stand before them. */
export function isolateWords(text: string): string {
  return text.replace(words, (word) => (rightToLeft.test(word) ? `\u2068${word}\u2069` : word));
}

/** The runs of a line, as they stand from left to right. `fontOf`: told the font of what is before. */
export function orderRuns(
  text: string,
  { order, fontOf }: { order: Order; fontOf: (grapheme: string, before: number) => number },
): Run[] {
  const levels = order(text);
  const runs: (Run & { level: number })[] = [];
  let from = 0;
  for (const grapheme of splitGraphemes(text)) {
    const to = from + grapheme.length;
    const level = levels[from] ?? 0;
    const last = runs.at(-1);
    const font = fontOf(grapheme, last?.font ?? 0);
    if (last?.level === level && last.font === font) last.to = to;
    else runs.push({ from, to, font, isRightToLeft: level % 2 === 1, level });
    from = to;
  }
  return reorder(runs);
}

/** From the highest level to the lowest odd one, what stands together at a level or above changes sides. */
function reorder<T extends { level: number }>(runs: readonly T[]): T[] {
  let ordered = [...runs];
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level -= 1) {
    const next: T[] = [];
    let open: T[] = [];
    for (const run of ordered) {
      if (run.level >= level) open.push(run);
      else {
        next.push(...open.reverse(), run);
        open = [];
      }
    }
    ordered = [...next, ...open.reverse()];
  }
  return ordered;
}
