import { crc32 } from 'node:zlib';
import { withNote } from '../thumbs/jpeg-note.ts';

export type SheetFormat = 'jpeg' | 'png';

/** Says in each sheet what it is: only such a picture is written over. */
const name = 'contact sheet';
const mark = `mediabatch ${name}`;
/** The mark stands within so many bytes of the beginning. */
export const markWithin = 200;

export function isMarked(start: string): boolean {
  return start.includes(mark);
}

/** Puts the mark into a picture, as a remark. */
export function markPicture(format: SheetFormat, bytes: Uint8Array): Uint8Array {
  if (format === 'jpeg') return withNote(bytes, name);
  // After signature and header.
  return Buffer.concat([bytes.subarray(0, 33), pngText(), bytes.subarray(33)]);
}

function pngText(): Buffer {
  const chunk = Buffer.from(`tEXtSoftware\0${mark}`, 'latin1');
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(chunk.length - 4);
  sum.writeUInt32BE(crc32(chunk));
  return Buffer.concat([length, chunk, sum]);
}
