import type { Random } from '../random.ts';
import { type Frames, framesPerSecond, layFrames, type Pose } from './frames.ts';
import { type Formants, findPhone, type Noise, type Phone, type PhoneName } from './phones.ts';
import { type Phrase, readScript } from './script.ts';
import type { Speaker } from './speakers.ts';
import { sampleRate, synthesise } from './synthesise.ts';

/** Level of a long open vowel, as a share of full scale. */
const loudness = 0.2;
const leadMs = 60;

/** 16-bit samples. Phrase by phrase, so that a long text takes no more room than its sound. */
export function speak(text: string, speaker: Speaker, random: Random): Int16Array {
  const gain = findGain(speaker, random);
  const parts = [new Int16Array(countSamples(leadMs))];
  for (const phrase of readScript(text, speaker.accent)) {
    const frames = articulate(phrase, speaker.rate);
    const sound = synthesise(frames, intonate(frames, phrase, speaker), { speaker, random });
    parts.push(Int16Array.from(sound, (value) => Math.round(Math.tanh(value * gain) * 31_000)));
    parts.push(new Int16Array(countSamples(phrase.pauseMs / speaker.rate)));
  }
  return join(parts);
}

/** Voices differ in how loud the synthesiser makes them: this brings a vowel of each to one loudness. */
function findGain(speaker: Speaker, random: Random): number {
  const frames = layFrames(Array.from({ length: 40 }, () => ({ formants: [600, 1350, 2500] as const, voicing: 1 })));
  const sound = synthesise(frames, new Float32Array(frames.length).fill(speaker.pitch), { speaker, random });
  const power = sound.reduce((sum, value) => sum + value * value, 0) / sound.length;
  return loudness / Math.sqrt(power);
}

function countSamples(ms: number): number {
  return Math.round((ms * sampleRate) / 1000);
}

function join(parts: readonly Int16Array[]): Int16Array {
  const result = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

interface Segment {
  readonly name: PhoneName;
  readonly phone: Phone;
  readonly stressed: boolean;
  /** How much longer than usual. */
  readonly stretch: number;
}

interface Neighbours {
  readonly previous: Segment | undefined;
  readonly next: Segment | undefined;
}

const neutral: Formants = [500, 1450, 2500];
/** The sounds before a pause are drawn out. */
const finalSegments = 3;
const finalStretch = 1.28;
const stressStretch = 1.2;

/** Moves throat and mouth through a phrase, at `rate` times the usual speed. */
function articulate(phrase: Phrase, rate: number): Frames {
  const segments = listSegments(phrase);
  const poses: Pose[] = [];
  for (const [index, segment] of segments.entries()) {
    const neighbours = { previous: segments[index - 1], next: segments[index + 1] };
    poses.push(...poseSegment(segment, neighbours, rate));
  }
  // The mouth closes: what rings on has room to fade.
  const last = poses.at(-1)?.formants ?? neutral;
  for (let index = 0; index < 8; index += 1) poses.push({ formants: last });
  return layFrames(poses);
}

function listSegments({ words }: Phrase): Segment[] {
  const segments = words.flatMap(({ phones, stressed }) => {
    // English tends to stress the first full vowel.
    const stressedAt = stressed ? phones.findIndex((name) => findPhone(name).type === 'vowel' && name !== 'AX') : -1;
    return phones.map((name, index) => ({ name, phone: findPhone(name), stressed: index === stressedAt }));
  });
  return segments.map((segment, index) => {
    const final = index >= segments.length - finalSegments ? finalStretch : 1;
    return { ...segment, stretch: final * (segment.stressed ? stressStretch : 1) };
  });
}

function poseSegment(segment: Segment, neighbours: Neighbours, rate: number): Pose[] {
  const { phone, stressed, stretch } = segment;
  const stress = stressed ? 1 : 0;
  const frames = Math.max(4, countFrames((phone.ms * stretch) / rate));
  const hold = (pose: (share: number) => Pose) => Array.from({ length: frames }, (_, index) => pose(index / frames));
  switch (phone.type) {
    case 'vowel':
      return hold((share) => {
        const moved = Math.min(1, Math.max(0, (share - 0.25) / 0.55));
        return { formants: blend(phone.from, phone.to, moved), voicing: stressed ? 1 : 0.85, stress };
      });
    case 'glide':
      return hold(() => ({ formants: phone.at, voicing: 0.7 }));
    case 'nasal':
      return hold(() => ({ formants: phone.at, voicing: 0.5, nasal: 1 }));
    case 'breath':
      return hold(() => ({ formants: startOf(neighbours.next) ?? neutral, breath: 0.35 }));
    case 'hiss':
      return hold((share) => {
        const level = phone.noise.level * Math.min(1, share * 4 + 0.2, (1 - share) * 4);
        return { formants: phone.at, voicing: phone.voiced ? 0.4 : 0, noise: { ...phone.noise, level } };
      });
    case 'stop':
      return poseStop(segment, phone, { ...neighbours, closureFrames: frames });
    default:
      return phone satisfies never;
  }
}

/** Closed, then a burst, then breath until the cords swing again. */
function poseStop(
  { name }: Segment,
  phone: Phone & { readonly type: 'stop' },
  around: Neighbours & { readonly closureFrames: number },
): Pose[] {
  const following = startOf(around.next);
  const { at, noise } = name === 'K' || name === 'G' ? placeVelar(phone, following) : phone;
  const burst = countFrames(phone.burstMs);
  const plosive = name === 'P' || name === 'T' || name === 'K';
  const open = around.next?.phone.type === 'vowel' || around.next?.phone.type === 'glide';
  const aspiration = plosive ? (around.previous?.name === 'S' ? 1 : open ? 8 : 3) : 0;
  return [
    ...Array.from({ length: around.closureFrames }, () => ({ formants: at, voicing: phone.voiced ? 0.14 : 0 })),
    ...Array.from({ length: burst }, (_, index) => ({
      formants: at,
      voicing: phone.voiced ? 0.25 : 0,
      noise: { ...noise, level: noise.level * (1 - (0.5 * index) / burst) },
    })),
    ...Array.from({ length: aspiration }, (_, index) => ({
      formants: blend(at, following ?? at, (index + 1) / (aspiration + 1)),
      breath: 0.3,
    })),
  ];
}

/** The back of the tongue meets the palate near where the next vowel has it. */
function placeVelar(phone: { readonly at: Formants; readonly noise: Noise }, following: Formants | undefined) {
  const second = Math.min(2350, Math.max(1150, (following?.[1] ?? 1700) * 1.05));
  const at: Formants = [phone.at[0], second, Math.min(phone.at[2], second + 450)];
  return { at, noise: { ...phone.noise, frequency: second * 1.02 } };
}

function startOf(segment: Segment | undefined): Formants | undefined {
  if (segment === undefined || segment.phone.type === 'breath') return undefined;
  return segment.phone.type === 'vowel' ? segment.phone.from : segment.phone.at;
}

function blend(from: Formants, to: Formants, share: number): Formants {
  const step = (index: 0 | 1 | 2) => from[index] + (to[index] - from[index]) * share;
  return [step(0), step(1), step(2)];
}

function countFrames(ms: number): number {
  return Math.round((ms * framesPerSecond) / 1000);
}

/** Semitones, for a speaker of middle liveliness. */
const slope = { start: 1.6, end: -1.8 } as const;
const stressRise = 2.6;
const endings: Readonly<Record<Phrase['ending'], number>> = { fall: -3.4, rise: 6.5, hold: 1.2 };
/** The part of a phrase, at its end, in which the voice turns. */
const turnSeconds = 0.38;

/** The pitch of each frame in Hz: it sinks over the phrase, jumps with each stress, and turns at the end. */
function intonate(frames: Frames, phrase: Phrase, speaker: Speaker): Float32Array {
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
