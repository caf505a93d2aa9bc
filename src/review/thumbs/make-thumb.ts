import { constants } from 'node:fs';
import { openPlainFile } from '../../disk/fs/plain-file.ts';
import { digestOf } from '../../disk/outputs/hash-file.ts';
import { decodePicture, encodeJpeg } from './codecs.ts';
import { differenceHash } from './difference-hash.ts';
import { readNote, withNote } from './jpeg-note.ts';
import { readPictureSize } from './picture-size.ts';
import { shrink } from './shrink.ts';

/** A picture of which a small one is wanted. */
export interface ThumbOrder {
  /** Absolute. */
  path: string;
  bytes: number;
  /** Hex. Other bytes are not shown for it. */
  sha256: string;
}

/** With what it looks like as a note in it: see `looksOf`. `problem`: why there is none, after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

/** Instead of the hash of a picture in which nothing could be compared. */
const flat = 'flat';
/** Pixels of the longer side. */
const longestSide = 384;
/** Decoded, each pixel takes eight bytes for a moment: four here, and four in the decoder. */
const mostPixels = 48_000_000;
const mostBytes = 96 * 1024 * 1024;

/** Makes the small picture of a file. Never rejects for what is in it. */
export async function makeThumb({ path, bytes, sha256 }: ThumbOrder): Promise<Thumb> {
  if (bytes > mostBytes) return { problem: `has ${bytes} bytes, which is too much for a small one` };
  const content = await readWhole(path, bytes);
  if (content === undefined || digestOf(content).sha256 !== sha256) return { problem: 'is not the one that was saved' };
  const size = readPictureSize(content);
  if (size === undefined) return { problem: 'is no PNG, JPEG or WebP, or has no size' };
  const { format, width, height } = size;
  if (width * height > mostPixels)
    return { problem: `has ${width} × ${height} pixels, which is too much for a small one` };
  try {
    const pixels = await decodePicture(format, content.buffer);
    const small = shrink(pixels, longestSide);
    const note = `${differenceHash(small) ?? flat} ${pixels.width}x${pixels.height}`;
    return { jpeg: withNote(await encodeJpeg(small), note) };
  } catch {
    // What a decoder says is for those who build decoders.
    return { problem: `cannot be read: its ${format.toUpperCase()} is broken, or of a variety that is not known here` };
  }
}

/** What a picture looks like. */
export interface Looks {
  /** By `differenceHash`. Undefined: it has a single color. */
  hash?: string;
  /** Its width divided by its height. */
  shape: number;
}

/** What the note in a small picture says of the one that it was made from; undefined where there is none. */
export function looksOf(jpeg: Uint8Array): Looks | undefined {
  const [, hash, width, height] = /^([0-9a-f]{16}|flat) (\d+)x(\d+)$/.exec(readNote(jpeg) ?? '') ?? [];
  if (hash === undefined) return undefined;
  return { shape: Number(width) / Number(height), ...(hash !== flat && { hash }) };
}

/** Undefined when it is not there, not plain, or not of this size. */
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
