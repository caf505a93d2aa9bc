import { computed, effect, signal } from '@preact/signals';
import { matchLoudness } from '../../ground/loudness.ts';
import { measure, soundOf, stopMeasuring } from './known-sounds.tsx';
import type { Track } from './tracks.ts';

/** Length of a track in seconds. Undefined if the browser cannot play the track. */
type Length = number | undefined;

export class Deck {
  readonly tracks = signal<readonly Track[]>([]);
  readonly lengths = signal<ReadonlyMap<string, Length>>(new Map());
  readonly heard;
  readonly isPlaying = signal(false);
  /** Volumes of the tracks, from 0 to 1, at which all tracks are as loud as the quietest track. */
  readonly gains = computed(() => {
    const urls = this.tracks.value.map(({ url }) => url);
    const matched = matchLoudness(
      this.tracks.value.map(({ file }) => soundOf(file)?.loudness ?? Number.NEGATIVE_INFINITY),
    );
    return new Map(urls.map((url, index) => [url, matched[index] ?? 1]));
  });
  readonly #players = new Map<string, HTMLAudioElement>();
  readonly #endGains;
  #offset = 0;

  constructor(tracks: readonly Track[]) {
    this.heard = signal(tracks[0]?.url ?? '');
    this.setTracks(tracks);
    this.#endGains = effect(() => {
      for (const [url, gain] of this.gains.value) {
        const audio = this.#players.get(url);
        if (audio !== undefined) audio.volume = Math.min(1, gain);
      }
    });
  }

  setTracks(tracks: readonly Track[]): void {
    for (const { url, file } of tracks) {
      if (!this.#players.has(url)) this.#open(url);
      measure(file);
    }
    this.tracks.value = tracks;
  }

  #open(url: string): void {
    const audio = new Audio();
    // Loading six whole files would use all connections of the browser, and delay verdicts.
    audio.preload = 'metadata';
    audio.src = url;
    const know = (length: Length) => {
      this.lengths.value = new Map(this.lengths.value).set(url, length);
    };
    audio.addEventListener('loadedmetadata', () => know(audio.duration));
    audio.addEventListener('error', () => know(undefined));
    audio.addEventListener('ended', () => this.heard.value === url && this.#stop(0));
    this.#players.set(url, audio);
  }

  get #player(): HTMLAudioElement | undefined {
    return this.#players.get(this.heard.value);
  }

  position(): number {
    return this.isPlaying.value ? (this.#player?.currentTime ?? this.#offset) : this.#offset;
  }

  play(): void {
    this.#start(this.#offset >= (this.#player?.duration ?? 0) ? 0 : this.#offset);
  }

  #start(from: number): void {
    this.#stop(from);
    const audio = this.#player;
    if (audio === undefined || from >= audio.duration) return;
    this.isPlaying.value = true;
    audio.currentTime = from;
    // The browser may refuse to play. A switch to another track also rejects the promise.
    audio.play().catch(() => this.#player === audio && audio.paused && this.#stop(from));
  }

  #stop(at: number): void {
    for (const audio of this.#players.values()) audio.pause();
    this.#offset = at;
    this.isPlaying.value = false;
  }

  pause(): void {
    this.#stop(this.position());
  }

  listenTo(url: string): void {
    if (url === this.heard.value) return;
    const [from, goesOn] = [this.position(), this.isPlaying.value];
    this.#stop(from);
    // Without a source, the element releases its connection.
    this.#player?.load();
    this.heard.value = url;
    if (goesOn) this.#start(from);
  }

  seek(seconds: number): void {
    const to = Math.min(Math.max(0, seconds), this.lengths.value.get(this.heard.value) ?? seconds);
    if (this.isPlaying.value) this.#start(to);
    else this.#offset = to;
  }

  close(): void {
    this.#stop(0);
    this.#endGains();
    for (const { file } of this.tracks.value) stopMeasuring(file);
    for (const audio of this.#players.values()) {
      audio.removeAttribute('src');
      audio.load();
    }
  }
}
