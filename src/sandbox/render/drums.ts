import { sampleRate } from './instruments.ts';
import type { Random } from './random.ts';
import type { Hit } from './score.ts';

/** The samples of one hit, before gain. */
export function soundHit(drum: Hit['drum'], random: Random): Float32Array {
  switch (drum) {
    case 'kick':
      return soundKick();
    case 'snare':
      return soundSnare(random);
    case 'hat':
      return soundHat(random);
    default:
      return unknownDrum(drum);
  }
}

function soundKick(): Float32Array {
  const sound = new Float32Array(Math.round(0.32 * sampleRate));
  let phase = 0;
  for (let index = 0; index < sound.length; index += 1) {
    const seconds = index / sampleRate;
    phase += (46 + 120 * Math.exp(-seconds / 0.028)) / sampleRate;
    const click = Math.exp(-seconds / 0.002) * 0.4;
    sound[index] = (Math.sin(2 * Math.PI * phase) + click) * Math.exp(-seconds / 0.11) * fadeOut(index, sound.length);
  }
  return sound;
}

function soundSnare(random: Random): Float32Array {
  const sound = new Float32Array(Math.round(0.24 * sampleRate));
  let smooth = 0;
  for (let index = 0; index < sound.length; index += 1) {
    const seconds = index / sampleRate;
    const noise = random() * 2 - 1;
    smooth += (noise - smooth) * 0.25;
    const body = Math.sin(2 * Math.PI * 185 * seconds) * Math.exp(-seconds / 0.045) * 0.7;
    const wires = (noise - smooth) * Math.exp(-seconds / 0.075) * 0.75;
    sound[index] = (body + wires) * fadeOut(index, sound.length);
  }
  return sound;
}

function soundHat(random: Random): Float32Array {
  const sound = new Float32Array(Math.round(0.07 * sampleRate));
  let [previous, high] = [0, 0];
  for (let index = 0; index < sound.length; index += 1) {
    const noise = random() * 2 - 1;
    high = 0.72 * (high + noise - previous);
    previous = noise;
    sound[index] = high * Math.exp(-index / (0.018 * sampleRate)) * fadeOut(index, sound.length);
  }
  return sound;
}

function fadeOut(index: number, length: number): number {
  return Math.min(1, (length - index) / (0.01 * sampleRate));
}

function unknownDrum(drum: never): never {
  throw new Error(`internal error: unknown drum ${JSON.stringify(drum)}`);
}
