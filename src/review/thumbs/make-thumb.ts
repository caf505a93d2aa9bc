import { type PictureOrder, shrinkPicture, smallSide } from '../../disk/pictures/shrink-picture.ts';

/** A small picture. `problem`: why there is none, after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

/** Pixels of the longer side of a picture for a tile that is larger than a small one. */
export const largeSide = 1024;
/** Pixels of the longer side of a picture that fits a screen. */
export const screenSide = 1600;
/** A part of the options of mozjpeg: all of them would make files a tenth smaller, and take four times as long. */
const jpegOptions = { quality: 75, progressive: true, quantisationTable: 3 };

/** Makes the small picture of a file, or one with another longer side. Never rejects for what is in it. */
export async function makeThumb(order: PictureOrder, side = smallSide): Promise<Thumb> {
  const small = await shrinkPicture(order, side);
  return 'problem' in small ? small : { jpeg: await small.picture.jpeg(jpegOptions).toBuffer() };
}
