/** EBML element (RFC 8794) with a known size. */
export interface Element {
  readonly id: number;
  readonly data: Uint8Array;
}

export const ids = {
  ebml: 0x1a45dfa3,
  ebmlVersion: 0x4286,
  ebmlReadVersion: 0x42f7,
  ebmlMaxIdLength: 0x42f2,
  ebmlMaxSizeLength: 0x42f3,
  docType: 0x4282,
  docTypeVersion: 0x4287,
  docTypeReadVersion: 0x4285,
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  muxingApp: 0x4d80,
  writingApp: 0x5741,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackUid: 0x73c5,
  trackType: 0x83,
  flagLacing: 0x9c,
  language: 0x22b59c,
  codecId: 0x86,
  defaultDuration: 0x23e383,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  cues: 0x1c53bb6b,
  cuePoint: 0xbb,
  cueTime: 0xb3,
  cueTrackPositions: 0xb7,
  cueTrack: 0xf7,
  cueClusterPosition: 0xf1,
  cluster: 0x1f43b675,
  timestamp: 0xe7,
  simpleBlock: 0xa3,
} as const;

export function element(id: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([unsigned(id), codeSize(length), ...parts]);
}

export function unsigned(value: number, bytes?: number): Buffer {
  let length = bytes ?? 1;
  while (bytes === undefined && value >= 2 ** (8 * length)) length += 1;
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

export function double(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(value);
  return buffer;
}

export function text(value: string): Buffer {
  return Buffer.from(value, 'latin1');
}

/** Encodes a size below 2^48 as a variable-length integer. A value with all bits set would mean an unknown size. */
function codeSize(value: number): Buffer {
  let length = 1;
  while (value >= 2 ** (7 * length) - 1) length += 1;
  const buffer = unsigned(value, length);
  buffer[0] = (buffer[0] ?? 0) | (0x80 >> (length - 1));
  return buffer;
}

/** Parses a sequence of elements. Undefined if the elements do not fill the bytes exactly. */
export function readElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length; ) {
    const id = readMarked(bytes, at, 'with its mark');
    if (id === undefined) return undefined;
    const size = readMarked(bytes, at + id.length, 'without its mark');
    if (size === undefined) return undefined;
    const start = at + id.length + size.length;
    if (start + size.value > bytes.length) return undefined;
    elements.push({ id: id.value, data: bytes.subarray(start, start + size.value) });
    at = start + size.value;
  }
  return elements;
}

function readMarked(bytes: Uint8Array, at: number, mark: 'with its mark' | 'without its mark') {
  const first = bytes[at] ?? 0;
  // The number of leading zeros is the number of following bytes. This file needs at most six.
  const length = Math.clz32(first) - 23;
  if (length > 6 || at + length > bytes.length) return undefined;
  let value = mark === 'with its mark' ? first : first & (0xff >> length);
  for (let index = 1; index < length; index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return { value, length };
}

export function readUnsigned(data: Uint8Array): number {
  return data.reduce((value, byte) => value * 256 + byte, 0);
}
