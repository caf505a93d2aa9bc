import { differenceHash, type PictureOrder, shrinkPicture, smallSide } from '../../disk/pictures/shrink-picture.ts';
import type { Looks } from '../../ground/picture-looks.ts';
import { readNote, withNote } from './jpeg-note.ts';

/** A small picture, with its looks noted in it: see `looksOf`. `problem`: why there is none, after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

/** Note instead of the hash of a picture in which nothing could be compared. */
const flat = 'flat';
/** Pixels of the longer side of a picture that fits a screen. */
export const screenSide = 1600;
/** A part of the options of mozjpeg: all of them would make files a tenth smaller, and take four times as long. */
export const jpegOptions = { quality: 75, progressive: true, quantisationTable: 3 };

/** Makes the small picture of a file, or one with another longer side. Never rejects for what is in it. */
export async function makeThumb(order: PictureOrder, side = smallSide): Promise<Thumb> {
  const small = await shrinkPicture(order, side);
  if ('problem' in small) return small;
  const { picture, width, height } = small;
  const note = `${(await differenceHash(picture)) ?? flat} ${width}x${height}`;
  return { jpeg: withNote(await picture.jpeg(jpegOptions).toBuffer(), note) };
}

/** Reads what the note in a small picture says of the one that it was made from; undefined where there is none. */
export function looksOf(jpeg: Uint8Array): Looks | undefined {
  const [, hash, width, height] = /^([0-9a-f]{16}|flat) (\d+)x(\d+)$/.exec(readNote(jpeg) ?? '') ?? [];
  if (hash === undefined) return undefined;
  return { shape: Number(width) / Number(height), ...(hash !== flat && { hash }) };
}
