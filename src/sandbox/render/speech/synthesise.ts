import type { Random } from '../random.ts';
import { type Frames, framesPerSecond } from './frames.ts';
import type { Speaker } from './speakers.ts';

/** A digital resonator of the second order, as in the synthesiser of Klatt (1980). */
class Resonator {
  private readonly sampleRate: number;
  private gain = 1;
  private first = 0;
  private second = 0;
  private last = 0;
  private beforeLast = 0;

  constructor(sampleRate: number) {
    this.sampleRate = sampleRate;
  }

  /** Centre and width of the resonance in Hz. What already rings goes on ringing. */
  tune(frequency: number, width: number): void {
    const held = Math.min(frequency, this.sampleRate * 0.46);
    const radius = Math.exp((-Math.PI * width) / this.sampleRate);
    this.second = -radius * radius;
    this.first = 2 * radius * Math.cos((2 * Math.PI * held) / this.sampleRate);
    this.gain = 1 - this.first - this.second;
  }

  pass(value: number): number {
    const result = this.gain * value + this.first * this.last + this.second * this.beforeLast;
    this.beforeLast = this.last;
    this.last = result;
    return result;
  }
}

export const sampleRate = 22_050;
const frameSamples = Math.floor(sampleRate / framesPerSecond);
/** The part of a period in which the vocal cords are apart. */
const openShare = 0.6;

/**
 * The sound of frames, not yet at any loudness: pulses of the vocal cords and breath through five resonances in a row,
 * and the noise of tongue and lips through one of its own.
 */
export function synthesise(
  frames: Frames,
  pitch: Float32Array,
  voice: { speaker: Speaker; random: Random },
): Float32Array {
  const { speaker, random } = voice;
  const sound = new Float32Array(frames.length * frameSamples);
  const throat = new Throat(speaker);
  const lips = new Resonator(sampleRate);
  let phase = 0;
  let pulse = 0;
  let breathing = 0;
  let before = 0;
  for (let frame = 0; frame < frames.length; frame += 1) {
    const next = Math.min(frame + 1, frames.length - 1);
    throat.take(frames, frame);
    lips.tune(frames.hissFrequency[frame] ?? 4000, frames.hissWidth[frame] ?? 2000);
    const hiss = (frames.hiss[frame] ?? 0) * 0.34;
    const [voicing, breath] = [stepOf(frames.voicing, frame, next), stepOf(frames.breath, frame, next)];
    const frequency = stepOf(pitch, frame, next);
    const isVoiced = (frames.voicing[frame] ?? 0) > 0;
    for (let index = 0; index < frameSamples; index += 1) {
      const share = index / frameSamples;
      const noise = random() * 2 - 1;
      const loud = voicing.from + voicing.step * share;
      phase += ((frequency.from + frequency.step * share) / sampleRate) * (1 + 0.004 * noise);
      if (phase >= 1) phase -= 1;
      const isOpen = phase < openShare;
      const opened = phase / openShare;
      // The slope of the flow: it rises, then breaks off. The edge says how sharply.
      pulse += ((isOpen ? 2 * opened - 3 * opened * opened : 0) - pulse) * speaker.edge;
      const whisper = (breath.from + breath.step * share) * 0.35 + loud * speaker.breath * (isOpen ? 0.8 : 0.2);
      const voiced = throat.pass(pulse * loud + noise * whisper);
      breathing += (noise - breathing) * 0.5;
      const rub = (lips.pass(noise) * 0.7 + (noise - breathing) * 0.12) * hiss * (isVoiced && !isOpen ? 0.6 : 1);
      // Out of the mouth, high sounds carry further than low ones.
      sound[frame * frameSamples + index] = voiced - 0.82 * before + rub;
      before = voiced;
    }
  }
  return sound;
}

function stepOf(values: Float32Array, frame: number, next: number): { from: number; step: number } {
  const from = values[frame] ?? 0;
  return { from, step: (values[next] ?? 0) - from };
}

/** Five resonances: three that speak, and two that are the person's own. */
class Throat {
  private readonly speaker: Speaker;
  private readonly one = new Resonator(sampleRate);
  private readonly two = new Resonator(sampleRate);
  private readonly three = new Resonator(sampleRate);
  private readonly four = new Resonator(sampleRate);
  private readonly five = new Resonator(sampleRate);

  constructor(speaker: Speaker) {
    this.speaker = speaker;
    this.four.tune(3400 * speaker.brightness, 160);
    this.five.tune(4400 * speaker.brightness, 300);
  }

  take({ formants: [one, two, three], nasal }: Frames, frame: number): void {
    const { brightness, breath } = this.speaker;
    // An open nose and a breathy voice both blur.
    const blur = 60 * (nasal[frame] ?? 0) + 200 * breath;
    this.one.tune((one[frame] ?? 0) * brightness, 50 + blur);
    this.two.tune((two[frame] ?? 0) * brightness, 70 + blur);
    this.three.tune((three[frame] ?? 0) * brightness, 110 + blur);
  }

  pass(value: number): number {
    return this.five.pass(this.four.pass(this.three.pass(this.two.pass(this.one.pass(value)))));
  }
}
