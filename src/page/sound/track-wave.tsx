import { useMemo } from 'preact/hooks';
import { timeOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { Deck, Track, TrackState } from './deck.ts';
import { soundsOf } from './state.ts';
import { usePosition } from './use-position.ts';

interface TrackWaveProps {
  page: Page;
  deck: Deck;
  track: Track;
  /** Its key, where that is 1–9. */
  number: number;
}

/** One sound: the button that lets it be heard, its waveform, in which a press seeks, and how loud it is. */
export function TrackWave({ page, deck, track, number }: TrackWaveProps) {
  const state = deck.states.value.get(track.url) ?? { is: 'reading' };
  const isHeard = deck.heard.value === track.url;
  const longest = Math.max(...[...deck.states.value.values()].map((one) => (one.is === 'ready' ? one.seconds : 0)));
  const seekTo = (event: MouseEvent & { currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    if (!isHeard) soundsOf(page).listen(number);
    deck.seek(((event.clientX - left) / width) * longest);
  };
  return (
    <div class={`track${isHeard ? ' heard' : ''}`}>
      <button type="button" aria-pressed={isHeard} onClick={() => soundsOf(page).listen(number)}>
        {isHeard && deck.isPlaying.value ? 'Heard' : 'Listen'}
        <span class="away"> {track.address}</span> {track.name}
        {number <= 9 && <kbd>{number}</kbd>}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the slider of the time does the same by keys */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: as above */}
      <div class="wave" onClick={seekTo}>
        {state.is === 'ready' && <Wave peaks={state.peaks} part={longest > 0 ? state.seconds / longest : 1} />}
        {isHeard && longest > 0 && <PlayHead deck={deck} longest={longest} />}
      </div>
      <span class="facts">{wordsOf(state, deck.gainOf(track.url))}</span>
    </div>
  );
}

/** Mirrored bars; 100 high, and as wide as there are peaks. */
function Wave({ peaks, part }: { peaks: readonly number[]; part: number }) {
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

function PlayHead({ deck, longest }: { deck: Deck; longest: number }) {
  const position = usePosition(deck);
  return <div class="play-head" style={{ left: `${Math.min(1, position.value / longest) * 100}%` }} />;
}

function wordsOf(state: TrackState, gain: number): string {
  if (state.is === 'reading') return 'is being read';
  if (state.is === 'failed') return `cannot be played: ${state.why}`;
  const parts = [timeOf(state.seconds)];
  if (state.loudness !== undefined) {
    parts.push(Number.isFinite(state.loudness) ? `${state.loudness.toFixed(1)} LUFS` : 'silent');
  }
  if (gain < -0.05) parts.push(`played ${(-gain).toFixed(1)} dB quieter`);
  return parts.join(' · ');
}
