import type { ComponentChildren } from 'preact';
import { KeyButton } from '../parts/key-button.tsx';
import { Transport } from '../parts/transport.tsx';
import type { Page } from '../state/page.ts';
import { zoomStep } from '../zoom/keys.ts';
import { limitZoom, nameZoom, zoomAt } from '../zoom/zoom.ts';
import { filmsOf } from './films.ts';
import type { Compare, Mode } from './state.ts';

const modes: readonly { mode: Mode; label: string; key: string }[] = [
  { mode: 'beside', label: 'Side by side', key: 'C' },
  { mode: 'wipe', label: 'Wipe', key: 'W' },
  { mode: 'blink', label: 'Blink', key: 'B' },
  { mode: 'difference', label: 'Difference', key: 'E' },
];

interface CompareToolsProps {
  panes: Compare;
  isPair: boolean;
  children?: ComponentChildren;
}

/** Buttons for the actions on the two panes. */
export function CompareTools({ panes: compare, isPair, children }: CompareToolsProps) {
  const frame = compare.zoom.frame.value;
  const grow = (factor: number) => compare.zoom.move((zoom, of) => zoomAt(zoom, factor, of));
  return (
    <section class="tools" aria-label="Tools">
      {isPair &&
        modes.map(({ mode, label, key }) => (
          <KeyButton
            key={mode}
            k={key}
            isOn={compare.mode.value === mode}
            onPress={() => {
              if (mode === 'blink') compare.blink();
              else compare.mode.value = mode;
            }}
          >
            {label}
          </KeyButton>
        ))}
      <span class="zooms">
        <SignButton sign="−" name="Smaller" onPress={() => grow(1 / zoomStep)} />
        <output>{frame && nameZoom(limitZoom(compare.zoom.zoom.value, frame), frame)}</output>
        <SignButton sign="+" name="Larger" onPress={() => grow(zoomStep)} />
        <KeyButton k="Z" onPress={() => compare.zoom.togglePixels()}>
          1:1
        </KeyButton>
        <KeyButton k="0" onPress={() => compare.zoom.whole()}>
          Whole
        </KeyButton>
      </span>
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
  return (
    <Transport
      isPlaying={films.isPlaying.value}
      position={films.position.value}
      seconds={films.seconds.value}
      onToggle={() => films.toggle()}
      onSeek={(seconds) => films.seek(seconds)}
    />
  );
}
