/**
 * A note in a JPEG: a comment behind its first segment, for what is known of a picture and is to stay with it. Readers of
 * pictures go over it.
 */
const beginning = 'mediabatch ';
const [comment, application] = [0xfe, 0xe0] as const;

/** The same picture with the note, ASCII, in it. */
export function withNote(jpeg: Uint8Array, note: string): Uint8Array {
  const at = endOfHead(jpeg);
  const text = Buffer.from(beginning + note, 'latin1');
  const length = text.length + 2;
  return Buffer.concat([
    jpeg.subarray(0, at),
    Uint8Array.of(0xff, comment, length >> 8, length & 0xff),
    text,
    jpeg.subarray(at),
  ]);
}

/** Reads the note of a picture. Undefined: it has none of ours. */
export function readNote(jpeg: Uint8Array): string | undefined {
  const at = endOfHead(jpeg);
  if (jpeg[at] !== 0xff || jpeg[at + 1] !== comment) return undefined;
  const length = lengthAt(jpeg, at);
  const text = Buffer.from(jpeg.subarray(at + 4, at + 2 + length)).toString('latin1');
  return text.startsWith(beginning) ? text.slice(beginning.length) : undefined;
}

/** Finds the end of its beginning, with the segment that some readers want to find first. */
function endOfHead(jpeg: Uint8Array): number {
  return jpeg[2] === 0xff && jpeg[3] === application ? 4 + lengthAt(jpeg, 2) : 2;
}

function lengthAt(jpeg: Uint8Array, marker: number): number {
  return ((jpeg[marker + 2] ?? 0) << 8) | (jpeg[marker + 3] ?? 0);
}
