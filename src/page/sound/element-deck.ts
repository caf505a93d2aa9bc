import { readWave } from '../../ground/wave.ts';
import { type Deck, deckSignals, type Track, type TrackState } from './deck.ts';

/** Opens a deck on `audio` elements, for pages from disk, whose scripts cannot read files. Loudness is not matched. */
export function openElementDeck(tracks: readonly Track[]): Deck {
  const shared = deckSignals(tracks);
  const { states, heard, isPlaying } = shared;
  const players = new Map<string, HTMLAudioElement>();
  let offset = 0;

  const player = () => players.get(heard.value);
  const position = () => (isPlaying.value ? (player()?.currentTime ?? offset) : offset);
  const learn = (url: string, state: TrackState) => {
    states.value = new Map(states.value).set(url, state);
  };
  const open = ({ url, wave = '' }: Track) => {
    const audio = new Audio();
    audio.preload = 'metadata';
    audio.addEventListener('loadedmetadata', () =>
      learn(url, { is: 'ready', seconds: audio.duration, peaks: readWave(wave) }),
    );
    audio.addEventListener('error', () => learn(url, { is: 'failed', why: 'this browser cannot read it' }));
    audio.addEventListener('ended', () => {
      if (heard.value !== url) return;
      offset = 0;
      isPlaying.value = false;
    });
    audio.src = url;
    players.set(url, audio);
    learn(url, { is: 'reading' });
  };
  const pauseAll = () => {
    for (const audio of players.values()) audio.pause();
  };
  /** Starts the current track at a position. A track that is shorter stops at its end. */
  const start = (from: number) => {
    offset = from;
    const audio = player();
    isPlaying.value = audio !== undefined && !(from >= audio.duration);
    if (audio === undefined || !isPlaying.value) return;
    audio.currentTime = from;
    void audio.play().catch(() => {
      isPlaying.value = false;
    });
  };
  const setTracks = (all: readonly Track[]) => {
    shared.tracks.value = all;
    for (const track of all) if (!players.has(track.url)) open(track);
  };
  setTracks(tracks);

  return {
    ...shared,
    setTracks,
    gainOf: () => 0,
    position,
    play: () => start(offset >= (player()?.duration ?? 0) ? 0 : offset),
    pause: () => {
      offset = position();
      pauseAll();
      isPlaying.value = false;
    },
    listenTo: (url) => {
      if (url === heard.value) return;
      const from = position();
      pauseAll();
      heard.value = url;
      if (isPlaying.value) start(from);
    },
    seek: (seconds) => {
      const to = Math.max(0, seconds);
      if (isPlaying.value) start(to);
      else offset = to;
    },
    close: () => {
      pauseAll();
      isPlaying.value = false;
      for (const audio of players.values()) audio.removeAttribute('src');
    },
  };
}
