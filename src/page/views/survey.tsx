import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { linesOfGrid, moveByGroup, moveInLines, moveToUndecided } from '../model/moves.ts';
import { digitOf, type ShownGroup } from '../model/shown.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { Large } from '../parts/large.tsx';
import { pictureOf, whyNothing } from '../parts/media.tsx';
import { useSight } from '../parts/scroll-to-asset.ts';
import { Badges, Caption, VerdictButtons } from '../parts/tile.tsx';
import { useAhead } from '../parts/use-ahead.ts';
import { useFocus } from '../parts/use-focus.ts';
import { useSize } from '../parts/use-size.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { Page, View } from '../state/page.ts';
import { actOnZoomKey } from '../zoom/keys.ts';
import { ZoomedMedia } from '../zoom/zoomed-media.tsx';
import { fitColumns, leastHeight } from './survey-layout.ts';

/** CSS pixels beneath each picture, and around it; fingers have buttons of their own there. */
const below = matchMedia('(pointer: coarse)').matches ? 112 : 54;
/** Pictures that are held ready: each of them takes megabytes. */
const mostAhead = 12;

/** One group, each of its assets as large as fits. */
export const surveyView: View = {
  name: 'survey',
  label: 'Survey',
  key: 's',
  Component: Survey,
  move: (page, direction) => moveInLines(linesOfGrid(assetsOf(page), page.columns), page.active.value, direction),
  onKey: (page, press) => actOnZoomKey(press, page.loupe),
};

/** Those of the active group that the filter lets pass. */
function assetsOf(page: Page): readonly ReviewAsset[] {
  const index = page.activeGroup.value?.index;
  return page.strips.value.find(({ group }) => group.index === index)?.assets ?? [];
}

function Survey({ page }: { page: Page }) {
  const group = page.activeGroup.value;
  if (group === undefined) return null;
  if (!isSoundGroup(group)) return <Sheets page={page} group={group} />;
  page.columns = 1;
  return <SoundStage page={page} group={group} />;
}

function Sheets({ page, group }: { page: Page; group: ShownGroup }) {
  const place = useRef<HTMLDivElement>(null);
  const room = useSize(place);
  useFocus(page, place);
  useSight(page, place);
  useAhead(next(page).map((asset) => pictureOf(asset)?.url));
  const assets = assetsOf(page);
  const aspect = useAspect(place, group.group.name);
  const columns = fitColumns(assets.length, aspect, room, below);
  const rows = Math.max(1, Math.ceil(assets.length / columns));
  page.columns = columns;
  return (
    <div class="survey">
      <GroupHead page={page} group={group} />
      <div
        class="sheet"
        ref={place}
        style={{
          gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          gridTemplateRows: `repeat(${rows}, minmax(${below + leastHeight}px, 1fr))`,
        }}
      >
        {assets.map((asset) => (
          <Sheet key={asset.address} page={page} asset={asset} group={group} />
        ))}
      </div>
    </div>
  );
}

/** Pictures of the groups to which a verdict or `]` leads. */
function next({ strips, active }: Page): ReviewAsset[] {
  const addresses = [moveToUndecided(strips.value, active.value, 1), moveByGroup(strips.value, active.value, 1)];
  const groups = strips.value.filter(({ assets }) => assets.some(({ address }) => addresses.includes(address)));
  return groups.flatMap(({ assets }) => assets).slice(0, mostAhead);
}

/** Width to height of the first picture that is there; 1 before one is. */
function useAspect(place: { readonly current: HTMLElement | null }, name: string): number {
  const [aspect, setAspect] = useState(1);
  useLayoutEffect(() => {
    const { current } = place;
    const look = () => {
      const image = current?.querySelector('img');
      if (image?.naturalHeight) setAspect(image.naturalWidth / image.naturalHeight);
    };
    look();
    current?.addEventListener('load', look, true);
    return () => current?.removeEventListener('load', look, true);
  }, [name]);
  return aspect;
}

interface SheetProps {
  page: Page;
  asset: ReviewAsset;
  group: ShownGroup;
}

function Sheet({ page, asset, group }: SheetProps) {
  return (
    <AssetBox page={page} asset={asset} place="sheet-cell">
      <OnSheet page={page} asset={asset} group={group} />
      <Face page={page} address={asset.address}>
        <Caption asset={asset} group={group} />
      </Face>
      {asset.isJudged && <VerdictButtons page={page} asset={asset} />}
    </AssetBox>
  );
}

/** CSS pixels by which a pointer may move and still press. */
const still = 4;

/** One output on the sheet. Pictures of a group show the same place at the same size. */
function OnSheet({ page, asset, group }: SheetProps) {
  const pressed = useRef({ x: 0, y: 0, isActive: false });
  const file = pictureOf(asset);
  const badges = <Badges asset={asset} digit={digitOf(group, asset)} />;
  if (file === undefined || whyNothing(asset) !== undefined) {
    return (
      <div class="picture">
        <Large asset={asset} />
        {badges}
      </div>
    );
  }
  const { loupe } = page;
  const isActive = page.active.value === asset.address;
  const press = ({ clientX, clientY }: MouseEvent) => {
    const { x, y, isActive: wasActive } = pressed.current;
    if (Math.hypot(clientX - x, clientY - y) > still) return;
    if (wasActive) page.open('loupe');
    else page.activate(asset.address);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the button beneath does the same by keys
    // biome-ignore lint/a11y/noStaticElementInteractions: as above
    <div
      class="picture"
      onPointerDown={({ clientX, clientY }) => {
        pressed.current = { x: clientX, y: clientY, isActive };
        page.activate(asset.address, false);
      }}
      onClick={press}
    >
      <ZoomedMedia
        file={file}
        name={asset.address}
        zoom={loupe.zoom.value}
        onMove={(move) => loupe.move(move)}
        onFrame={(frame) => isActive && loupe.setFrame(frame)}
      />
      {badges}
    </div>
  );
}
