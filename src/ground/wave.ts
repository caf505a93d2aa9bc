/** A waveform has one base-36 digit for each level. */
const levels = 36;

/** Encodes a waveform: one character for each peak from 0 to 1, `0` for silence, `z` for full scale. */
export function writeWave(peaks: readonly number[]): string {
  return peaks.map((peak) => Math.round(Math.min(1, peak) * (levels - 1)).toString(levels)).join('');
}

export function readWave(text: string): number[] {
  return [...text].map((sign) => Number.parseInt(sign, levels) / (levels - 1));
}
