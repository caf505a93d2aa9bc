import { constants } from 'node:fs';
import type Sharp from 'sharp';
import { openPlainFile } from '../../disk/fs/plain-file.ts';
import { digestOf } from '../../disk/outputs/hash-file.ts';
import { sniffMedia } from '../../disk/outputs/sniff.ts';
import { differenceHash } from './difference-hash.ts';
import { readNote, withNote } from './jpeg-note.ts';

/** A picture of which a small one is wanted. */
export interface ThumbOrder {
  /** Absolute. */
  path: string;
  bytes: number;
  /** Hex. Other bytes are not shown for it. */
  sha256: string;
}

/** A small picture, with its looks noted in it: see `looksOf`. `problem`: why there is none, after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

/** Note instead of the hash of a picture in which nothing could be compared. */
const flat = 'flat';
/** Pixels of the longer side. */
const longestSide = 384;
/** A few bytes can claim gigabytes of pixels. */
const mostPixels = 48_000_000;
const mostBytes = 96 * 1024 * 1024;
/** A picture that takes longer is a trap. */
const patienceSeconds = 20;
/** A third smaller than without; a gallery in one file has hundreds of them. */
export const jpegOptions = { quality: 75, mozjpeg: true };
/** Background that a transparent picture is shown on: as light as dark. */
const ground = '#808080';
/** Formats of what is shown; others are not given to a decoder at all. */
const formats: ReadonlyMap<string | undefined, string> = new Map([
  ['image/png', 'PNG'],
  ['image/jpeg', 'JPEG'],
  ['image/webp', 'WEBP'],
]);

/** Makes the small picture of a file. Never rejects for what is in it. */
export async function makeThumb({ path, bytes, sha256 }: ThumbOrder): Promise<Thumb> {
  if (bytes > mostBytes) return { problem: `has ${bytes} bytes, which is too much for a small one` };
  const content = await readWhole(path, bytes);
  if (content === undefined || digestOf(content).sha256 !== sha256) return { problem: 'is not the one that was saved' };
  const format = formats.get(sniffMedia(content)?.type);
  if (format === undefined) return { problem: 'is no PNG, JPEG or WebP' };
  const sharp = await openSharp();
  if (sharp === undefined) return { problem: 'has no small one, because the package sharp cannot be loaded here' };
  try {
    return await shrink(sharp, content);
  } catch {
    // What a decoder says is for those who build decoders.
    return { problem: `cannot be read: its ${format} is broken, or of a variety that is not known here` };
  }
}

/** Loaded when the first picture needs it: it takes longer than a command that shows none. */
async function openSharp(): Promise<typeof Sharp | undefined> {
  try {
    return (await import('sharp')).default;
  } catch {
    return undefined;
  }
}

async function shrink(sharp: typeof Sharp, content: Uint8Array): Promise<Thumb> {
  const { width, height, autoOrient } = await sharp(content, { limitInputPixels: false }).metadata();
  if (width * height > mostPixels)
    return { problem: `has ${width} × ${height} pixels, which is too much for a small one` };
  // Upright, as a browser shows it.
  const { data, info } = await sharp(content, { limitInputPixels: mostPixels, failOn: 'error' })
    .autoOrient()
    .resize({ width: longestSide, height: longestSide, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: ground })
    .toColourspace('srgb')
    .timeout({ seconds: patienceSeconds })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const small = sharp(data, { raw: info });
  const note = `${(await differenceHash(small)) ?? flat} ${autoOrient.width}x${autoOrient.height}`;
  return { jpeg: withNote(await small.jpeg(jpegOptions).toBuffer(), note) };
}

/** Appearance of a picture, reduced to what can be compared. */
export interface Looks {
  /** Hash by `differenceHash`. Undefined: it has a single color. */
  hash?: string;
  /** Its width divided by its height. */
  shape: number;
}

/** Reads what the note in a small picture says of the one that it was made from; undefined where there is none. */
export function looksOf(jpeg: Uint8Array): Looks | undefined {
  const [, hash, width, height] = /^([0-9a-f]{16}|flat) (\d+)x(\d+)$/.exec(readNote(jpeg) ?? '') ?? [];
  if (hash === undefined) return undefined;
  return { shape: Number(width) / Number(height), ...(hash !== flat && { hash }) };
}

/** Reads a whole file. Undefined when it is not there, not plain, or not of this size. */
async function readWhole(path: string, size: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const handle = await openPlainFile(path, constants.O_RDONLY).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size !== size) return undefined;
    const content = new Uint8Array(size);
    for (let at = 0; at < size; ) {
      const { bytesRead } = await handle.read(content, at, size - at, at);
      if (bytesRead === 0) return undefined;
      at += bytesRead;
    }
    return content;
  } finally {
    await handle.close();
  }
}
