import { crc32 } from 'node:zlib';

export type SheetFormat = 'jpeg' | 'png';

/** Says in each sheet what it is: only such a picture is written over. */
const mark = 'mediabatch contact sheet';
/** The mark stands within so many bytes of the beginning. */
export const markWithin = 200;

export function isMarked(start: string): boolean {
  return start.includes(mark);
}

/** Puts the mark into a picture, as a remark. */
export function markPicture(format: SheetFormat, bytes: Uint8Array): Uint8Array {
  // After the first marker of a JPEG, and after signature and header of a PNG.
  const at = format === 'jpeg' ? 2 : 33;
  const remark = format === 'jpeg' ? jpegComment() : pngText();
  return Buffer.concat([bytes.subarray(0, at), remark, bytes.subarray(at)]);
}

function jpegComment(): Buffer {
  const text = Buffer.from(mark, 'latin1');
  const head = Buffer.from([0xff, 0xfe, 0, 0]);
  head.writeUInt16BE(text.length + 2, 2);
  return Buffer.concat([head, text]);
}

function pngText(): Buffer {
  const chunk = Buffer.from(`tEXtSoftware\0${mark}`, 'latin1');
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(chunk.length - 4);
  sum.writeUInt32BE(crc32(chunk));
  return Buffer.concat([length, chunk, sum]);
}
