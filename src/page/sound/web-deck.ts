import { effect, signal } from '@preact/signals';
import { createLoudnessMeter, findPeaks, matchLoudness } from '../../ground/loudness.ts';
import { type Deck, deckSignals, type Track } from './deck.ts';
import { noteWave } from './known-wave.tsx';

/** Crossfade between tracks in seconds: long enough not to click, too short for an audible overlap. */
const fade = 0.012;
/** Delay in seconds between a call and its first sample, so that start and stop are scheduled in time. */
const lead = 0.01;
const peakCount = 600;
/** Number of samples to measure before yielding to the page. */
const slice = 1 << 17;
/**
 * Memory limit for decoded sound, which takes 23 MB a minute. The least recently played file is dropped, and read again
 * on demand.
 */
const mostBytes = 400_000_000;

interface Voice {
  url: string;
  source: AudioBufferSourceNode;
  gain: GainNode;
}

/**
 * Opens a deck on the Web Audio API: it decodes all tracks, and switches between them sample-accurately at equal
 * loudness. It works only on pages from a server, because pages from disk cannot read their files.
 */
export function openWebDeck(tracks: readonly Track[]): Deck {
  const shared = deckSignals(tracks);
  const { states, heard, isPlaying } = shared;
  const isMatched = signal(true);
  const context = new AudioContext();
  const decoded = new Map<string, AudioBuffer>();
  const underWay = new Map<string, Promise<AudioBuffer>>();
  const stop = new AbortController();
  let voice: Voice | undefined;
  /** Queue of measurements. They run one after another to leave processor time for playback. */
  let measured = Promise.resolve();
  /** Position in the track at the context time `since`, in seconds. */
  let offset = 0;
  let since = 0;
  /**
   * Number of the last request to play. When several arrive while a file is read, only the last one starts playback.
   */
  let begun = 0;

  const lengthOf = (url: string) => {
    const state = states.value.get(url);
    return state?.is === 'ready' ? state.seconds : Number.POSITIVE_INFINITY;
  };
  const position = () => (voice === undefined ? offset : Math.max(0, offset + context.currentTime - since));

  const gains = () => {
    const all = shared.tracks.value;
    const loudnesses = all.map(({ url }) => {
      const state = states.value.get(url);
      return state?.is === 'ready' ? (state.loudness ?? Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY;
    });
    const matched = matchLoudness(loudnesses);
    return new Map(all.map(({ url }, index) => [url, isMatched.value ? (matched[index] ?? 1) : 1]));
  };

  const decode = async (url: string) => {
    const answer = await fetch(url, { signal: stop.signal });
    if (!answer.ok) throw new Error(`the file could not be fetched (${answer.status})`);
    const bytes = await answer.arrayBuffer();
    const buffer = await context.decodeAudioData(bytes).catch(() => {
      throw new Error('this browser cannot decode it');
    });
    decoded.set(url, buffer);
    forgetOldest(decoded, heard.value, url);
    return buffer;
  };
  const read = async (url: string): Promise<AudioBuffer> => {
    const kept = decoded.get(url) ?? underWay.get(url);
    if (kept !== undefined) return kept;
    const reading = decode(url).finally(() => underWay.delete(url));
    underWay.set(url, reading);
    return reading;
  };

  const stopVoice = (at: number) => {
    if (voice === undefined) return;
    const { source, gain } = voice;
    source.onended = null;
    gain.gain.cancelScheduledValues(at);
    gain.gain.setValueAtTime(gain.gain.value, at);
    gain.gain.linearRampToValueAtTime(0, at + fade);
    source.stop(at + fade);
    voice = undefined;
  };

  /** Starts the current track at a position, and fades the previous one out. */
  const start = (buffer: AudioBuffer, url: string, from: number) => {
    const at = context.currentTime + lead;
    stopVoice(at);
    offset = from;
    if (from >= buffer.duration) {
      isPlaying.value = false;
      return;
    }
    const source = new AudioBufferSourceNode(context, { buffer });
    const gain = new GainNode(context, { gain: 0 });
    gain.gain.setValueAtTime(0, at);
    gain.gain.linearRampToValueAtTime(gains().get(url) ?? 1, at + fade);
    source.connect(gain).connect(context.destination);
    source.onended = () => {
      offset = 0;
      voice = undefined;
      isPlaying.value = false;
    };
    source.start(at, from);
    voice = { url, source, gain };
    since = at;
  };

  const measure = async ({ url }: Track) => {
    if (stop.signal.aborted) return;
    const state = await read(url).then(
      async (buffer) => ({
        is: 'ready' as const,
        seconds: buffer.duration,
        peaks: findPeaks(channelsOf(buffer), peakCount),
        loudness: await measureLoudness(buffer, stop.signal),
      }),
      (failure: unknown) => ({
        is: 'failed' as const,
        why: failure instanceof Error ? failure.message : String(failure),
      }),
    );
    if (state.is === 'ready') noteWave(url, state.peaks);
    if (!stop.signal.aborted) states.value = new Map(states.value).set(url, state);
  };

  const setTracks = (all: readonly Track[]) => {
    shared.tracks.value = all;
    const fresh = all.filter(({ url }) => !states.value.has(url));
    if (fresh.length === 0) return;
    states.value = new Map([...states.value, ...fresh.map(({ url }) => [url, { is: 'reading' }] as const)]);
    measured = fresh.reduce((before, track) => before.then(() => measure(track)), measured);
  };
  setTracks(tracks);

  // Gains change when another track has been measured, or when loudness matching is switched.
  const endGains = effect(() => {
    const now = gains();
    const gain = voice && now.get(voice.url);
    if (gain !== undefined) voice?.gain.gain.setTargetAtTime(gain, context.currentTime + lead + fade, 0.05);
  });

  const hold = () => {
    offset = position();
    stopVoice(context.currentTime);
    isPlaying.value = false;
  };
  /** Starts the current track when it is decoded; the previous track plays on until then. */
  const begin = () => {
    const url = heard.value;
    begun += 1;
    const own = begun;
    const isWanted = () => begun === own && isPlaying.value && !stop.signal.aborted;
    void read(url).then(
      (buffer) => {
        if (isWanted()) start(buffer, url, voice === undefined ? offset : position() + lead);
      },
      () => {
        // The track's state has the reason.
        if (isWanted()) hold();
      },
    );
  };

  return {
    ...shared,
    isMatched,
    setTracks,
    gainOf: (url) => 20 * Math.log10(gains().get(url) ?? 1),
    position,
    play: () => {
      void context.resume();
      if (offset >= lengthOf(heard.value)) offset = 0;
      isPlaying.value = true;
      begin();
    },
    pause: hold,
    listenTo: (url) => {
      if (url === heard.value) return;
      heard.value = url;
      if (isPlaying.value) begin();
    },
    seek: (seconds) => {
      const to = Math.min(Math.max(0, seconds), lengthOf(heard.value));
      const buffer = decoded.get(heard.value);
      if (isPlaying.value && buffer !== undefined) {
        start(buffer, heard.value, to);
        return;
      }
      stopVoice(context.currentTime);
      offset = to;
    },
    close: () => {
      stop.abort();
      endGains();
      void context.close();
    },
  };
}

function channelsOf(buffer: AudioBuffer): Float32Array[] {
  return Array.from({ length: buffer.numberOfChannels }, (_, channel) => buffer.getChannelData(channel));
}

async function measureLoudness(buffer: AudioBuffer, stop: AbortSignal): Promise<number> {
  const meter = createLoudnessMeter(buffer.sampleRate);
  const channels = channelsOf(buffer);
  for (let at = 0; at < buffer.length && !stop.aborted; at += slice) {
    meter.add(channels.map((channel) => channel.subarray(at, at + slice)));
    await new Promise((resolve) => setTimeout(resolve));
  }
  return meter.loudness();
}

function forgetOldest(decoded: Map<string, AudioBuffer>, ...kept: string[]): void {
  const size = (buffer: AudioBuffer) => buffer.length * buffer.numberOfChannels * 4;
  let bytes = [...decoded.values()].reduce((sum, buffer) => sum + size(buffer), 0);
  for (const [url, buffer] of decoded) {
    if (bytes <= mostBytes) return;
    if (kept.includes(url)) continue;
    decoded.delete(url);
    bytes -= size(buffer);
  }
}
