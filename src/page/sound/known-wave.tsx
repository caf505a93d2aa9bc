import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { readWave } from '../../ground/wave.ts';
import { Nothing } from '../parts/media.tsx';

/** Waveforms of sounds that were read, by url: 0 to 1, in equal stretches. They outlive the deck that has read them. */
const known = signal<ReadonlyMap<string, readonly number[]>>(new Map());

export function noteWave(url: string, peaks: readonly number[]): void {
  if (peaks.length > 0 && known.peek().get(url) !== peaks) known.value = new Map(known.peek()).set(url, peaks);
}

/** The waveform of a sound, which this page has read or was told; else words. */
export function KnownWave({ file, words }: { file: ReviewFile; words: string }) {
  const { url = '', wave } = file;
  const peaks = known.value.get(url) ?? (wave === undefined ? undefined : readWave(wave));
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
