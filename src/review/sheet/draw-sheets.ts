import type { ReviewData } from '../../contract/review.ts';
import { decodePicture, encodeJpeg, encodePng } from '../thumbs/codecs.ts';
import { shrink } from '../thumbs/shrink.ts';
import { chooseColumns, type Metrics, planSheets, type SheetLimits } from './layout.ts';
import { markPicture, type SheetFormat } from './mark-picture.ts';
import { type OpenSide, SheetPainter } from './paint-sheet.ts';
import { type ReadSide, readSides, type SideReader, type SmallPicture } from './read-sides.ts';
import { Typesetter } from './text/typesetter.ts';
import { listContents, type Tile } from './tiles.ts';

export interface SheetOptions extends SideReader {
  format: SheetFormat;
  /** The longest side of a picture on the sheet, in pixels: 64 to 384. */
  size?: number | undefined;
  /** Tiles beside each other. Default: as many as make a sheet a little wider than high. */
  columns?: number | undefined;
  /** At most so many; default 10. What is on none of them is counted in `left`. */
  sheets?: number | undefined;
}

export interface SheetsDrawn {
  sheets: number;
  tiles: number;
  /** Tiles that are on none of the sheets. */
  left: number;
  /** Captions with signs that no font of this package or system has: boxes stand in their place. */
  undrawn: string[];
}

/** Hundreds of tiles to a sheet: browsers and code hosts show it, and an encoder has it in some 400 MB of memory. */
const limits: Omit<SheetLimits, 'sheets'> = { side: 16_000, area: 24_000_000, tiles: 500 };
const defaultSize = 256;
export const mostSheets = 10;
/** Of letters, in sizes of a picture. */
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
    heightOf: (tile) => Math.max(...look(tile).map(({ picture }) => fitInto(picture, size).height)),
  });
  const textsOf = (tile: Tile) => [...tile.caption, ...look(tile).flatMap(({ words, label = '' }) => [words, label])];
  const texts = sections.flatMap((section) => [section.title, section.detail, ...section.tiles.flatMap(textsOf)]);
  const setter = await Typesetter.open([title, detail, 'sheet 0123456789, more', ...texts]);
  for (const [index, sheet] of sheets.entries()) {
    const painter = new SheetPainter(setter, { metrics, letters, width, height: sheet.height });
    const place = sheets.length > 1 ? `sheet ${index + 1} of ${sheets.length}` : '';
    const more = left > 0 ? `${left} more are not shown` : '';
    await painter.head(title, detail, [place, more].filter(Boolean).join(', '));
    for (const one of sheet.titles) await painter.title(one);
    for (const { tile, ...at } of sheet.tiles) {
      await painter.tile(tile, { ...at, sides: await Promise.all(look(tile).map((side) => open(side, size))) });
    }
    const encode = options.format === 'png' ? encodePng : encodeJpeg;
    const bytes = await encode(painter.canvas);
    await onSheet(markPicture(options.format, bytes), index, sheets.length);
  }
  const captions = sections.flatMap((section) => section.tiles.flatMap(({ caption }) => caption));
  return {
    sheets: sheets.length,
    tiles: sheets.reduce((sum, sheet) => sum + sheet.tiles.length, 0),
    left,
    undrawn: captions.filter((text) => setter.isShort(text)),
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

/** As large as a picture can be drawn; where there is none, a box for words. */
function fitInto(picture: SmallPicture | undefined, size: number): { width: number; height: number } {
  if (picture === undefined) return { width: size, height: Math.round(size * wordsShare) };
  const scale = Math.min(1, size / Math.max(picture.width, picture.height));
  return { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) };
}

/** With its pixels, which are many: only those of one tile at a time. */
async function open({ picture, ...side }: ReadSide, size: number): Promise<OpenSide> {
  if (picture === undefined) return side;
  const pixels = await decodePicture('jpeg', new Uint8Array(picture.jpeg).buffer);
  return { ...side, pixels: shrink(pixels, size) };
}
