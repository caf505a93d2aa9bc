import { sampleRate, soundNote } from './instruments.ts';
import { createRandom, type Random } from './random.ts';
import type { Hit, Note, Score } from './score.ts';
import type { Sound } from './sound.ts';

interface Track {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** How much of each voice is heard through the room. */
const roomShare = { pad: 0.35, bass: 0, pluck: 0.4, sung: 0.45 } as const;
const drumRoomShare = { kick: 0, snare: 0.18, hat: 0.06 } as const;

/** Stereo. */
export function recordScore(score: Score, seed: string): Sound {
  const samples = Math.round(score.seconds * sampleRate);
  const dry: Track = { left: new Float32Array(samples), right: new Float32Array(samples) };
  const room = new Float32Array(samples);
  const random = createRandom(`sound ${seed}`);
  for (const note of score.notes) {
    addSound({ dry, room }, soundNote(note, random), { ...note, share: roomShare[note.voice] });
  }
  for (const hit of score.hits) {
    addSound({ dry, room }, soundHit(hit.drum, random), { ...placeHit(hit), share: drumRoomShare[hit.drum] });
  }
  addRoom(dry.left, room, [1557, 1617, 1491, 1422]);
  addRoom(dry.right, room, [1580, 1640, 1514, 1445]);
  return finish(dry);
}

function placeHit({ drum, start, gain }: Hit) {
  return { start, gain, pan: drum === 'hat' ? 0.25 : 0 };
}

function addSound(
  tracks: { dry: Track; room: Float32Array },
  sound: Float32Array,
  place: Pick<Note, 'start' | 'gain' | 'pan'> & { share: number },
): void {
  const { dry, room } = tracks;
  const from = Math.round(place.start * sampleRate);
  const angle = ((place.pan + 1) * Math.PI) / 4;
  const leftGain = place.gain * Math.cos(angle) * Math.SQRT2;
  const rightGain = place.gain * Math.sin(angle) * Math.SQRT2;
  const roomGain = place.gain * place.share;
  const end = Math.min(sound.length, room.length - from);
  for (let index = 0; index < end; index += 1) {
    const value = sound[index] ?? 0;
    const at = from + index;
    dry.left[at] = (dry.left[at] ?? 0) + value * leftGain;
    dry.right[at] = (dry.right[at] ?? 0) + value * rightGain;
    room[at] = (room[at] ?? 0) + value * roomGain;
  }
}

/** A small hall: four echoes that feed themselves, then two that blur (Schroeder, 1962). */
function addRoom(track: Float32Array, room: Float32Array, echoes: readonly number[]): void {
  const wet = new Float32Array(room.length);
  for (const delay of echoes) {
    const line = new Float32Array(delay);
    let smooth = 0;
    for (let index = 0, at = 0; index < room.length; index += 1) {
      const echo = line[at] ?? 0;
      smooth += (echo - smooth) * 0.7;
      line[at] = (room[index] ?? 0) + smooth * 0.8;
      wet[index] = (wet[index] ?? 0) + echo * 0.25;
      at = at + 1 === delay ? 0 : at + 1;
    }
  }
  for (const delay of [556, 341]) {
    const line = new Float32Array(delay);
    for (let index = 0, at = 0; index < wet.length; index += 1) {
      const late = line[at] ?? 0;
      const now = wet[index] ?? 0;
      line[at] = now + late * 0.5;
      wet[index] = late - now * 0.5;
      at = at + 1 === delay ? 0 : at + 1;
    }
  }
  for (let index = 0; index < track.length; index += 1) track[index] = (track[index] ?? 0) + (wet[index] ?? 0);
}

/** To one loudness for every song, with round peaks and a fade at the end. */
function finish({ left, right }: Track): Sound {
  let power = 0;
  for (let index = 0; index < left.length; index += 1) power += (left[index] ?? 0) ** 2 + (right[index] ?? 0) ** 2;
  const loudness = 0.17 / Math.max(1e-6, Math.sqrt(power / (2 * left.length)));
  return { sampleRate, channels: [finishChannel(left, loudness), finishChannel(right, loudness)] };
}

function finishChannel(channel: Float32Array, loudness: number): Int16Array {
  const fade = 1.2 * sampleRate;
  const samples = new Int16Array(channel.length);
  for (let index = 0; index < channel.length; index += 1) {
    const level = Math.min(1, (channel.length - 1 - index) / fade);
    samples[index] = Math.round(Math.tanh((channel[index] ?? 0) * loudness) * level * 31_000);
  }
  return samples;
}

/** The samples of one hit, before gain. */
function soundHit(drum: Hit['drum'], random: Random): Float32Array {
  switch (drum) {
    case 'kick':
      return soundKick();
    case 'snare':
      return soundSnare(random);
    case 'hat':
      return soundHat(random);
    default:
      return drum satisfies never;
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
