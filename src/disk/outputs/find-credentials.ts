import type { Output } from '../../lock/record.ts';
import type { MediaFacts } from '../../plan/outputs/expectation.ts';
import { readSynchsafe, tagHead, tagLength } from '../sounds/decode.ts';
import type { PlacedReader, ReadAt } from './placed-files.ts';

/** Most parts of a file that are examined, because a malicious file may consist only of part headers. */
const mostParts = 10_000;
/** UUID of the box that contains a C2PA manifest store in ISO media files. */
const c2paBox = 'd8fec3d61b0e483c92975828877ec481';

const finders: Readonly<Record<string, (readAt: ReadAt) => boolean>> = {
  'image/png': inPng,
  'image/jpeg': inJpeg,
  'image/webp': inRiff,
  'audio/wav': inRiff,
  'audio/mpeg': inMp3,
  'audio/mp4': inBoxes,
  'image/avif': inBoxes,
  'video/mp4': inBoxes,
  'video/quicktime': inBoxes,
};

/** Returns whether a file has content credentials (C2PA) at their defined place. Does not validate them. */
export function findCredentials(file: PlacedReader, { type }: Pick<Output, 'type'>): MediaFacts {
  const isIn = finders[type];
  const hasCredentials = isIn && file.read(isIn);
  return hasCredentials === undefined ? {} : { hasCredentials };
}

interface Part {
  isIt: boolean;
  next: number;
}

function walk(from: number, read: (at: number) => Part | undefined): boolean {
  let at = from;
  for (let parts = 0; parts < mostParts; parts += 1) {
    const part = read(at);
    if (part === undefined) return false;
    if (part.isIt) return true;
    if (part.next <= at) return false;
    at = part.next;
  }
  return false;
}

function inPng(readAt: ReadAt): boolean {
  return walk(8, (at) => {
    const head = readAt(at, 8);
    if (head.length < 8) return undefined;
    return { isIt: head.toString('latin1', 4) === 'caBX', next: at + 12 + head.readUInt32BE(0) };
  });
}

function inJpeg(readAt: ReadAt): boolean {
  return walk(2, (at) => {
    // Marker and length, identifiers and numbers of the JUMBF segment and its packet, then its box and the description
    // in it.
    const head = readAt(at, 40);
    const marker = head[1] ?? 0;
    // After the start of scan only picture data follow.
    if (head.length < 4 || head[0] !== 0xff || marker === 0xda || marker === 0xd9) return undefined;
    const isBox = marker === 0xeb && head.toString('latin1', 4, 6) === 'JP' && head.includes('jumdc2pa');
    return { isIt: isBox, next: at + 2 + head.readUInt16BE(2) };
  });
}

function inRiff(readAt: ReadAt): boolean {
  return walk(12, (at) => {
    const head = readAt(at, 8);
    if (head.length < 8) return undefined;
    const size = head.readUInt32LE(4);
    return { isIt: head.toString('latin1', 0, 4) === 'C2PA', next: at + 8 + size + (size % 2) };
  });
}

function inBoxes(readAt: ReadAt): boolean {
  return walk(0, (at) => {
    const head = readAt(at, 32);
    if (head.length < 8) return undefined;
    const isLong = head.readUInt32BE(0) === 1 && head.length >= 16;
    const name = head.toString('hex', isLong ? 16 : 8).slice(0, c2paBox.length);
    const size = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE(0);
    return { isIt: head.toString('latin1', 4, 8) === 'uuid' && name === c2paBox, next: at + size };
  });
}

/** In MP3, credentials are in a frame of the ID3 tag that encloses an object and states its type. */
function inMp3(readAt: ReadAt): boolean {
  const tag = readAt(0, tagHead);
  const end = tagLength(tag);
  const isNewest = (tag[3] ?? 0) >= 4;
  return walk(tagHead, (at) => {
    if (at + 10 > end) return undefined;
    const head = readAt(at, 64);
    if (head.length < 10 || head[0] === 0) return undefined;
    const size = isNewest ? readSynchsafe(head, 4) : head.readUInt32BE(4);
    const isIt = head.toString('latin1', 0, 4) === 'GEOB' && head.includes('c2pa-manifest-store', 10);
    return { isIt, next: at + 10 + size };
  });
}
