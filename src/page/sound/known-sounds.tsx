import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { createLoudnessMeter, findPeaks } from '../../ground/loudness.ts';
import { readWave } from '../../ground/wave.ts';
import { Nothing } from '../parts/media.tsx';

interface KnownSound {
  /** Peak amplitudes from 0 to 1, one per interval; all intervals have the same length. */
  peaks: readonly number[];
  /** Loudness in LUFS, or -Infinity for silence. */
  loudness?: number | undefined;
}

const known = signal<ReadonlyMap<string, KnownSound>>(new Map());
/** URLs of visible sounds whose waveform is unknown. */
const displayed = new Set<string>();
/** URLs of sounds whose loudness is unknown. The page reads these sounds first. */
const unmeasured = new Set<string>();
let isReading = false;
/** Number of intervals in a waveform. */
const stretches = 600;
/** Number of samples to process before the page lets the browser handle events. */
const slice = 1 << 17;
/** Sample rates in Hz. Drawing a waveform needs a much lower rate than measuring loudness. */
const rates = { wave: 8000, loudness: 48_000 } as const;

async function readWanted(): Promise<void> {
  if (isReading) return;
  isReading = true;
  for (;;) {
    const [url] = [...unmeasured, ...displayed];
    if (url === undefined) break;
    const isMeasured = unmeasured.delete(url);
    displayed.delete(url);
    try {
      const sound = await readSound(url, isMeasured);
      known.value = new Map(known.peek()).set(url, { ...known.peek().get(url), ...sound });
    } catch {
      // If a sound cannot be read, its tile shows no waveform, and the player reports the error.
    }
  }
  isReading = false;
}

async function readSound(url: string, isMeasured: boolean): Promise<KnownSound> {
  const answer = await fetch(url, { priority: 'low' });
  if (!answer.ok) throw new Error(answer.statusText);
  const rate = isMeasured ? rates.loudness : rates.wave;
  const sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await answer.arrayBuffer());
  const channels = Array.from({ length: sound.numberOfChannels }, (_, channel) => sound.getChannelData(channel));
  const peaks = findPeaks(channels, stretches);
  if (!isMeasured) return { peaks };
  const meter = createLoudnessMeter(rate);
  for (let at = 0; at < sound.length; at += slice) {
    meter.add(channels.map((channel) => channel.subarray(at, at + slice)));
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { peaks, loudness: meter.loudness() };
}

/** Returns whether the page can read a sound. Browsers do not let a page that was opened from disk read files. */
function isReadable({ url = '', wave }: ReviewFile): boolean {
  return wave === undefined && url !== '' && location.protocol !== 'file:';
}

export function measure(file: ReviewFile): void {
  const { url = '' } = file;
  if (!isReadable(file) || known.peek().get(url)?.loudness !== undefined) return;
  unmeasured.add(url);
  void readWanted();
}

/** Loudness in LUFS that a gallery's data contains for silence. */
const silence = -70;

export function soundOf({ url = '', wave, lufs }: ReviewFile): KnownSound | undefined {
  if (wave === undefined) return known.value.get(url);
  return { peaks: readWave(wave), loudness: lufs === silence ? Number.NEGATIVE_INFINITY : lufs };
}

export function stopMeasuring({ url = '' }: ReviewFile): void {
  unmeasured.delete(url);
}

export function KnownWave({ file, words }: { file: ReviewFile; words: string }) {
  const { url = '' } = file;
  const sound = soundOf(file);
  const isToRead = sound === undefined && isReadable(file);
  useEffect(() => {
    if (!isToRead) return;
    displayed.add(url);
    void readWanted();
    return () => void displayed.delete(url);
  }, [url, isToRead]);
  return sound === undefined ? <Nothing text={words} /> : <Wave peaks={sound.peaks} part={1} />;
}

/**
 * Shows a waveform as mirrored bars, 100 units high and one unit wide per peak. `part`: share of the available width to
 * fill.
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
