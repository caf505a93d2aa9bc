import { createLoudnessMeter, findPeaks, type LoudnessMeter } from '../../ground/loudness.ts';
import { writeWave } from '../../ground/wave.ts';
import type { MediaFacts } from '../../plan/outputs/expectation.ts';

export interface Listener {
  add(channels: readonly Float32Array[], rate: number): void;
  tell(): MediaFacts;
}

/** Amplitude of -50 dBFS, below which samples count as silence: noise of a room, or of a codec. */
const silent = 10 ** (-50 / 20);
/** Lowest loudness and peak that are reported; used for silence. */
const least = { lufs: -70, dB: -120 } as const;
/** Shortest sound with a defined loudness, in seconds. */
const blockSeconds = 0.4;

export class Ear implements Listener {
  #meter: LoudnessMeter | undefined;
  #rate = 0;
  #samples = 0;
  #peak = 0;
  #quiet = 0;
  #longestQuiet = 0;

  add(channels: readonly Float32Array[], rate: number): void {
    this.#rate = rate;
    this.#meter ??= createLoudnessMeter(rate);
    this.#meter.add(channels);
    const length = channels[0]?.length ?? 0;
    this.#samples += length;
    for (let at = 0; at < length; at += 1) {
      let level = 0;
      for (const channel of channels) level = Math.max(level, Math.abs(channel[at] ?? 0));
      this.#peak = Math.max(this.#peak, level);
      this.#quiet = level < silent ? this.#quiet + 1 : 0;
      this.#longestQuiet = Math.max(this.#longestQuiet, this.#quiet);
    }
  }

  /** Returns the measurements; empty for a sound without samples. */
  tell(): MediaFacts {
    if (this.#meter === undefined) return {};
    const isMeasured = this.#samples / this.#rate >= blockSeconds;
    return {
      ...(isMeasured && { lufs: rounded(Math.max(least.lufs, this.#meter.loudness())) }),
      peakDb: rounded(Math.max(least.dB, 20 * Math.log10(this.#peak))),
      silentSeconds: rounded(this.#longestQuiet / this.#rate),
    };
  }
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Number of stretches of a waveform: about as many as the pixels of a tile can show. */
const stretches = 120;
/**
 * Initial number of samples per piece, and most pieces. When that number is reached, pairs of pieces are merged,
 * because the duration of the sound is not known in advance.
 */
const firstPiece = 16;
const mostPieces = 1 << 14;

/** Draws the waveform of a sound while it is decoded. */
export class WavePen implements Listener {
  #pieces: number[] = [];
  #piece = firstPiece;
  #peak = 0;
  #samples = 0;

  add(channels: readonly Float32Array[]): void {
    const length = channels[0]?.length ?? 0;
    for (let at = 0; at < length; at += 1) {
      for (const channel of channels) this.#peak = Math.max(this.#peak, Math.abs(channel[at] ?? 0));
      this.#samples += 1;
      if (this.#samples === this.#piece) this.#endPiece();
    }
  }

  /** Returns the waveform; empty for a sound too short to draw. */
  tell(): MediaFacts {
    if (this.#pieces.length < stretches) return {};
    return { wave: writeWave(findPeaks([Float32Array.from(this.#pieces)], stretches)) };
  }

  #endPiece(): void {
    this.#pieces.push(this.#peak);
    this.#peak = 0;
    this.#samples = 0;
    if (this.#pieces.length < mostPieces) return;
    this.#pieces = Array.from({ length: mostPieces / 2 }, (_, index) =>
      Math.max(this.#pieces[2 * index] ?? 0, this.#pieces[2 * index + 1] ?? 0),
    );
    this.#piece *= 2;
  }
}
