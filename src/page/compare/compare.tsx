import { useRef } from 'preact/hooks';
import { linesOfGrid, moveInLines } from '../model/moves.ts';
import { Filmstrip } from '../parts/filmstrip.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
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
import { otherSide, type Side } from './pair.ts';
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
      return moveInLines(linesOfGrid(group.assets, 1), page.active.value, direction);
    }
    if (direction === 'up' || direction === 'down') return compare.next(direction === 'up' ? -1 : 1);
    if (compare.mode.value === 'blink') return compare.on(otherSide(compare.activeSide()));
    return compare.on(direction);
  },
  lead: (page, address, is) => compareOf(page).challenge(address, is),
  onKey: actOnCompareKey,
};

function CompareView({ page }: { page: Page }) {
  const within = useRef<HTMLDivElement>(null);
  useFocus(page, within);
  useSight(page, within);
  const compare = compareOf(page);
  const next = page.shown.value.assets.get(compare.next(1) ?? '');
  useAhead([next && pictureOf(next)?.url]);
  const group = page.activeGroup.value;
  const { value: sides } = compare.sides;
  if (group === undefined || sides === undefined) return null;
  if (isSoundGroup(group)) return <SoundStage page={page} group={group} />;
  const present: Side[] = sides.right === undefined ? ['left'] : ['left', 'right'];
  const hasFilms = present.some((side) => {
    const asset = page.shown.value.assets.get(sides[side] ?? '');
    return asset !== undefined && mainFile(asset)?.is === 'video';
  });
  return (
    <div class="compare" ref={within}>
      <GroupHead page={page} group={group} />
      <CompareTools panes={compare} isPair={present.length === 2}>
        {present.length === 2 && (
          <KeyButton k="V" onPress={() => compare.swap()}>
            Swap
          </KeyButton>
        )}
        {hasFilms && <FilmTools page={page} />}
      </CompareTools>
      {present.length === 1 && (
        <p class="quiet">
          There is nothing to compare it with: {group.group.name} has one output, and is made from no picture.
        </p>
      )}
      <PaneArea panes={compare} isPair={present.length === 2}>
        {present.map((side) => (
          <ComparePane key={side} page={page} side={side} isPair={present.length === 2} />
        ))}
      </PaneArea>
      {group.assets.length > 2 && (
        <Filmstrip
          page={page}
          group={group}
          placeOf={({ address }) => present.find((side) => sides[side] === address)}
        />
      )}
    </div>
  );
}
