import { readFile } from 'node:fs/promises';
import { type Font, readFont } from './font.ts';

let font: Font | undefined;

/** The bundled font, read once. */
export async function loadFont(): Promise<Font> {
  font ??= readFont(await readFile(new URL('../assets/sandbox-sans.ttf', import.meta.url)));
  return font;
}
