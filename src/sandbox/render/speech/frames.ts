import type { Formants, Noise } from './phones.ts';

/** Frames in a second of speech. */
export const framesPerSecond = 200;

/** The state of throat and mouth, frame by frame. */
export interface Frames {
  readonly length: number;
  /** Hz, before the size of the speaker's throat. */
  readonly formants: readonly [Float32Array, Float32Array, Float32Array];
  /** Share of the vocal cords, 0 to 1. */
  readonly voicing: Float32Array;
  /** Breath through the throat, 0 to 1. */
  readonly breath: Float32Array;
  readonly hiss: Float32Array;
  readonly hissFrequency: Float32Array;
  readonly hissWidth: Float32Array;
  /** 1 where the nose is open. */
  readonly nasal: Float32Array;
  /** 1 where the syllable is stressed. */
  readonly stress: Float32Array;
}

/** Settings that do not change within one frame. Whatever is left out is 0. */
export interface Pose {
  readonly formants: Formants;
  readonly voicing?: number;
  readonly breath?: number;
  readonly noise?: Noise;
  readonly nasal?: number;
  readonly stress?: number;
}

export function layFrames(poses: readonly Pose[]): Frames {
  const track = (read: (pose: Pose) => number) => Float32Array.from(poses, read);
  const formant = (number: 0 | 1 | 2) =>
    smooth(
      track(({ formants }) => formants[number]),
      formantReach,
    );
  return {
    length: poses.length,
    formants: [formant(0), formant(1), formant(2)],
    voicing: smooth(
      track(({ voicing = 0 }) => voicing),
      2,
    ),
    breath: smooth(
      track(({ breath = 0 }) => breath),
      1,
    ),
    // A burst stays as sudden as it is.
    hiss: track(({ noise }) => noise?.level ?? 0),
    hissFrequency: track(({ noise }) => noise?.frequency ?? 4000),
    hissWidth: track(({ noise }) => noise?.width ?? 2000),
    nasal: smooth(
      track(({ nasal = 0 }) => nasal),
      2,
    ),
    stress: track(({ stress = 0 }) => stress),
  };
}

/** How far the tongue is ahead and behind, in frames: sounds run into each other. */
const formantReach = 7;

/** Each value becomes the mean of its neighbours, the near ones counting more. */
function smooth(values: Float32Array, reach: number): Float32Array {
  const last = values.length - 1;
  return values.map((_, index) => {
    let sum = 0;
    for (let step = -reach; step <= reach; step += 1) {
      const value = values[Math.min(last, Math.max(0, index + step))] ?? 0;
      sum += value * (reach + 1 - Math.abs(step));
    }
    return sum / (reach + 1) ** 2;
  });
}
