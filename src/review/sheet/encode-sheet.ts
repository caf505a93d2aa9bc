import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { jpegOptions } from '../thumbs/make-thumb.ts';
import { markPicture, type SheetFormat } from './mark-picture.ts';

/** Settings of fonts: beside the built code or, run from sources, in what was built last. Windows always has fonts. */
const fontSettings = ['fonts/fonts.conf', '../../../dist/review/sheet/fonts/fonts.conf']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync);

/** Draws the SVG of a sheet, with the fonts of this package before those of the system. */
export async function encodeSheet(svg: string, format: SheetFormat): Promise<Uint8Array> {
  // Read once in a process, when the first letter is drawn: nothing else here draws letters.
  if (fontSettings !== undefined && process.platform !== 'win32') process.env.FONTCONFIG_FILE ??= fontSettings;
  process.env.PANGOCAIRO_BACKEND ??= 'fontconfig';
  const { default: sharp } = await import('sharp');
  const picture = sharp(Buffer.from(svg), { unlimited: true }).flatten();
  const bytes = await (format === 'png' ? picture.png() : picture.jpeg(jpegOptions)).toBuffer();
  return markPicture(format, bytes);
}
