import { type PictureOrder, shrinkPicture, smallSide } from '../../disk/pictures/shrink-picture.ts';

/** A thumbnail. `problem`: why there is none, as a predicate after `the picture`. */
export type Thumb = { jpeg: Uint8Array } | { problem: string };

/** Longer side of a picture for a large tile, in pixels. */
export const largeSide = 1024;
/** Longer side of a picture that fits a screen, in pixels. */
export const screenSide = 1600;
/** Not all options of mozjpeg: they would make files a tenth smaller, but take four times as long. */
const jpegOptions = { quality: 75, progressive: true, quantisationTable: 3 };

/** Makes the thumbnail of a file. Never rejects because of the file's content. */
export async function makeThumb(order: PictureOrder, side = smallSide): Promise<Thumb> {
  const small = await shrinkPicture(order, side);
  return 'problem' in small ? small : { jpeg: await small.picture.jpeg(jpegOptions).toBuffer() };
}
