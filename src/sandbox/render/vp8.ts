/** The VP8 key frame inside a lossy WebP file (RFC 9649). */
export function extractVp8(webp: Buffer): Buffer {
  for (let at = 12; at + 8 <= webp.length; ) {
    const size = webp.readUInt32LE(at + 4);
    if (webp.toString('latin1', at, at + 4) === 'VP8 ') return webp.subarray(at + 8, at + 8 + size);
    at += 8 + size + (size % 2);
  }
  throw new Error('internal error: the WebP file holds no lossy picture');
}

/** Whether the bytes start as a VP8 key frame does (RFC 6386, 9.1). */
export function isVp8KeyFrame(frame: Uint8Array): boolean {
  const [first = 1, , , one, two, three] = frame;
  return frame.length > 10 && (first & 1) === 0 && one === 0x9d && two === 0x01 && three === 0x2a;
}
