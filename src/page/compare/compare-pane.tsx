import type { TargetedPointerEvent } from 'preact';
import { markOf } from '../model/shown.ts';
import { Face } from '../parts/face.tsx';
import { Nothing, whyNothing } from '../parts/media.tsx';
import { Badges, Caption, VerdictButtons } from '../parts/tile.tsx';
import { mainFile } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';
import { filmsOf } from './films.ts';
import { type Side, zoomOf } from './pair.ts';
import type { Panes } from './panes.ts';
import { compareOf } from './state.ts';

const sideNames: Record<Side, string> = { left: 'Left', right: 'Right' };

/** One side: name, picture and verdict of an asset. Pressing anywhere on it makes it active. */
export function ComparePane({ page, side }: { page: Page; side: Side }) {
  const compare = compareOf(page);
  const asset = page.shown.value.assets.get(compare.on(side) ?? '');
  if (asset === undefined) return null;
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  const isActive = compare.activeSide() === side;
  const mark = markOf(asset);
  return (
    <section
      class={`box pane ${side} ${mark}${isActive ? ' active' : ''}`}
      aria-label={`${sideNames[side]}: ${asset.address}`}
      data-address={asset.address}
      onPointerDown={() => compare.activate(side, false)}
      onFocusIn={() => compare.activate(side, false)}
    >
      <div class="pane-picture" style={clipOf(compare, side, compare.on('right') !== undefined)}>
        {file === undefined || nothing !== undefined ? (
          <Nothing text={nothing ?? ''} />
        ) : (
          <ZoomedMedia
            key={side}
            file={file}
            name={asset.address}
            zoom={zoomOf(compare.pair.value, side, compare.frames.value[side])}
            onMove={(move) => compare.move(side, move)}
            onFrame={(frame) => compare.frame(side, frame)}
            onTogglePixels={(at) => compare.togglePixels(side, at)}
            onVideo={(video) => filmsOf(page).set(side, video)}
          />
        )}
        <Badges asset={asset} />
      </div>
      <div class="pane-foot">
        <Face page={page} address={asset.address}>
          <Caption asset={asset} />
        </Face>
        {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
      </div>
    </section>
  );
}

/** Clips an overlaid picture to its side of the wipe line. */
export function clipOf({ mode, wipe }: Panes, side: Side, isPair: boolean): { clipPath?: string } {
  if (mode.value !== 'wipe' || !isPair) return {};
  const part = wipe.value * 100;
  return { clipPath: side === 'left' ? `inset(0 ${100 - part}% 0 0)` : `inset(0 0 0 ${part}%)` };
}

/** The draggable line between two overlaid pictures. */
export function WipeLine({ panes }: { panes: Panes }) {
  return (
    <div
      class="wipe-line"
      aria-hidden="true"
      style={{ left: `${panes.wipe.value * 100}%` }}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={(event) => dragLine(panes, event)}
    />
  );
}

function dragLine(panes: Panes, { currentTarget, pointerId, clientX }: TargetedPointerEvent<HTMLElement>): void {
  const place = currentTarget.parentElement?.getBoundingClientRect();
  if (place && currentTarget.hasPointerCapture(pointerId)) panes.setWipe((clientX - place.left) / place.width);
}
