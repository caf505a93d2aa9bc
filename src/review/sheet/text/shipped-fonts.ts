import { readFile } from 'node:fs/promises';
import { unwrapWoff } from './unwrap-woff.ts';

/** Parts of Noto Sans by script, the commonest first; `schemas/copy-assets.mjs` puts them here. */
const names = [
  'noto-sans-latin',
  'noto-sans-latin-ext',
  'noto-sans-cyrillic',
  'noto-sans-greek',
  'noto-sans-cyrillic-ext',
  'noto-sans-greek-ext',
  'noto-sans-vietnamese',
  'noto-sans-arabic-arabic',
  'noto-sans-hebrew-hebrew',
  'noto-sans-devanagari',
  'noto-sans-thai-thai',
];

/** Beside the built code; where this is run from its sources, in what was built last. */
const folders = ['../fonts/', '../../../../dist/review/sheet/fonts/'].map((folder) => new URL(folder, import.meta.url));

/** Fonts that come with this package, as OpenType. */
export async function* shippedFonts(): AsyncGenerator<Uint8Array> {
  for (const name of names) yield unwrapWoff(await readFont(`${name}-400-normal.woff`));
}

async function readFont(name: string): Promise<Uint8Array> {
  const [built, source] = folders as [URL, URL];
  return readFile(new URL(name, built)).catch(() => readFile(new URL(name, source)));
}
