import { type Signal, signal } from '@preact/signals';

/** One audio file of a group; an asset such as a song may have several. */
export interface Track {
  number: number;
  /** URL of its file, relative to the page. */
  url: string;
  address: string;
  name: string;
  /** Encoded waveform, if the page data has one. */
  wave?: string;
}

export interface Listened {
  is: 'ready';
  seconds: number;
  /** Peaks from 0 to 1 in equal intervals of the track; empty if scripts cannot read the file. */
  peaks: readonly number[];
  /** Loudness in LUFS, -Infinity for silence; omitted if it cannot be measured. */
  loudness?: number;
}

export type TrackState = Listened | { is: 'reading' } | { is: 'failed'; why: string };

/** Player for the tracks of one group: one is audible at a time, and all share one position. */
export interface Deck {
  readonly tracks: Signal<readonly Track[]>;
  readonly states: Signal<ReadonlyMap<string, TrackState>>;
  readonly heard: Signal<string>;
  readonly isPlaying: Signal<boolean>;
  /** Whether loudness is matched; omitted if the deck cannot match it. */
  readonly isMatched?: Signal<boolean>;
  /** Replaces the list of tracks. The audible track plays on. */
  setTracks(tracks: readonly Track[]): void;
  /** Current gain of a track in dB. */
  gainOf(url: string): number;
  /** Current position in seconds. */
  position(): number;
  play(): void;
  pause(): void;
  /** Switches to this track at the same position. */
  listenTo(url: string): void;
  seek(seconds: number): void;
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
