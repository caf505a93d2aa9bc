import { sampleRate } from './instruments.ts';
import { recordScore } from './mix.ts';
import { composeScore, type Note } from './score.ts';
import type { Sound } from './sound.ts';

const bedSeconds = { least: 1, most: 20 } as const;
/** Against a song. */
const level = 0.4;

/** Quiet chords to lie under a film: a song without its drums and its melody, cut to length. Stereo. */
export function recordBed(seed: string, seconds: number): Sound {
  const score = composeScore(`bed ${seed}`, 'calm ambient', '');
  const period = Math.min(bedSeconds.most, Math.max(bedSeconds.least, score.seconds));
  const notes: Note[] = [];
  for (let shift = 0; shift < seconds; shift += period) {
    for (const note of score.notes) {
      const start = note.start + shift;
      if (start < seconds && note.voice !== 'sung') notes.push({ ...note, start });
    }
  }
  const { channels } = recordScore({ seconds, notes, hits: [] }, seed);
  return { sampleRate, channels: channels.map((channel) => channel.map((value) => Math.round(value * level))) };
}
