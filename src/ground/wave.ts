/** Levels of a stretch, silence and full scale among them: one sign tells which. */
const levels = 36;

/** Writes a waveform, each stretch from 0 to 1, as one sign for each: `0` for silence, `z` for full scale. */
export function writeWave(peaks: readonly number[]): string {
  return peaks.map((peak) => Math.round(Math.min(1, peak) * (levels - 1)).toString(levels)).join('');
}

export function readWave(text: string): number[] {
  return [...text].map((sign) => Number.parseInt(sign, levels) / (levels - 1));
}
