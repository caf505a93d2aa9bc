/** One base-36 digit encodes a level. */
const levels = 36;

/** Encodes each peak from 0 to 1 as one character: `0` is silence, `z` is full scale. */
export function writeWave(peaks: readonly number[]): string {
  return peaks.map((peak) => Math.round(Math.min(1, peak) * (levels - 1)).toString(levels)).join('');
}

export function readWave(text: string): number[] {
  return [...text].map((sign) => Number.parseInt(sign, levels) / (levels - 1));
}
