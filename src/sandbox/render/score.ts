import { createRandom, pick, type Random, wholeBetween } from './random.ts';
import { readSyllables, type Syllable, type Vowel } from './syllables.ts';

/** The wishes of a style prompt, as far as they are understood. The rest is drawn by lot. */
interface Style {
  readonly beatsPerMinute: number;
  readonly mode: 'major' | 'minor';
  readonly drums: 'full' | 'soft' | 'none';
  /** MIDI number of the key's root, in the octave of the bass. */
  readonly root: number;
}

/** A song before it sounds. Times in seconds, pitches as MIDI numbers. */
export interface Score {
  readonly seconds: number;
  readonly notes: readonly Note[];
  readonly hits: readonly Hit[];
}

export interface Note {
  readonly voice: 'pad' | 'bass' | 'pluck' | 'sung';
  readonly start: number;
  readonly length: number;
  readonly pitch: number;
  readonly gain: number;
  /** −1 left, 1 right. */
  readonly pan: number;
  readonly vowel: Vowel;
}

export interface Hit {
  readonly drum: 'kick' | 'snare' | 'hat';
  readonly start: number;
  readonly gain: number;
}

const beatsPerBar = 4;
const tailSeconds = 1.8;
const scales = { major: [0, 2, 4, 5, 7, 9, 11], minor: [0, 2, 3, 5, 7, 8, 10] } as const;
/** Degrees of the scale, counted from 0. */
const progressions: Readonly<Record<Style['mode'], readonly (readonly number[])[]>> = {
  major: [
    [0, 4, 5, 3],
    [0, 5, 3, 4],
    [3, 0, 4, 5],
    [0, 2, 3, 4],
  ],
  minor: [
    [0, 5, 2, 6],
    [0, 3, 5, 4],
    [5, 6, 0, 0],
    [0, 6, 5, 6],
  ],
};

/** Everything that a part of the song needs to know about the whole. */
interface Frame {
  readonly style: Style;
  readonly random: Random;
  readonly bars: number;
  readonly beat: number;
  readonly chords: readonly number[];
  readonly pitchOf: (degree: number) => number;
}

/** 12 to 20 seconds: an intro bar, the song, and a last chord. */
export function composeScore(seed: string, style: string, lyrics: string): Score {
  const random = createRandom(`song ${seed}`);
  const frame = frameOf(readStyle(style, random), random);
  const syllables = readSyllables(lyrics);
  const melody = syllables.length > 0 ? sing(frame, syllables) : playLead(frame);
  return {
    seconds: (frame.bars * beatsPerBar - 2) * frame.beat + tailSeconds,
    notes: [...playChords(frame), ...melody],
    hits: drum(frame),
  };
}

function frameOf(style: Style, random: Random): Frame {
  const beat = 60 / style.beatsPerMinute;
  const scale = scales[style.mode];
  return {
    style,
    random,
    beat,
    bars: 2 * Math.max(2, Math.round(15 / (beat * beatsPerBar) / 2)),
    chords: pick(random, progressions[style.mode]),
    pitchOf: (degree) => style.root + 12 * Math.floor(degree / 7) + (scale[((degree % 7) + 7) % 7] ?? 0),
  };
}

function chordOf(frame: Frame, bar: number): number {
  // The last bar comes home.
  return bar === frame.bars - 1 ? 0 : (frame.chords[bar % frame.chords.length] ?? 0);
}

function playChords(frame: Frame): Note[] {
  const { beat, bars, pitchOf, random } = frame;
  const notes: Note[] = [];
  const arpeggio = pick(random, [
    [0, 2, 4, 7, 4, 2, 4, 2],
    [0, 4, 2, 7, 0, 4, 9, 7],
    [7, 4, 2, 0, 2, 4, 7, 9],
    [0, 2, 4, 2, 7, 4, 2, 4],
  ]);
  for (let bar = 0; bar < bars; bar += 1) {
    const chord = chordOf(frame, bar);
    const start = bar * beatsPerBar * beat;
    const last = bar === bars - 1;
    // The last chord is cut to half a bar and rings on.
    const barLength = last ? 2 * beat + tailSeconds : beatsPerBar * beat + 0.12;
    for (const [index, degree] of [0, 2, 4, 8].entries()) {
      const pitch = pitchOf(chord + degree) + 12;
      notes.push({ voice: 'pad', start, length: barLength, pitch, gain: 0.09, pan: index * 0.4 - 0.6, vowel: 'a' });
    }
    for (let eighth = 0; eighth < (last ? 1 : 8); eighth += 1) {
      const pitch = pitchOf(chord + (arpeggio[eighth] ?? 0)) + 24;
      const gain = eighth % 2 === 0 ? 0.17 : 0.12;
      const pan = eighth % 2 === 0 ? -0.45 : 0.45;
      const noteStart = start + (eighth * beat) / 2;
      notes.push({ voice: 'pluck', start: noteStart, length: beat * 1.5, pitch, gain, pan, vowel: 'a' });
    }
    if (bar === 0) continue;
    for (const [offset, length] of last ? [[0, 3] as const] : bassRhythm(bar)) {
      const noteStart = start + offset * beat;
      notes.push({
        voice: 'bass',
        start: noteStart,
        length: length * beat,
        pitch: pitchOf(chord),
        gain: 0.34,
        pan: 0,
        vowel: 'a',
      });
    }
  }
  return notes;
}

function bassRhythm(bar: number): readonly (readonly [offset: number, length: number])[] {
  return bar % 2 === 0
    ? [
        [0, 1.4],
        [1.5, 0.5],
        [2, 1.4],
        [3.5, 0.5],
      ]
    : [
        [0, 1.4],
        [1.5, 0.9],
        [2.5, 0.9],
        [3.5, 0.5],
      ];
}

/** One note for each syllable: chord notes on the beat, steps between; a line's last syllable is held. */
function sing(frame: Frame, syllables: readonly Syllable[]): Note[] {
  const { beat, bars, pitchOf, random } = frame;
  const notes: Note[] = [];
  const end = (bars - 1) * 8;
  let degree = 9;
  let eighth = 8;
  for (const { vowel, lastOfLine } of syllables) {
    if (eighth >= end) break;
    const chord = chordOf(frame, Math.floor(eighth / 8));
    degree = nextDegree(degree, chord, { step: 'uoaei'.indexOf(vowel) - 2, onBeat: eighth % 2 === 0 });
    const toBarEnd = 8 - (eighth % 8);
    const eighths = lastOfLine ? Math.max(2, Math.min(4, toBarEnd)) : eighth % 2 === 0 && random() < 0.35 ? 2 : 1;
    const start = (eighth * beat) / 2;
    const length = (eighths * beat * 0.96) / 2;
    notes.push({ voice: 'sung', start, length, pitch: pitchOf(degree) + 12, gain: 0.3, pan: 0.05, vowel });
    // The next line starts on a beat, after a breath.
    eighth += lastOfLine ? eighths + (eighths % 2) + (random() < 0.5 ? 2 : 0) : eighths;
  }
  return notes;
}

/** Without words: a motif that returns, moved to each chord. */
function playLead(frame: Frame): Note[] {
  const { beat, bars, pitchOf, random } = frame;
  const motif = Array.from({ length: 8 }, (_, index) => ({
    step: Math.floor(random() * 5) - 2,
    rests: index > 0 && random() < 0.35,
  }));
  const notes: Note[] = [];
  let degree = 11;
  for (let bar = 1; bar < bars - 1; bar += 1) {
    for (const [eighth, { step, rests }] of motif.entries()) {
      if (rests || (bar % 4 === 3 && eighth > 5)) continue;
      degree = nextDegree(degree, chordOf(frame, bar), { step, onBeat: eighth % 2 === 0 });
      const start = (bar * beatsPerBar + eighth / 2) * beat;
      const pitch = pitchOf(degree) + 24;
      notes.push({ voice: 'pluck', start, length: beat * 2, pitch, gain: 0.34, pan: 0.12, vowel: 'a' });
    }
  }
  return notes;
}

function nextDegree(degree: number, chord: number, move: { step: number; onBeat: boolean }): number {
  const moved = Math.min(14, Math.max(5, degree + move.step));
  if (!move.onBeat) return moved;
  const tones = [-7, 0, 7, 14].flatMap((octave) => [0, 2, 4].map((tone) => chord + tone + octave));
  return tones.reduce((best, tone) => (Math.abs(tone - moved) < Math.abs(best - moved) ? tone : best), chord + 7);
}

function drum(frame: Frame): Hit[] {
  const { beat, bars, style } = frame;
  const hits: Hit[] = [];
  if (style.drums === 'none') return hits;
  const soft = style.drums === 'soft' ? 0.6 : 1;
  for (let bar = 1; bar < bars; bar += 1) {
    const start = bar * beatsPerBar * beat;
    const add = (drumName: Hit['drum'], atBeat: number, gain: number) =>
      hits.push({ drum: drumName, start: start + atBeat * beat, gain: gain * soft });
    add('kick', 0, 0.75);
    if (bar === bars - 1) break;
    add('kick', bar % 2 === 0 ? 2.5 : 2, 0.6);
    add('snare', 1, 0.42);
    add('snare', 3, 0.42);
    for (let eighth = 0; eighth < 8; eighth += 1) add('hat', eighth / 2, eighth % 2 === 0 ? 0.1 : 0.17);
    if (bar % 4 === 0) for (const fill of [3.25, 3.5, 3.75]) add('snare', fill, 0.2 + 0.2 * (fill - 3));
  }
  return hits;
}

const slow = /\b(slow|ballad|ambient|lullaby|lo-?fi|chill|calm|meditat\w*|dream\w*|gentle|soft)\b/i;
const fast = /\b(fast|dance|techno|house|punk|rock|upbeat|energetic|drum and bass|driving|edm)\b/i;
const sad = /\b(minor|sad|dark|melanchol\w*|moody|somber|lonely|noir|gothic|trap)\b/i;
const glad = /\b(major|happy|bright|joyful|cheerful|sunny|uplifting|warm)\b/i;
const bare = /\b(ambient|lullaby|a ?cappella|solo piano|no drums|meditat\w*)\b/i;

function readStyle(prompt: string, random: Random): Style {
  const drawnTempo = wholeBetween(random, 88, 126);
  const drawnMode = pick(random, ['major', 'minor'] as const);
  const root = wholeBetween(random, 36, 45);
  const asked = Number(/\b(\d{2,3})\s*bpm\b/i.exec(prompt)?.[1]);
  let beatsPerMinute = drawnTempo;
  if (slow.test(prompt)) beatsPerMinute = 66 + (drawnTempo % 18);
  if (fast.test(prompt)) beatsPerMinute = 120 + (drawnTempo % 16);
  // Counted double or half where the song would be over too early or too late.
  if (asked >= 30 && asked <= 300) beatsPerMinute = asked < 60 ? asked * 2 : asked > 200 ? asked / 2 : asked;
  return {
    beatsPerMinute,
    mode: sad.test(prompt) ? 'minor' : glad.test(prompt) ? 'major' : drawnMode,
    drums: bare.test(prompt) ? 'none' : slow.test(prompt) ? 'soft' : 'full',
    root,
  };
}
