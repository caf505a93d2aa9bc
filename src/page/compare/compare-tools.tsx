import { timeOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { zoomStep } from '../zoom/keys.ts';
import { nameZoom, zoomAt } from '../zoom/zoom.ts';
import { filmsOf } from './films.ts';
import { isApart, zoomOf } from './pair.ts';
import { compareOf, type Mode } from './state.ts';

const modes: readonly { mode: Mode; label: string; key: string }[] = [
  { mode: 'beside', label: 'Side by side', key: 'C' },
  { mode: 'wipe', label: 'Wipe', key: 'W' },
  { mode: 'blink', label: 'Blink', key: 'B' },
];

/** What can be done with the two, as buttons. */
export function CompareTools({ page, hasFilms, isPair }: { page: Page; hasFilms: boolean; isPair: boolean }) {
  const compare = compareOf(page);
  const side = compare.activeSide();
  const frame = compare.frames.value[side];
  const pair = compare.pair.value;
  const grow = (factor: number) => compare.move(side, (zoom, of) => zoomAt(zoom, factor, of));
  return (
    <div class="tools" role="toolbar" aria-label="Compare">
      {isPair &&
        modes.map(({ mode, label, key }) => (
          <button
            key={mode}
            type="button"
            aria-pressed={compare.mode.value === mode}
            onClick={() => compare.setMode(mode)}
          >
            {label} <kbd>{key}</kbd>
          </button>
        ))}
      {compare.mode.value === 'blink' && (
        <button type="button" onClick={() => compare.blink()}>
          Show the other <kbd>B</kbd>
        </button>
      )}
      {compare.mode.value === 'wipe' && (
        <label class="wipe-slider">
          Line
          <input
            type="range"
            min={0}
            max={100}
            step={1}
            value={Math.round(compare.wipe.value * 100)}
            onInput={({ currentTarget: { valueAsNumber } }) => compare.setWipe(valueAsNumber / 100)}
          />
        </label>
      )}
      <span class="zooms">
        <button type="button" onClick={() => grow(1 / zoomStep)}>
          Smaller <kbd>−</kbd>
        </button>
        <output>{frame === undefined ? '' : nameZoom(zoomOf(pair, side, frame), frame)}</output>
        <button type="button" onClick={() => grow(zoomStep)}>
          Larger <kbd>+</kbd>
        </button>
        <button type="button" onClick={() => compare.togglePixels(side)}>
          1:1 <kbd>Z</kbd>
        </button>
        <button type="button" onClick={() => compare.whole()}>
          {isApart(pair) ? 'Whole, same place' : 'Whole'} <kbd>0</kbd>
        </button>
      </span>
      {isPair && (
        <>
          <button type="button" aria-pressed={pair.drifts} onClick={() => compare.drift()}>
            Drift <kbd>D</kbd>
          </button>
          <button type="button" onClick={() => compare.swap()}>
            Swap <kbd>V</kbd>
          </button>
        </>
      )}
      {hasFilms && <FilmTools page={page} />}
    </div>
  );
}

/** Both films have one time. */
function FilmTools({ page }: { page: Page }) {
  const films = filmsOf(page);
  return (
    <span class="films">
      <button type="button" onClick={() => films.toggle()}>
        {films.isPlaying.value ? 'Pause' : 'Play'} <kbd>Space</kbd>
      </button>
      <label>
        Time
        <input
          type="range"
          min={0}
          max={films.seconds.value}
          step={0.04}
          value={films.position.value}
          aria-valuetext={`${timeOf(films.position.value)} of ${timeOf(films.seconds.value)}`}
          onInput={({ currentTarget: { valueAsNumber } }) => films.seek(valueAsNumber)}
        />
      </label>
      <span>{`${timeOf(films.position.value)} / ${timeOf(films.seconds.value)}`}</span>
    </span>
  );
}
