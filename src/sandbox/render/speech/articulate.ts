import { type Frames, framesPerSecond, layFrames, type Pose } from './frames.ts';
import { type Formants, findPhone, type Noise, type Phone, type PhoneName } from './phones.ts';
import type { Phrase } from './script.ts';

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
export function articulate(phrase: Phrase, rate: number): Frames {
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
      return unknownPhone(phone);
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

function unknownPhone(phone: never): never {
  throw new Error(`internal error: unknown phone ${JSON.stringify(phone)}`);
}
