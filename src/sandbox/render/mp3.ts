export const mp3FrameMs = 24;
/** Frame size in bytes. At 48 kHz and 32 kbit/s it is an integer. */
const frameBytes = 96;
const globalGain = 195;

/** Returns the frequency of a spectral line in Hz: 576 lines divide the range up to 24 kHz. */
export function lineHz(line: number): number {
  return ((line + 0.5) * 24_000) / 576;
}

/**
 * Encodes MPEG-1 Layer III (ISO 11172-3), mono. In each frame one spectral line (0 to 280) is 1 and all others are 0.
 * This needs no psychoacoustic model, and a single Huffman table, whose codes all have four bits.
 */
export function encodeMp3(lines: readonly number[]): Buffer {
  const known = new Map<number, Buffer>();
  const frameOf = (line: number) => {
    const frame = known.get(line) ?? encodeFrame(line);
    known.set(line, frame);
    return frame;
  };
  return Buffer.concat(lines.map(frameOf));
}

function encodeFrame(line: number): Buffer {
  const zeros = '1111'.repeat(Math.floor(line / 4));
  // The table stores the complement of the four values; the sign follows.
  const last = (0b1111 ^ (0b1000 >> (line % 4))).toString(2).padStart(4, '0');
  const data = `${zeros}${last}0`;
  const granule = [
    bits(data.length, 12),
    bits(0, 9), // pairs of big values
    bits(globalGain, 8),
    bits(0, 4 + 1 + 15 + 4 + 3 + 1 + 1), // no scale factors, long blocks, no regions
    bits(1, 1), // the Huffman table of four-bit codes
  ].join('');
  // Sync word, MPEG-1 Layer III without checksum; 32 kbit/s at 48 kHz; mono. Then no bit reservoir, no shared scale
  // factors.
  const frame = `${bits(0xfffb14c0, 32)}${bits(0, 18)}${granule}${granule}${data}${data}`.padEnd(frameBytes * 8, '0');
  return Buffer.from(frame.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

function bits(value: number, count: number): string {
  return value.toString(2).padStart(count, '0');
}
