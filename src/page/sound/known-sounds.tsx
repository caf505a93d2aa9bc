import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { createLoudnessMeter, findPeaks } from '../../ground/loudness.ts';
import { readWave } from '../../ground/wave.ts';
import { Nothing } from '../parts/media.tsx';

interface KnownSound {
  /** Peaks from 0 to 1 in equal intervals. */
  peaks: readonly number[];
  /** Loudness in LUFS, -Infinity for silence. */
  loudness?: number | undefined;
}

/** Sounds that this page has read, by URL. */
const known = signal<ReadonlyMap<string, KnownSound>>(new Map());
/** URLs of displayed sounds that are still to be read. */
const wanted = new Set<string>();
let isReading = false;
/** Number of intervals in a waveform, sample rate in Hz, and number of samples to measure before yielding to the page. */
const [stretches, rate, slice] = [600, 48_000, 1 << 17];

/** Reads the wanted sounds one after another, to leave network and processor for playback and pictures. */
async function readWanted(): Promise<void> {
  if (isReading) return;
  isReading = true;
  for (const url of wanted) {
    try {
      const sound = await readSound(url);
      known.value = new Map(known.peek()).set(url, sound);
    } catch {
      // The tile shows text instead of a waveform. The player reports why a sound cannot be played.
    }
    wanted.delete(url);
  }
  isReading = false;
}

async function readSound(url: string): Promise<KnownSound> {
  const answer = await fetch(url, { priority: 'low' });
  if (!answer.ok) throw new Error(answer.statusText);
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await answer.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, channel) => sound.getChannelData(channel));
  const meter = createLoudnessMeter(rate);
  for (let at = 0; at < sound.length; at += slice) {
    meter.add(channels.map((channel) => channel.subarray(at, at + slice)));
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { peaks: findPeaks(channels, stretches), loudness: meter.loudness() };
}

/** Loudness in LUFS of silence in the data of a gallery. */
const silence = -70;

/** Returns what is known of a sound: as the page has read it, or as the data of a gallery say. */
export function soundOf({ url = '', wave, lufs }: ReviewFile): KnownSound | undefined {
  if (wave === undefined) return known.value.get(url);
  return { peaks: readWave(wave), loudness: lufs === silence ? Number.NEGATIVE_INFINITY : lufs };
}

/** Reads a sound in the background, unless the data have it or the page is from disk, where scripts cannot read files. */
export function useSound(file: ReviewFile): KnownSound | undefined {
  const { url = '' } = file;
  const sound = soundOf(file);
  const isToRead = sound === undefined && url !== '' && location.protocol !== 'file:';
  useEffect(() => {
    if (!isToRead) return;
    wanted.add(url);
    void readWanted();
    return () => void wanted.delete(url);
  }, [url, isToRead]);
  return sound;
}

export function KnownWave({ file, words }: { file: ReviewFile; words: string }) {
  const sound = useSound(file);
  return sound === undefined ? <Nothing text={words} /> : <Wave peaks={sound.peaks} part={1} />;
}

/**
 * Waveform as mirrored bars, 100 units high and one unit wide per peak. `part`: share of the available width to fill.
 */
export function Wave({ peaks, part }: { peaks: readonly number[]; part: number }) {
  const path = useMemo(
    () => peaks.map((peak, index) => `M${index} ${50 - peak * 49}V${51 + peak * 49}`).join(''),
    [peaks],
  );
  return (
    <svg
      class="peaks"
      viewBox={`0 0 ${Math.max(1, peaks.length)} 100`}
      preserveAspectRatio="none"
      aria-hidden="true"
      style={{ width: `${part * 100}%` }}
    >
      <path d={path} />
    </svg>
  );
}
