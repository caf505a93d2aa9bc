import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { findPeaks } from '../../ground/loudness.ts';
import { readWave } from '../../ground/wave.ts';
import { Nothing } from '../parts/media.tsx';

/** Waveforms of sounds that were read, by url: 0 to 1, in equal stretches. They outlive the deck that has read them. */
const known = signal<ReadonlyMap<string, readonly number[]>>(new Map());

export function noteWave(url: string, peaks: readonly number[]): void {
  if (peaks.length > 0 && known.peek().get(url) !== peaks) known.value = new Map(known.peek()).set(url, peaks);
}

/** Sounds whose waveforms are on the page, and not read yet. */
const wanted = new Set<string>();
let isReading = false;
/** Stretches of a small waveform, and samples in a second, which are enough for them. */
const [stretches, rate] = [200, 8000];

/** Reads what is wanted, one after the other: what is heard, and pictures, need the line and the machine, too. */
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
      // Words replace a missing waveform; the player says why a sound cannot be played.
    }
    wanted.delete(url);
  }
  isReading = false;
}

/** The waveform of a sound; a text until it is read. */
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

/** Mirrored bars; 100 high, and as wide as there are peaks. `part`: the share of the place that it fills. */
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
