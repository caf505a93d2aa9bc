import type { Sharp, default as SharpOf } from 'sharp';
import { CampaignError } from '../../contract/failure.ts';
import { shell, way } from '../../ground/advice.ts';
import { readPlainFile } from '../fs/plain-file.ts';
import { digestOf } from '../outputs/hash-file.ts';
import { sniffMedia } from '../outputs/sniff.ts';

export interface PictureOrder {
  path: string;
  bytes: number;
  /** In hex. A file with another digest is not shown. */
  sha256: string;
}

/** A small picture, upright and without transparency. `width` and `height` are those of the original. */
interface SmallPicture {
  picture: Sharp;
  width: number;
  height: number;
}

/** In pixels, of the longer side. */
export const smallSide = 384;
/** Maximum number of pixels of the original, because a small file can decode to gigabytes. */
const mostPixels = 48_000_000;
const mostBytes = 96 * 1024 * 1024;
const patienceSeconds = 20;
const background = '#808080';
const formats: ReadonlyMap<string | undefined, string> = new Map([
  ['image/png', 'PNG'],
  ['image/jpeg', 'JPEG'],
  ['image/webp', 'WEBP'],
]);

/**
 * Loads the library sharp on first use, because loading is slow. Throws MB3701 if the binary for this machine is
 * missing.
 */
export async function loadSharp(load: () => Promise<{ default: typeof SharpOf }> = () => import('sharp')) {
  try {
    return (await load()).default;
  } catch (cause) {
    const message = `the package sharp cannot be loaded: thumbnails need it`;
    const hint = way('to install it', shell('npm', 'i', '--include=optional', 'sharp'));
    throw new CampaignError({ code: 'MB3701', message, hint, packages: ['sharp'] }, { cause });
  }
}

/** Decodes and shrinks a picture. Messages have `problem` after the words "the picture". */
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
  const sharp = await loadSharp().catch(() => undefined);
  if (sharp === undefined) return { problem: 'has no thumbnail, because the package sharp cannot be loaded here' };
  // Several pictures are decoded at once: one thread for each is faster than several threads for one.
  sharp.concurrency(1);
  try {
    return await shrink(sharp, content, side);
  } catch {
    // Messages of a decoder do not help users.
    return { problem: `cannot be read: its ${format} data is damaged or of an unsupported variant` };
  }
}

/** Returns the size after the rotation that the EXIF data states. Returns `undefined` if the picture cannot be read. */
export async function pictureSize(
  order: Pick<PictureOrder, 'path' | 'bytes'>,
): Promise<{ width: number; height: number } | undefined> {
  const content = order.bytes > mostBytes ? undefined : readPicture(order);
  if (content === undefined || !formats.has(sniffMedia(content)?.type)) return undefined;
  try {
    const sharp = await loadSharp();
    const { autoOrient } = await sharp(content, { limitInputPixels: false }).metadata();
    return { width: autoOrient.width, height: autoOrient.height };
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
  // Upright, as a browser shows it.
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
