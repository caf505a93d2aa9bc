import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { linesOfList, moveInLines } from '../model/moves.ts';
import { Filmstrip } from '../parts/filmstrip.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { pictureOf } from '../parts/media.tsx';
import { useSight } from '../parts/scroll-to-asset.ts';
import { useAhead } from '../parts/use-ahead.ts';
import { useFocus } from '../parts/use-focus.ts';
import { mainFile } from '../parts/words.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { Page, View } from '../state/page.ts';
import { ComparePane, PaneArea } from './compare-pane.tsx';
import { CompareTools, FilmTools } from './compare-tools.tsx';
import { actOnCompareKey } from './keys.ts';
import { otherSide } from './sides.ts';
import { compareOf } from './state.ts';

/** View of two assets of a group: side by side, overlaid, or one at a time. */
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
  /** The left pane, if there are two. */
  before: ComponentChildren;
  children: ComponentChildren;
}

/** Head, tools and panes of a comparison. */
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
