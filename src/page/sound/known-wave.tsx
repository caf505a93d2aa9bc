import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { findPeaks } from '../../ground/loudness.ts';
import { readWave } from '../../ground/wave.ts';
import { Nothing } from '../parts/media.tsx';

/** Known waveforms by URL: peaks from 0 to 1 in equal intervals. They are kept after their deck is closed. */
const known = signal<ReadonlyMap<string, readonly number[]>>(new Map());

export function noteWave(url: string, peaks: readonly number[]): void {
  if (peaks.length > 0 && known.peek().get(url) !== peaks) known.value = new Map(known.peek()).set(url, peaks);
}

/** URLs of displayed sounds whose waveforms are still to be read. */
const wanted = new Set<string>();
let isReading = false;
/** Number of intervals in a small waveform, and a sample rate in Hz that suffices for it. */
const [stretches, rate] = [200, 8000];

/** Reads the wanted waveforms one after another, to leave network and processor for playback and pictures. */
async function readWanted(): Promise<void> {
  if (isReading) return;
  isReading = true;
  for (const url of wanted) {
    try {
      const answer = await fetch(url, { priority: 'low' });
      const context = new OfflineAudioContext(1, 1, rate);
      const sound = answer.ok ? await context.decodeAudioData(await answer.arrayBuffer()) : undefined;
      if (sound !== undefined && !known.peek().has(url)) noteWave(url, findPeaks([sound.getChannelData(0)], stretches));
    } catch {
      // The tile shows text instead of a waveform. The player reports why a sound cannot be played.
    }
    wanted.delete(url);
  }
  isReading = false;
}

export function KnownWave({ file, words }: { file: ReviewFile; words: string }) {
  const { url = '', wave } = file;
  const peaks = known.value.get(url) ?? (wave === undefined ? undefined : readWave(wave));
  const isToRead = peaks === undefined && url !== '' && location.protocol !== 'file:';
  useEffect(() => {
    if (!isToRead) return;
    wanted.add(url);
    void readWanted();
    return () => void wanted.delete(url);
  }, [url, isToRead]);
  return peaks === undefined ? <Nothing text={words} /> : <Wave peaks={peaks} part={1} />;
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
