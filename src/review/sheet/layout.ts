import type { Section, Tile } from './tiles.ts';

/** Pixels, but for counts. */
export interface Metrics {
  /** The longest that a side of a picture can be. */
  size: number;
  /** 2 in a comparison. */
  sides: number;
  columns: number;
  margin: number;
  gap: number;
  /** Gap between two sides of a tile. */
  seam: number;
  /** Height of the head of a sheet, of a section's title, of a line of a caption, and of a label above a side. */
  head: number;
  title: number;
  line: number;
  label: number;
}

export interface SheetLimits {
  /** Pixels of a side, and of a whole sheet. */
  side: number;
  area: number;
  tiles: number;
  sheets: number;
}

/** Places of everything on a sheet, from its top. */
export interface SheetPlan {
  height: number;
  titles: { section: Section; isContinued: boolean; y: number }[];
  tiles: { tile: Tile; x: number; y: number; height: number }[];
}

const mostColumns = 12;
/** Fewest pictures side by side that leave room for the words above them. */
const fewestSides = 3;

/** Columns for a sheet that is a little wider than high; what belongs together stays in a row. */
export function chooseColumns(sections: readonly Section[], sides: number): number {
  const tiles = sections.reduce((sum, section) => sum + section.tiles.length, 0);
  const most = Math.max(1, Math.floor(mostColumns / sides));
  const fewest = Math.ceil(fewestSides / sides);
  const fair = Math.max(fewest, Math.min(most, Math.ceil(Math.sqrt((tiles * 1.5) / sides))));
  const together = Math.max(1, ...sections.map((section) => section.together));
  if (together === 1 || together > most) return fair;
  return Math.min(Math.ceil(fair / together), Math.floor(most / together)) * together;
}

export function widthOf({ size, sides, seam }: Pick<Metrics, 'size' | 'sides' | 'seam'>): number {
  return size * sides + seam * (sides - 1);
}

/** `heightOf`: of the highest picture of a tile. What the limits leave out is counted. */
export function planSheets(
  sections: readonly Section[],
  { metrics, limits, heightOf }: { metrics: Metrics; limits: SheetLimits; heightOf: (tile: Tile) => number },
): { width: number; sheets: SheetPlan[]; left: number } {
  const { columns, margin, gap, head, title, line, label, sides } = metrics;
  const step = widthOf(metrics) + gap;
  const width = margin * 2 + columns * step - gap;
  const mostHeight = Math.min(limits.side, Math.floor(limits.area / width));
  const newSheet = (): SheetPlan => ({ height: margin + head, titles: [], tiles: [] });
  const sheets = [newSheet()];
  let left = 0;
  for (const section of sections) {
    const inRow = section.together <= columns ? Math.floor(columns / section.together) * section.together : columns;
    for (let from = 0; from < section.tiles.length; from += inRow) {
      const row = section.tiles.slice(from, from + inRow);
      const high = Math.max(...row.map(heightOf)) + (sides > 1 ? label : 0);
      const lines = Math.max(...row.map(({ caption }) => caption.length));
      const own = high + lines * line + gap;
      let sheet = sheets.at(-1) ?? newSheet();
      const isFull = () =>
        sheet.tiles.length > 0 &&
        (sheet.height + own + title + margin > mostHeight || sheet.tiles.length + row.length > limits.tiles);
      if (left > 0 || (isFull() && sheets.length >= limits.sheets)) {
        left += row.length;
        continue;
      }
      if (isFull()) {
        sheet = newSheet();
        sheets.push(sheet);
      }
      if (from === 0 || sheet.tiles.length === 0) {
        sheet.titles.push({ section, isContinued: from > 0, y: sheet.height });
        sheet.height += title;
      }
      for (const [index, tile] of row.entries()) {
        sheet.tiles.push({ tile, x: margin + index * step, y: sheet.height, height: high });
      }
      sheet.height += own;
    }
  }
  for (const sheet of sheets) sheet.height += margin - (sheet.tiles.length > 0 ? gap : 0);
  return { width, sheets, left };
}
