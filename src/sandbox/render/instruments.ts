import type { Random } from './random.ts';
import type { Note } from './score.ts';
import type { Vowel } from './syllables.ts';

export const sampleRate = 44_100;

const tableLength = 2048;

/** One period of a sum of harmonics. */
function makeTable(harmonics: readonly number[]): Float32Array {
  const table = new Float32Array(tableLength + 1);
  for (let index = 0; index <= tableLength; index += 1) {
    let value = 0;
    for (const [number, strength] of harmonics.entries()) {
      value += strength * Math.sin((2 * Math.PI * (number + 1) * index) / tableLength);
    }
    table[index] = value;
  }
  return table;
}

const padTable = makeTable([1, 0.42, 0.26, 0.12, 0.07, 0.04]);
const bassTable = makeTable([1, 0.5, 0.22, 0.14, 0.06]);
/** Many harmonics, for the vowels to be carved from. */
const glottalTable = makeTable(Array.from({ length: 24 }, (_, index) => 1 / (index + 1) ** 1.1));

function readTable(table: Float32Array, phase: number): number {
  const place = phase * tableLength;
  const index = place | 0;
  const left = table[index] ?? 0;
  return left + ((table[index + 1] ?? 0) - left) * (place - index);
}

/** The samples of one note, before gain and pan. */
export function soundNote(note: Note, random: Random): Float32Array {
  const frequency = 440 * 2 ** ((note.pitch - 69) / 12);
  const samples = Math.round(note.length * sampleRate);
  switch (note.voice) {
    case 'pad':
      return soundPad(frequency, samples);
    case 'bass':
      return soundBass(frequency, samples);
    case 'pluck':
      return soundPluck(frequency, samples, random);
    case 'sung':
      return soundVowel(frequency, samples, note.vowel);
    default:
      return note.voice satisfies never;
  }
}

function soundPad(frequency: number, samples: number): Float32Array {
  const sound = new Float32Array(samples);
  for (const detune of [0.997, 1.0035]) {
    let phase = detune < 1 ? 0 : 0.37;
    for (let index = 0; index < samples; index += 1) {
      const swell = Math.min(1, index / (0.35 * sampleRate)) * Math.min(1, (samples - index) / (0.3 * sampleRate));
      sound[index] = (sound[index] ?? 0) + readTable(padTable, phase) * swell;
      phase += (frequency * detune) / sampleRate;
      if (phase >= 1) phase -= 1;
    }
  }
  return sound;
}

function soundBass(frequency: number, samples: number): Float32Array {
  const sound = new Float32Array(samples);
  let phase = 0;
  for (let index = 0; index < samples; index += 1) {
    const seconds = index / sampleRate;
    const shape = Math.min(1, seconds / 0.006) * (0.45 + 0.55 * Math.exp(-4 * seconds));
    sound[index] = readTable(bassTable, phase) * shape * Math.min(1, (samples - index) / (0.03 * sampleRate));
    phase += frequency / sampleRate;
    if (phase >= 1) phase -= 1;
  }
  return sound;
}

/** A string: noise that goes round in a delay line and loses its edge (Karplus and Strong, 1983). */
function soundPluck(frequency: number, samples: number, random: Random): Float32Array {
  const period = sampleRate / frequency - 0.5;
  const length = Math.floor(period);
  const fraction = period - length;
  const line = new Float32Array(length + 1);
  let previous = 0;
  for (let index = 0; index <= length; index += 1) {
    previous = 0.45 * previous + 0.55 * (random() * 2 - 1);
    line[index] = previous;
  }
  // Noise with a mean would ring on as an offset.
  const mean = line.reduce((sum, value) => sum + value, 0) / line.length;
  for (let index = 0; index <= length; index += 1) line[index] = (line[index] ?? 0) - mean;
  const loss = 0.5 ** (1 / (frequency * 0.42));
  const sound = new Float32Array(samples);
  let at = 0;
  let last = 0;
  for (let index = 0; index < samples; index += 1) {
    const next = at === length ? 0 : at + 1;
    const value = (line[at] ?? 0) * (1 - fraction) + (line[next] ?? 0) * fraction;
    sound[index] = value * 1.6 * Math.min(1, (samples - index) / (0.05 * sampleRate));
    line[at] = loss * 0.5 * (value + last);
    last = value;
    at = next;
  }
  return sound;
}

/** Where the vowel's three resonances are, in Hz. */
const formants: Readonly<Record<Vowel, readonly [number, number, number]>> = {
  a: [760, 1250, 2600],
  e: [520, 1850, 2550],
  i: [320, 2250, 2950],
  o: [500, 900, 2500],
  u: [350, 750, 2350],
};

function soundVowel(frequency: number, samples: number, vowel: Vowel): Float32Array {
  const source = new Float32Array(samples);
  let phase = 0;
  for (let index = 0; index < samples; index += 1) {
    const seconds = index / sampleRate;
    const vibrato = 1 + 0.006 * Math.min(1, seconds / 0.35) * Math.sin(2 * Math.PI * 5.4 * seconds);
    const glide = 1 - 0.03 * Math.exp(-seconds / 0.025);
    source[index] = readTable(glottalTable, phase);
    phase += (frequency * vibrato * glide) / sampleRate;
    if (phase >= 1) phase -= 1;
  }
  const sound = new Float32Array(samples);
  for (const [number, formant] of formants[vowel].entries()) {
    resonate(source, sound, { frequency: formant, width: 90 + number * 50, gain: [1, 0.6, 0.28][number] ?? 0 });
  }
  for (let index = 0; index < samples; index += 1) {
    const rise = Math.min(1, index / (0.035 * sampleRate));
    const fall = Math.min(1, (samples - index) / (0.07 * sampleRate));
    sound[index] = ((sound[index] ?? 0) + 0.12 * (source[index] ?? 0)) * rise * fall;
  }
  return sound;
}

/** Adds what a band-pass of this width lets through. */
function resonate(
  source: Float32Array,
  sound: Float32Array,
  band: { frequency: number; width: number; gain: number },
): void {
  const angle = (2 * Math.PI * band.frequency) / sampleRate;
  const alpha = Math.sin(angle) * Math.sinh(((Math.LN2 / 2) * (band.width / band.frequency) * angle) / Math.sin(angle));
  const [b0, a1, a2] = [alpha / (1 + alpha), (-2 * Math.cos(angle)) / (1 + alpha), (1 - alpha) / (1 + alpha)];
  let [x1, x2, y1, y2] = [0, 0, 0, 0];
  for (let index = 0; index < source.length; index += 1) {
    const x = source[index] ?? 0;
    const y = b0 * (x - x2) - a1 * y1 - a2 * y2;
    x2 = x1;
    x1 = x;
    y2 = y1;
    y1 = y;
    sound[index] = (sound[index] ?? 0) + y * band.gain;
  }
}
