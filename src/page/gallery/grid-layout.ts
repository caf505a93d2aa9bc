import type { ReviewAsset } from '../../contract/review.ts';

export interface Section {
  name: string;
  assets: readonly ReviewAsset[];
}

/** One line of the grid: the head of a section, or some of its assets. */
export type GridLine = { is: 'head'; section: Section } | { is: 'assets'; section: Section; assets: ReviewAsset[] };

/**
 * Divides assets into sections, in order of appearance. Assets without a row key, or without a value on the axis, make
 * a section of their own.
 *
 * @param by empty: sections by task; `key`: by row key; `axis:NAME`: by the values of this axis
 */
export function divide(assets: readonly ReviewAsset[], by: string): Section[] {
  const sections = new Map<string, ReviewAsset[]>();
  for (const asset of assets) {
    const name = sectionOf(asset, by);
    const own = sections.get(name);
    if (own === undefined) sections.set(name, [asset]);
    else own.push(asset);
  }
  return [...sections].map(([name, own]) => ({ name, assets: own }));
}

function sectionOf({ task, key, matrix }: ReviewAsset, by: string): string {
  if (by === 'key') return key ?? 'no key';
  if (!by.startsWith('axis:')) return task;
  const axis = by.slice('axis:'.length);
  return matrix[axis] ?? `no ${axis}`;
}

export function layLines(sections: readonly Section[], columns: number): GridLine[] {
  return sections.flatMap((section) => {
    const lines: GridLine[] = [{ is: 'head', section }];
    for (let from = 0; from < section.assets.length; from += columns) {
      lines.push({ is: 'assets', section, assets: section.assets.slice(from, from + columns) });
    }
    return lines;
  });
}

export interface GridSizes {
  columns: number;
  /** Width of a card and height of a line, in CSS pixels. */
  card: number;
  line: number;
}

/** Gap between cards in CSS pixels, and number of extra lines rendered at each end, as in `useRows`. */
export const gap = 8;
export const overscan = 1;
/** Maximum number of rendered cards; with more, scrolling is not smooth. */
export const mostCards = 120;
/** Frame of a picture in a card, in CSS pixels. */
const around = { beneath: 42, beside: 14 };

/** Returns as many columns as fit, limited so that at most `mostCards` cards are rendered. */
export function sizeGrid({ width, height }: { width: number; height: number }): GridSizes {
  const narrowest = width < 560 ? 136 : 176;
  for (let columns = Math.max(1, Math.floor((width + gap) / (narrowest + gap))); ; columns -= 1) {
    const card = (width - gap * (columns - 1)) / columns;
    const line = Math.round(Math.max(0, card - around.beside) * 0.75) + around.beneath + gap;
    const seen = Math.ceil(height / line) + 1;
    if (columns === 1 || columns * (seen + 2 * overscan) <= mostCards) return { columns, card, line };
  }
}
