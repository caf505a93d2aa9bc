import type { Sharp, default as SharpOf } from 'sharp';
import { readPlainFile } from '../fs/plain-file.ts';
import { digestOf } from '../outputs/hash-file.ts';
import { sniffMedia } from '../outputs/sniff.ts';

export interface PictureOrder {
  path: string;
  bytes: number;
  /** Digest in hex of the saved picture. A file with another digest is not shown. */
  sha256: string;
}

/** A small picture, upright and without transparency. `width` and `height` are those of the original file. */
interface SmallPicture {
  picture: Sharp;
  width: number;
  height: number;
}

/** Length of a thumbnail's longer side in pixels. */
export const smallSide = 384;
/** Maximum number of pixels in the original picture: a small file can decode to gigabytes. */
const mostPixels = 48_000_000;
const mostBytes = 96 * 1024 * 1024;
const patienceSeconds = 20;
const background = '#808080';
const formats: ReadonlyMap<string | undefined, string> = new Map([
  ['image/png', 'PNG'],
  ['image/jpeg', 'JPEG'],
  ['image/webp', 'WEBP'],
]);

/** Decodes and shrinks a picture. Messages print `problem` after the words "the picture". */
export async function shrinkPicture(
  order: PictureOrder,
  side = smallSide,
): Promise<SmallPicture | { problem: string }> {
  if (order.bytes > mostBytes) return { problem: `has ${order.bytes} bytes, which is too much for a thumbnail` };
  const content = readPicture(order);
  if (content === undefined || digestOf(content).sha256 !== order.sha256)
    return { problem: 'differs from the picture that was saved' };
  const format = formats.get(sniffMedia(content)?.type);
  if (format === undefined) return { problem: 'is not a PNG, JPEG or WebP file' };
  const sharp = await loadSharp();
  if (sharp === undefined) return { problem: 'has no thumbnail, because the package sharp cannot be loaded here' };
  // Several pictures are decoded at once: one thread per picture is faster than several threads per picture.
  sharp.concurrency(1);
  try {
    return await shrink(sharp, content, side);
  } catch {
    // Drops the decoder's message, which does not help users.
    return { problem: `cannot be read: its ${format} data is damaged or of an unsupported variant` };
  }
}

/** Loads sharp on first use, because loading is slow. Returns `undefined` if this machine lacks sharp's binary. */
async function loadSharp(): Promise<typeof SharpOf | undefined> {
  return import('sharp').then(
    ({ default: sharp }) => sharp,
    () => undefined,
  );
}

/** Returns a picture's size after the rotation in its EXIF data. Returns `undefined` if the picture cannot be read. */
export async function pictureSize(
  order: Pick<PictureOrder, 'path' | 'bytes'>,
): Promise<{ width: number; height: number } | undefined> {
  const content = order.bytes > mostBytes ? undefined : readPicture(order);
  if (content === undefined || !formats.has(sniffMedia(content)?.type)) return undefined;
  try {
    const sharp = await loadSharp();
    const read = await sharp?.(content, { limitInputPixels: false }).metadata();
    return read && { width: read.autoOrient.width, height: read.autoOrient.height };
  } catch {
    return undefined;
  }
}

async function shrink(
  sharp: typeof SharpOf,
  content: Uint8Array,
  side: number,
): Promise<SmallPicture | { problem: string }> {
  const { width, height, autoOrient } = await sharp(content, { limitInputPixels: false }).metadata();
  if (width * height > mostPixels)
    return { problem: `has ${width} × ${height} pixels, which is too much for a thumbnail` };
  // Rotates the picture upright, as a browser shows it.
  const { data, info } = await sharp(content, { limitInputPixels: mostPixels, failOn: 'error' })
    .autoOrient()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .flatten({ background })
    .toColourspace('srgb')
    .timeout({ seconds: patienceSeconds })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { picture: sharp(data, { raw: info }), width: autoOrient.width, height: autoOrient.height };
}

function readPicture({ path, bytes }: Pick<PictureOrder, 'path' | 'bytes'>): Buffer | undefined {
  try {
    const content = readPlainFile(path, bytes);
    return content?.length === bytes ? content : undefined;
  } catch {
    return undefined;
  }
}
