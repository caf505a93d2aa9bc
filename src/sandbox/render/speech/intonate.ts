import { type Frames, framesPerSecond } from './frames.ts';
import type { Phrase } from './script.ts';
import type { Speaker } from './speakers.ts';

/** Semitones, for a speaker of middle liveliness. */
const slope = { start: 1.6, end: -1.8 } as const;
const stressRise = 2.6;
const endings: Readonly<Record<Phrase['ending'], number>> = { fall: -3.4, rise: 6.5, hold: 1.2 };
/** The part of a phrase, at its end, in which the voice turns. */
const turnSeconds = 0.38;

/** The pitch of each frame in Hz: it sinks over the phrase, jumps with each stress, and turns at the end. */
export function intonate(frames: Frames, phrase: Phrase, speaker: Speaker): Float32Array {
  const pitch = new Float32Array(frames.length);
  const turnFrames = Math.min(frames.length, turnSeconds * framesPerSecond);
  let rise = 0;
  for (let frame = 0; frame < frames.length; frame += 1) {
    const share = frame / frames.length;
    const turned = Math.max(0, (frame - (frames.length - turnFrames)) / turnFrames);
    rise += ((frames.stress[frame] ?? 0) * stressRise - rise) * 0.06;
    const sinking = slope.start + (slope.end - slope.start) * share;
    const semitones = sinking + rise + endings[phrase.ending] * turned + sway(frame / framesPerSecond, speaker);
    pitch[frame] = speaker.pitch * 2 ** ((semitones * speaker.liveliness) / 12) * flutter(frame / framesPerSecond);
  }
  return pitch;
}

/** Swedish has two tones on a word; what remains of them in English is a swing. */
function sway(seconds: number, { accent }: Speaker): number {
  return accent === 'swedish' ? 1.7 * Math.sin(2 * Math.PI * 2.3 * seconds) : 0;
}

/** No voice is quite steady: three slow waves that never meet in the same way (Klatt and Klatt, 1990). */
function flutter(seconds: number): number {
  const wave = (frequency: number) => Math.sin(2 * Math.PI * frequency * seconds);
  return 1 + 0.004 * (wave(12.7) + wave(7.1) + wave(4.7));
}
