import { pick, type Random, wholeBetween } from './random.ts';

/** The wishes of a style prompt, as far as they are understood. The rest is drawn by lot. */
export interface Style {
  readonly beatsPerMinute: number;
  readonly mode: 'major' | 'minor';
  readonly drums: 'full' | 'soft' | 'none';
  /** MIDI number of the key's root, in the octave of the bass. */
  readonly root: number;
}

const slow = /\b(slow|ballad|ambient|lullaby|lo-?fi|chill|calm|meditat\w*|dream\w*|gentle|soft)\b/i;
const fast = /\b(fast|dance|techno|house|punk|rock|upbeat|energetic|drum and bass|driving|edm)\b/i;
const sad = /\b(minor|sad|dark|melanchol\w*|moody|somber|lonely|noir|gothic|trap)\b/i;
const glad = /\b(major|happy|bright|joyful|cheerful|sunny|uplifting|warm)\b/i;
const bare = /\b(ambient|lullaby|a ?cappella|solo piano|no drums|meditat\w*)\b/i;

export function readStyle(prompt: string, random: Random): Style {
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
