import type { ComponentChildren } from 'preact';
import { KeyButton } from '../parts/key-button.tsx';
import { Transport } from '../parts/transport.tsx';
import type { Page } from '../state/page.ts';
import { zoomStep } from '../zoom/keys.ts';
import { nameZoom, zoomAt } from '../zoom/zoom.ts';
import { filmsOf } from './films.ts';
import { isApart, zoomOf } from './pair.ts';
import type { Mode, Panes } from './panes.ts';

const modes: readonly { mode: Mode; label: string; key: string }[] = [
  { mode: 'beside', label: 'Side by side', key: 'C' },
  { mode: 'wipe', label: 'Wipe', key: 'W' },
  { mode: 'blink', label: 'Blink', key: 'B' },
  { mode: 'difference', label: 'Difference', key: 'E' },
];

interface CompareToolsProps {
  panes: Panes;
  isPair: boolean;
  /** Additional buttons. */
  children?: ComponentChildren;
}

/** Buttons for the actions on the two panes. */
export function CompareTools({ panes: compare, isPair, children }: CompareToolsProps) {
  const side = compare.activeSide();
  const frame = compare.frames.value[side];
  const pair = compare.pair.value;
  const grow = (factor: number) => compare.move(side, (zoom, of) => zoomAt(zoom, factor, of));
  return (
    <section class="tools" aria-label="Tools">
      {isPair &&
        modes.map(({ mode, label, key }) => (
          <KeyButton key={mode} k={key} isOn={compare.mode.value === mode} onPress={() => compare.setMode(mode)}>
            {label}
          </KeyButton>
        ))}
      {compare.mode.value === 'blink' && (
        <KeyButton k="B" onPress={() => compare.blink()}>
          Show the other
        </KeyButton>
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
        <SignButton sign="−" name="Smaller" onPress={() => grow(1 / zoomStep)} />
        <output>{frame === undefined ? '' : nameZoom(zoomOf(pair, side, frame), frame)}</output>
        <SignButton sign="+" name="Larger" onPress={() => grow(zoomStep)} />
        <KeyButton k="Z" onPress={() => compare.togglePixels(side)}>
          1:1
        </KeyButton>
        <KeyButton k="0" onPress={() => compare.whole()}>
          {isApart(pair) ? 'Whole, same place' : 'Whole'}
        </KeyButton>
      </span>
      {isPair && (
        <KeyButton k="D" isOn={pair.drifts} onPress={() => compare.drift()}>
          Drift
        </KeyButton>
      )}
      {children}
    </section>
  );
}

/** A button that is labelled with its key. */
function SignButton({ sign, name, onPress }: { sign: string; name: string; onPress(): void }) {
  return (
    <button type="button" class="sign" aria-label={name} title={name} onClick={onPress}>
      <kbd>{sign}</kbd>
    </button>
  );
}

export function FilmTools({ page }: { page: Page }) {
  const films = filmsOf(page);
  const loop = films.loop.value;
  const end = (is: 'from' | 'to') => (loop === undefined ? '' : ` ${loop[is].toFixed(1)} s`);
  return (
    <>
      <Transport
        isPlaying={films.isPlaying.value}
        position={films.position.value}
        seconds={films.seconds.value}
        onToggle={() => films.toggle()}
        onSeek={(seconds) => films.seek(seconds)}
      />
      <KeyButton k="<" isOn={loop !== undefined} onPress={() => films.mark('from')}>
        Loop from{end('from')}
      </KeyButton>
      <KeyButton k=">" isOn={loop !== undefined} onPress={() => films.mark('to')}>
        to{end('to')}
      </KeyButton>
    </>
  );
}
