import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ReviewData } from '../../../src/contract/review.ts';
import { root } from '../command.ts';
import { drawPng, silentWav } from './png.ts';

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'";

/** Writes a gallery as a folder for a browser on this disk, and returns the URL of its page. Pictures repeat after 64. */
export function writeGallery(folder: string, data: ReviewData): string {
  for (const name of ['gallery.js', 'gallery.css', 'icon.svg'])
    cpSync(join(root, 'dist/page', name), join(folder, name));
  for (const kind of ['media', 'thumb']) {
    mkdirSync(join(folder, kind));
    for (let number = 0; number < 64; number += 1) {
      const size = kind === 'thumb' ? 192 : 512;
      writeFileSync(join(folder, kind, `${number}.png`), drawPng(size, size * 0.75, (number * 37) % 256));
    }
  }
  writeFileSync(join(folder, 'media', 'sound.wav'), silentWav(3));
  const json = JSON.stringify(data)
    .replaceAll('<', '\\u003c')
    .replace(/"(media|thumb)\/(\d+)"/g, (_, kind, number) => `"${kind}/${Number(number) % 64}.png"`)
    .replace(/("is":"(?:audio|video)"[^}]*?"url":")media\/\d+\.png"/g, '$1media/sound.wav"');
  const path = join(folder, 'index.html');
  writeFileSync(
    path,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>gallery</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="gallery.css"></head><body><div id="app"></div>
<script type="application/json" id="data">${json}</script><script src="gallery.js"></script></body></html>`,
  );
  return pathToFileURL(path).href;
}
