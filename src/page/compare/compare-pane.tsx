import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { type Mark, markOf } from '../model/shown.ts';
import { Face } from '../parts/face.tsx';
import { Nothing, Sound, whyNothing } from '../parts/media.tsx';
import { Badges, Caption, VerdictButtons } from '../parts/tile.tsx';
import { mainFile, nameOf } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import type { Point } from '../zoom/zoom.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';
import { filmsOf } from './films.ts';
import type { Side } from './sides.ts';
import { type Compare, compareOf } from './state.ts';

const sideNames: Record<Side, string> = { left: 'Left', right: 'Right' };

export function ComparePane({ page, side, isPair }: { page: Page; side: Side; isPair: boolean }) {
  const compare = compareOf(page);
  const asset = page.shown.value.assets.get(compare.on(side) ?? '');
  if (asset === undefined) return null;
  return (
    <Pane
      {...{ panes: compare, side, isPair }}
      label={compare.on('left') === compare.on('right') ? 'Now' : `${sideNames[side]}: ${asset.address}`}
      name={asset.address}
      file={mainFile(asset)}
      why={whyNothing(asset)}
      address={asset.address}
      mark={markOf(asset)}
      badges={<Badges asset={asset} />}
      onVideo={(video) => filmsOf(page).set(side, video)}
    >
      <Face page={page} address={asset.address}>
        <Caption asset={asset} name={nameOf(page.shown.value, asset.address)} />
      </Face>
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </Pane>
  );
}

interface PaneProps {
  panes: Compare;
  side: Side;
  isPair: boolean;
  label: string;
  name: string;
  file: ReviewFile | undefined;
  why: string | undefined;
  address?: string;
  mark?: Mark;
  badges?: ComponentChildren;
  children: ComponentChildren;
  onVideo?(video: HTMLVideoElement | null): void;
}

export function Pane({ panes, side, isPair, label, name, file, why, address, mark = 'undecided', ...rest }: PaneProps) {
  const activate = () => panes.activate(side, false);
  return (
    <section
      class={`box pane ${side} ${mark}${panes.activeSide() === side ? ' active' : ''}`}
      aria-label={label}
      data-address={address}
      onPointerDown={activate}
      onFocusIn={activate}
    >
      <div class="pane-picture" style={clipOf(panes, side, isPair)}>
        {file === undefined || why !== undefined ? (
          <Nothing text={why ?? ''} />
        ) : file.is === 'audio' ? (
          <Sound file={file} name={`Play ${name}`} />
        ) : (
          <ZoomedMedia
            key={side}
            file={file}
            name={name}
            zoom={panes.zoom}
            isActive={panes.activeSide() === side}
            {...(rest.onVideo && { onVideo: rest.onVideo })}
          />
        )}
        {rest.badges}
      </div>
      <div class="pane-foot">{rest.children}</div>
    </section>
  );
}

export function PaneArea({
  panes,
  isPair,
  children,
}: {
  panes: Compare;
  isPair: boolean;
  children: ComponentChildren;
}) {
  const mode = panes.mode.value;
  const pressedAt = useRef<Point>({ x: 0, y: 0 });
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move the line, too
    // biome-ignore lint/a11y/useKeyWithClickEvents: as above
    <div
      class={isPair ? `panes ${mode}` : 'panes beside alone'}
      onPointerDown={({ clientX, clientY }) => {
        pressedAt.current = { x: clientX, y: clientY };
      }}
      onClick={({ target, currentTarget, clientX, clientY }) => {
        const moved = Math.hypot(clientX - pressedAt.current.x, clientY - pressedAt.current.y);
        const isOnPicture = target instanceof Element && target.closest('.zoomed') !== null;
        // A drag pans the picture.
        if (mode === 'wipe' && isOnPicture && moved < 4) moveLine(panes, currentTarget, clientX);
      }}
    >
      {children}
      {mode === 'wipe' && isPair && <WipeLine panes={panes} />}
      {mode === 'difference' && isPair && <div class="brighter" aria-hidden="true" />}
    </div>
  );
}

function clipOf({ mode, wipe }: Compare, side: Side, isPair: boolean): { clipPath?: string } {
  if (mode.value !== 'wipe' || !isPair) return {};
  const part = wipe.value * 100;
  return { clipPath: side === 'left' ? `inset(0 ${100 - part}% 0 0)` : `inset(0 0 0 ${part}%)` };
}

function WipeLine({ panes }: { panes: Compare }) {
  return (
    <div
      class="wipe-line"
      aria-hidden="true"
      style={{ left: `${panes.wipe.value * 100}%` }}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={({ currentTarget, pointerId, clientX }) => {
        if (currentTarget.hasPointerCapture(pointerId)) moveLine(panes, currentTarget.parentElement, clientX);
      }}
    />
  );
}

function moveLine(panes: Compare, area: Element | null, clientX: number): void {
  const place = area?.getBoundingClientRect();
  if (place) panes.setWipe((clientX - place.left) / place.width);
}
