import { extname } from 'node:path';
import type { Media } from '../../kinds/kind.ts';

export interface SniffedMedia {
  media: Media;
  type: string;
  extension: string;
}

interface Format extends SniffedMedia {
  matches(head: Uint8Array): boolean;
}

const heicBrands = ['heic', 'heix', 'mif1', 'msf1'];

/** Number of first bytes of a file that are enough to recognize each format. */
export const sniffLength = 512;

const formats: readonly Format[] = [
  format('image/png', '.png', (head) => startsWith(head, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])),
  format('image/jpeg', '.jpg', (head) => startsWith(head, [0xff, 0xd8, 0xff])),
  format('image/webp', '.webp', (head) => isRiff(head, 'WEBP')),
  format('image/gif', '.gif', (head) => hasText(head, 0, 'GIF87a') || hasText(head, 0, 'GIF89a')),
  format('image/avif', '.avif', (head) => hasBrand(head, ['avif', 'avis'])),
  format('audio/mpeg', '.mp3', (head) => hasText(head, 0, 'ID3') || isMp3Frame(head)),
  format('audio/wav', '.wav', (head) => isRiff(head, 'WAVE')),
  format('audio/flac', '.flac', (head) => hasText(head, 0, 'fLaC')),
  format('audio/ogg', '.ogg', (head) => hasText(head, 0, 'OggS')),
  format('audio/mp4', '.m4a', (head) => hasBrand(head, ['M4A ', 'M4B '])),
  format('video/webm', '.webm', (head) => isEbml(head, 'webm')),
  format('video/x-matroska', '.mkv', (head) => isEbml(head, 'matroska')),
  format('video/quicktime', '.mov', (head) => hasText(head, 4, 'ftypqt')),
  // Must be the last of the ISO media formats: sounds and pictures match earlier, by their own brands.
  format('video/mp4', '.mp4', (head) => hasText(head, 4, 'ftyp') && !hasBrand(head, heicBrands)),
];

export const knownExtensions: readonly string[] = formats.map(({ extension }) => extension);

/** Recognizes the formats that a job may produce. `head`: the first `sniffLength` bytes, or the whole file. */
export function sniffMedia(head: Uint8Array): SniffedMedia | undefined {
  const format = formats.find(({ matches }) => matches(head));
  return format && { media: format.media, type: format.type, extension: format.extension };
}

export function describeBytes(head: Uint8Array): string {
  if (head.length === 0) return 'an empty file';
  if (hasText(head, 4, 'ftyp')) return 'a video or picture of a format that is not supported';
  const text = decodeText(head)?.trimStart().toLowerCase();
  if (text === undefined) return 'a file of an unknown format';
  if (text.startsWith('<!doctype html') || text.startsWith('<html')) return 'an HTML page';
  if (text.startsWith('<svg')) return 'an SVG text';
  if (text.startsWith('<')) return 'an XML or HTML text';
  if (text.startsWith('{') || text.startsWith('[')) return 'a JSON text';
  return 'a text';
}

const typeByExtension: ReadonlyMap<string, string> = new Map([
  ['.jpeg', 'image/jpeg'],
  ['.heic', 'image/heic'],
  ...formats.map(({ extension, type }): [string, string] => [extension, type]),
]);

/**
 * Explains why a file does not match the extension. Reasons: the file is empty, contains a text such as an error page,
 * or is another kind of media. Returns `undefined` if the file is usable. Another format of the same kind is usable,
 * except HEIC.
 */
export function explainUnusable(name: string, head: Uint8Array): string | undefined {
  if (head.length === 0) return 'it is empty';
  const extension = extname(name);
  const stated = typeByExtension.get(extension.toLowerCase());
  if (stated === undefined) return undefined;
  const found = hasBrand(head, heicBrands) ? 'image/heic' : sniffMedia(head)?.type;
  if (found !== undefined) {
    // Services detect a picture's format from its bytes, but cannot read HEIC.
    const isAlike = stated.startsWith('image/') === found.startsWith('image/') && found !== 'image/heic';
    return found === stated || isAlike ? undefined : `its content is ${found}, but its name ends in ${extension}`;
  }
  const isText = decodeText(head) !== undefined;
  return isText ? `it is ${describeBytes(head)}, but its name ends in ${extension}` : undefined;
}

function decodeText(head: Uint8Array): string | undefined {
  const isBinary = head.some((byte) => byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d);
  if (isBinary) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return undefined;
  }
}

interface FileParts {
  /** The last bytes of the file: at least 16, or the whole file. */
  tail: Uint8Array;
  bytes: number;
  /** Returns up to `sniffLength` bytes from an offset. */
  read(at: number): Buffer;
}

/** Returns whether a download lacks the end that its format requires. Needed if the response states no length. */
export function isCutShort(type: string, { tail, bytes, read }: FileParts): boolean {
  const marker = endMarkers[type];
  if (marker !== undefined) return !includesAtEnd(tail, marker);
  const { [type]: sizeOf = () => undefined } = partSizes;
  for (let at = 0; at < bytes; ) {
    const head = read(at);
    const size = head.length < 8 ? undefined : sizeOf(head);
    if (size === undefined) return false;
    at += size;
    if (at > bytes) return true;
  }
  return false;
}

const endMarkers: { readonly [type: string]: readonly number[] } = {
  'image/png': [0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82],
  'image/jpeg': [0xff, 0xd9],
  'image/gif': [0x3b],
};

/** By media type: size of the file's part that begins with `head`, or undefined if unknown. */
const partSizes: { readonly [type: string]: (head: Buffer) => number | undefined } = {
  ...{ 'image/webp': riffSize, 'audio/wav': riffSize, 'audio/ogg': pageSize },
  ...{ 'video/webm': elementSize, 'video/x-matroska': elementSize },
  ...{ 'image/avif': boxSize, 'audio/mp4': boxSize, 'video/mp4': boxSize, 'video/quicktime': boxSize },
};

/** Least length in bytes that a program states in a file header if it does not know the length of the file. */
const placeholder = 2 ** 30;

function riffSize(head: Buffer): number | undefined {
  const size = head.readUInt32LE(4);
  // A program that could not return to the file's start left 0 as the length, or a number that is too large.
  return hasText(head, 0, 'RIFF') && size > 0 && size < placeholder ? size + 8 : undefined;
}

function pageSize(head: Buffer): number | undefined {
  if (!hasText(head, 0, 'OggS')) return undefined;
  const end = 27 + (head[26] ?? 0);
  return head.length < end ? Number.POSITIVE_INFINITY : head.subarray(27, end).reduce((sum, size) => sum + size, end);
}

/** Returns the size of the EBML header or of the segment, without the elements inside it. */
function elementSize(head: Buffer): number | undefined {
  const [first = 0] = head.subarray(4);
  if (!['1a45dfa3', '18538067'].includes(head.toString('hex', 0, 4)) || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  const unknown = 2n ** BigInt(7 * length) - 1n;
  const size = BigInt(`0x${head.toString('hex', 4, 4 + length)}`) & unknown;
  return size === unknown ? undefined : 4 + length + Number(size);
}

const boxNames = /^(?:ftyp|styp|moov|moof|mfra|mdat|meta|sidx|emsg|prft|pdin|uuid|free|skip|wide)$/;

function boxSize(head: Buffer): number | undefined {
  const short = head.readUInt32BE(0);
  // 0: the box extends to the end of the file. 1: the length follows in 64 bits after the name.
  const size = short === 1 && head.length >= 16 ? Number(head.readBigUInt64BE(8)) : short;
  return size < 8 || !boxNames.test(head.toString('latin1', 4, 8)) ? undefined : size;
}

function includesAtEnd(tail: Uint8Array, marker: readonly number[]): boolean {
  let end = tail.length;
  while (end > 0 && tail[end - 1] === 0) end--;
  return end >= marker.length && marker.every((byte, index) => tail[end - marker.length + index] === byte);
}

function startsWith(head: Uint8Array, marker: readonly number[]): boolean {
  return marker.every((byte, index) => head[index] === byte);
}

function hasText(head: Uint8Array, offset: number, text: string): boolean {
  if (head.length < offset + text.length) return false;
  return [...text].every((character, index) => head[offset + index] === character.charCodeAt(0));
}

function isRiff(head: Uint8Array, form: string): boolean {
  const isLarge = form === 'WAVE' && hasText(head, 0, 'RF64');
  return (isLarge || hasText(head, 0, 'RIFF')) && hasText(head, 8, form);
}

function hasBrand(head: Uint8Array, brands: readonly string[]): boolean {
  return hasText(head, 4, 'ftyp') && brands.some((brand) => hasText(head, 8, brand));
}

function isEbml(head: Uint8Array, type: string): boolean {
  if (!startsWith(head, [0x1a, 0x45, 0xdf, 0xa3])) return false;
  return Buffer.from(head.subarray(0, 64)).includes(Buffer.concat([Buffer.from([0x42, 0x82]), ebmlText(type)]));
}

function ebmlText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x80 | text.length]), Buffer.from(text)]);
}

export function isMp3Frame(bytes: Uint8Array, at = 0): boolean {
  const version = bytes[at + 1] ?? 0;
  const rates = bytes[at + 2] ?? 0xff;
  const isLayer3 = bytes[at] === 0xff && (version & 0xe6) === 0xe2 && (version & 0x18) !== 0x08;
  return isLayer3 && (rates & 0xf0) !== 0xf0 && (rates & 0x0c) !== 0x0c;
}

function format(type: string, extension: string, matches: Format['matches']): Format {
  return { media: type.split('/')[0] as Media, type, extension, matches };
}
