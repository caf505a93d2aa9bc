import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { ReviewFile } from '../../contract/review.ts';
import { linesOfList, moveInLines } from '../model/moves.ts';
import { type Mark, markOf } from '../model/shown.ts';
import { Face } from '../parts/face.tsx';
import { Filmstrip } from '../parts/filmstrip.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { Nothing, pictureOf, Sound, whyNothing } from '../parts/media.tsx';
import { useSight } from '../parts/scroll-to-asset.ts';
import { Badges, Caption, VerdictButtons } from '../parts/tile.tsx';
import { Transport } from '../parts/transport.tsx';
import { useAhead } from '../parts/use-ahead.ts';
import { useFocus } from '../parts/use-focus.ts';
import { mainFile, nameOf } from '../parts/words.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { Page, View } from '../state/page.ts';
import { zoomStep } from '../zoom/keys.ts';
import { limitZoom, nameZoom, type Point, zoomAt } from '../zoom/zoom.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';
import { filmsOf } from './films.ts';
import { actOnCompareKey } from './keys.ts';
import { otherSide, type Side } from './sides.ts';
import { type Compare, compareOf, type Mode } from './state.ts';

export const compareView: View = {
  name: 'compare',
  label: 'Compare',
  key: 'c',
  Component: CompareView,
  move(page, direction) {
    const compare = compareOf(page);
    const group = page.activeGroup.value;
    if (group !== undefined && isSoundGroup(group)) {
      return moveInLines(linesOfList(group.assets), page.active.value, direction);
    }
    if (direction === 'up' || direction === 'down') return compare.next(direction === 'up' ? -1 : 1);
    if (compare.mode.value === 'blink') return compare.on(otherSide(compare.activeSide()));
    return compare.on(direction);
  },
  lead: (page, address, is) => compareOf(page).challenge(address, is),
  onKey: actOnCompareKey,
};

function CompareView({ page }: { page: Page }) {
  const compare = compareOf(page);
  const next = page.shown.value.assets.get(compare.next(1) ?? '');
  useAhead([next && pictureOf(next)?.url]);
  const group = page.activeGroup.value;
  const { value: sides } = compare.sides;
  if (group === undefined || sides === undefined) return null;
  if (isSoundGroup(group)) return <SoundStage page={page} group={group} />;
  const isPair = sides.right !== undefined;
  return (
    <CompareArea
      page={page}
      head={<GroupHead page={page} group={group} />}
      before={isPair && <ComparePane page={page} side="left" isPair />}
    >
      {!isPair && (
        <p class="quiet">
          There is nothing to compare it with: {group.group.name} has one output, and is made from no picture.
        </p>
      )}
      {group.assets.length > 2 && (
        <Filmstrip
          page={page}
          group={group}
          placeOf={({ address }) => (['left', 'right'] as const).find((side) => sides[side] === address)}
        />
      )}
    </CompareArea>
  );
}

interface CompareAreaProps {
  page: Page;
  head: ComponentChildren;
  tools?: ComponentChildren;
  before: ComponentChildren;
  children: ComponentChildren;
}

export function CompareArea({ page, head, tools, before, children }: CompareAreaProps) {
  const within = useRef<HTMLDivElement>(null);
  useFocus(page, within);
  useSight(page, within);
  const compare = compareOf(page);
  const isPair = Boolean(before);
  const asset = page.activeAsset.value;
  return (
    <div class="compare" ref={within}>
      {head}
      <CompareTools panes={compare} isPair={isPair}>
        {tools}
        {asset !== undefined && mainFile(asset)?.is === 'video' && <FilmTools page={page} />}
      </CompareTools>
      <PaneArea panes={compare} isPair={isPair}>
        {before}
        <ComparePane page={page} side={compare.on('right') === undefined ? 'left' : 'right'} isPair={isPair} />
      </PaneArea>
      {children}
    </div>
  );
}

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

function CompareTools({ panes: compare, isPair, children }: CompareToolsProps) {
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

function SignButton({ sign, name, onPress }: { sign: string; name: string; onPress(): void }) {
  return (
    <button type="button" class="sign" aria-label={name} title={name} onClick={onPress}>
      <kbd>{sign}</kbd>
    </button>
  );
}

function FilmTools({ page }: { page: Page }) {
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

const sideNames: Record<Side, string> = { left: 'Left', right: 'Right' };

function ComparePane({ page, side, isPair }: { page: Page; side: Side; isPair: boolean }) {
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

function PaneArea({ panes, isPair, children }: { panes: Compare; isPair: boolean; children: ComponentChildren }) {
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
