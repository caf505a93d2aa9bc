import { type Signal, signal } from '@preact/signals';

/** One sound of a group: a song may have several files. */
export interface Track {
  number: number;
  /** URL of its file, relative to the page. */
  url: string;
  address: string;
  /** In words, as it is read beside its number. */
  name: string;
  /** Its waveform, where the page data has one. */
  wave?: string;
}

/** Facts about a track, once it was read. */
export interface Listened {
  is: 'ready';
  seconds: number;
  /** 0 to 1, in equal stretches of its length; none where the sound cannot be read by scripts. */
  peaks: readonly number[];
  /** LUFS; -Infinity: silence. Absent where it cannot be measured. */
  loudness?: number;
}

export type TrackState = Listened | { is: 'reading' } | { is: 'failed'; why: string };

/** Plays the tracks of one group, one at a time, all at one position. */
export interface Deck {
  readonly tracks: Signal<readonly Track[]>;
  /** By url. */
  readonly states: Signal<ReadonlyMap<string, TrackState>>;
  readonly heard: Signal<string>;
  readonly isPlaying: Signal<boolean>;
  /** Present where loudness can be matched: whether it is. */
  readonly isMatched?: Signal<boolean>;
  /** Others have come, or gone; what is heard goes on. */
  setTracks(tracks: readonly Track[]): void;
  /** Gain in dB that a track is played with now. */
  gainOf(url: string): number;
  /** Seconds from the beginning. */
  position(): number;
  play(): void;
  pause(): void;
  /** Goes on with this track at the same position. */
  listenTo(url: string): void;
  seek(seconds: number): void;
  /** Stops, and gives back what it holds. */
  close(): void;
}

export function deckSignals(tracks: readonly Track[]) {
  return {
    tracks: signal(tracks),
    states: signal<ReadonlyMap<string, TrackState>>(new Map()),
    heard: signal(tracks[0]?.url ?? ''),
    isPlaying: signal(false),
  };
}
