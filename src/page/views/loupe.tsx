import { useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { linesOfList, moveByGroup, moveInLines, moveToUndecided } from '../model/moves.ts';
import { digitOf, markOf } from '../model/shown.ts';
import { Filmstrip } from '../parts/filmstrip.tsx';
import { Film, Nothing, whyNothing } from '../parts/media.tsx';
import { Badges, Caption } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { mainFile, nameOf } from '../parts/words.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { Page, View } from '../state/page.ts';
import { actOnZoomKey } from '../zoom/keys.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';

export const loupeView: View = {
  name: 'loupe',
  label: 'Loupe',
  key: 'Enter',
  Component: Loupe,
  move({ strips, active, activeGroup }, direction) {
    const group = activeGroup.value;
    if (group !== undefined && isSoundGroup(group))
      return moveInLines(linesOfList(group.assets), active.value, direction);
    if (direction === 'up') return moveByGroup(strips.value, active.value, -1);
    if (direction === 'down') return moveByGroup(strips.value, active.value, 1);
    return beside(
      strips.value.flatMap(({ assets }) => assets),
      active.value,
      direction === 'left' ? -1 : 1,
    )?.address;
  },
  onKey: (page, press) => actOnZoomKey(press, page.loupe),
};

function beside(assets: readonly ReviewAsset[], address: string, by: 1 | -1): ReviewAsset | undefined {
  const here = assets.findIndex((asset) => asset.address === address);
  return here < 0 ? undefined : assets[here + by];
}

function Loupe({ page }: { page: Page }) {
  const place = useRef<HTMLDivElement>(null);
  const swipe = useRef<{ x: number; y: number } | undefined>(undefined);
  useFocus(page, place);
  const asset = page.activeAsset.value;
  if (asset === undefined) return <div class="loupe" ref={place} />;
  const group = page.activeGroup.value;
  if (group !== undefined && isSoundGroup(group)) return <SoundStage page={page} group={group} />;
  return (
    <div class={`loupe active ${markOf(asset)}`} ref={place} data-address={asset.address}>
      <div
        class="stage"
        tabIndex={-1}
        onPointerDown={({ pointerType, clientX, clientY }) => {
          swipe.current =
            pointerType === 'touch' && !page.loupe.isLarger.value ? { x: clientX, y: clientY } : undefined;
        }}
        onPointerUp={({ clientX, clientY }) => {
          const by = swipe.current && swipedBy({ x: clientX - swipe.current.x, y: clientY - swipe.current.y });
          swipe.current = undefined;
          if (by !== undefined) page.activate(loupeView.move(page, by === 1 ? 'right' : 'left'));
        }}
      >
        {[asset, ...ahead(page)].map((one) => (
          <div key={one.address} class="on-stage" hidden={one !== asset}>
            <OnStage page={page} asset={one} isActive={one === asset} />
          </div>
        ))}
        <Badges asset={asset} digit={group && group.assets.length > 1 ? digitOf(group, asset) : undefined} />
      </div>
      <div class="under-stage">
        <button
          type="button"
          class="face"
          data-asset={asset.address}
          aria-current
          onClick={() => page.loupe.togglePixels()}
        >
          <Caption asset={asset} name={nameOf(page.shown.value, asset.address)} />
        </button>
        {group !== undefined && group.assets.length > 1 && <Filmstrip page={page} group={group} />}
      </div>
    </div>
  );
}

const swipeLength = 50;

function swipedBy({ x, y }: { x: number; y: number }): 1 | -1 | undefined {
  if (Math.abs(x) < swipeLength || Math.abs(x) < Math.abs(y) * 2) return undefined;
  return x < 0 ? 1 : -1;
}

function OnStage({ page, asset, isActive }: { page: Page; asset: ReviewAsset; isActive: boolean }) {
  const file = mainFile(asset);
  const nothing = whyNothing(asset);
  if (file === undefined || nothing !== undefined) return <Nothing text={nothing ?? ''} />;
  if (file.is === 'video') return <Film file={file} name={`Play ${asset.address}`} isPlayer />;
  if (file.is !== 'image') return <Nothing text={`${file.path} (${file.mediaType}) cannot be shown here`} />;
  return <ZoomedMedia file={file} name={asset.address} zoom={page.loupe} isActive={isActive} />;
}

function ahead({ strips, active, shown }: Page): ReviewAsset[] {
  const all = strips.value.flatMap(({ assets }) => assets);
  const undecided = moveToUndecided(strips.value, active.value, 1);
  const near = [
    beside(all, active.value, 1),
    beside(all, active.value, -1),
    undecided === undefined ? undefined : shown.value.assets.get(undecided),
  ];
  const pictures = near.filter((asset) => asset !== undefined).filter((asset) => mainFile(asset)?.is === 'image');
  return [...new Set(pictures)];
}
