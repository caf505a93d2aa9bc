import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ReviewData } from '../../contract/review.ts';
import { loadSharp } from '../../disk/pictures/shrink-picture.ts';
import { jpegOptions } from '../thumbs/make-thumb.ts';
import { chooseColumns, type Metrics, planSheets, type SheetLimits } from './layout.ts';
import { markPicture, type SheetFormat } from './mark-picture.ts';
import { fitInto, isOfShippedScripts, SheetPainter } from './paint-sheet.ts';
import { listContents, type ReadSide, readSides, type SideReader, type Tile } from './tiles.ts';

export interface SheetOptions extends SideReader {
  format: SheetFormat;
  /** The longest side of a picture on the sheet, in pixels: 64 to 384. */
  size?: number | undefined;
  /** Tiles beside each other. Default: as many as make a sheet a little wider than high. */
  columns?: number | undefined;
  /** Most sheets; default 10. What is on none of them is counted in `left`. */
  sheets?: number | undefined;
}

export interface SheetsDrawn {
  sheets: number;
  tiles: number;
  /** Tiles that are on none of the sheets. */
  left: number;
  /** Captions with signs that the fonts of this package do not have: those of the system draw them, or boxes stand there. */
  otherScripts: string[];
}

/** Hundreds of tiles to a sheet: browsers and code hosts show it. */
const limits: Omit<SheetLimits, 'sheets'> = { side: 16_000, area: 24_000_000, tiles: 500 };
const defaultSize = 256;
export const mostSheets = 10;
/** Size of letters, in sizes of a picture. */
const letterShare = 0.051;
const fewestLetters = 11;
/** Height of a box for words, in sizes of a picture. */
const wordsShare = 0.42;

/**
 * Draws contact sheets of a campaign, or of what differs in a comparison. Each goes to `onSheet` before the next is drawn.
 * The same data and pictures make the same bytes where the same fonts are.
 */
export async function drawSheets(
  data: ReviewData,
  options: SheetOptions,
  onSheet: (bytes: Uint8Array, index: number, of: number) => Promise<void>,
): Promise<SheetsDrawn> {
  const { title, detail, sections } = listContents(data);
  const sides = data.report?.compare === undefined ? 1 : 2;
  const { size = defaultSize, columns = chooseColumns(sections, sides), sheets: wanted = mostSheets } = options;
  const letters = Math.max(fewestLetters, Math.round(size * letterShare));
  const metrics = metricsOf({ size, columns, sides, letters });
  const most: SheetLimits = { ...limits, sheets: wanted };
  const shown = await readSides(
    sections.flatMap((section) => section.tiles).slice(0, most.sheets * most.tiles),
    options,
  );
  const look = (tile: Tile) =>
    tile.sides.map((side): ReadSide => shown.get(side) ?? { words: side.words, isBad: side.isBad });
  const { width, sheets, left } = planSheets(sections, {
    metrics,
    limits: most,
    heightOf: (tile) => Math.max(...look(tile).map(({ picture }) => heightOf(picture, size))),
  });
  for (const [index, sheet] of sheets.entries()) {
    const painter = new SheetPainter({ metrics, letters, width, height: sheet.height });
    const place = sheets.length > 1 ? `sheet ${index + 1} of ${sheets.length}` : '';
    const more = left > 0 ? `${left} more are not shown` : '';
    painter.head(title, detail, [place, more].filter(Boolean).join(', '));
    for (const one of sheet.titles) painter.title(one);
    for (const { tile, ...at } of sheet.tiles) painter.tile(tile, { ...at, sides: look(tile) });
    await onSheet(await encodeSheet(painter.svg(), options.format), index, sheets.length);
  }
  const captions = sections.flatMap((section) => section.tiles.flatMap(({ caption }) => caption));
  return {
    sheets: sheets.length,
    tiles: sheets.reduce((sum, sheet) => sum + sheet.tiles.length, 0),
    left,
    otherScripts: captions.filter((text) => !isOfShippedScripts(text)),
  };
}

function metricsOf(given: Pick<Metrics, 'size' | 'columns' | 'sides'> & { letters: number }): Metrics {
  const { size, columns, sides, letters } = given;
  return {
    ...{ size, columns, sides },
    ...{ margin: letters * 2, gap: Math.round(letters * 1.3), seam: Math.round(letters / 3) },
    ...{ head: letters * 5, title: letters * 3, line: Math.round(letters * 1.4), label: Math.round(letters * 1.4) },
  };
}

/** Returns the height of a picture, or, where there is none, of a box for words. */
function heightOf(picture: ReadSide['picture'], size: number): number {
  return picture === undefined ? Math.round(size * wordsShare) : fitInto(picture, size).height;
}

/** Settings of fonts: beside the built code or, run from sources, in what was built last. Windows always has fonts. */
const fontSettings = ['fonts/fonts.conf', '../../../dist/review/sheet/fonts/fonts.conf']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync);

/** Draws the SVG of a sheet, with the fonts of this package before those of the system. */
export async function encodeSheet(svg: string, format: SheetFormat): Promise<Uint8Array> {
  // Read once in a process, when the first letter is drawn: nothing else here draws letters.
  if (fontSettings !== undefined && process.platform !== 'win32') process.env.FONTCONFIG_FILE ??= fontSettings;
  process.env.PANGOCAIRO_BACKEND ??= 'fontconfig';
  const sharp = await loadSharp();
  const picture = sharp(Buffer.from(svg), { unlimited: true }).flatten();
  const bytes = await (format === 'png' ? picture.png() : picture.jpeg(jpegOptions)).toBuffer();
  return markPicture(format, bytes);
}
