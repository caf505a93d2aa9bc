import { useRef } from 'preact/hooks';
import { linesOfGrid, moveInLines } from '../model/moves.ts';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { mainFile } from '../parts/media.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { Page, View } from '../state/page.ts';
import { useAhead } from './ahead.ts';
import { Candidates } from './candidates.tsx';
import { ComparePane } from './compare-pane.tsx';
import { CompareTools, FilmTools } from './compare-tools.tsx';
import { actOnCompareKey } from './keys.ts';
import { otherSide, type Side } from './pair.ts';
import { compareOf } from './state.ts';
import { WipeLine } from './wipe-line.tsx';

/** Two of a group: side by side, one over the other, or one at a time. */
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
  onKey: actOnCompareKey,
};

function CompareView({ page }: { page: Page }) {
  const within = useRef<HTMLDivElement>(null);
  useFocus(page, within);
  const compare = compareOf(page);
  useAhead(page.shown.value.assets.get(compare.next(1) ?? ''));
  const group = page.activeGroup.value;
  const { value: sides } = compare.sides;
  if (group === undefined || sides === undefined) return null;
  if (isSoundGroup(group)) return <SoundStage page={page} group={group} />;
  const mode = compare.mode.value;
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
        <p class="quiet">There is nothing to compare it with: {group.group.name} has one output.</p>
      )}
      <div class={`panes ${mode}${present.length === 1 ? ' alone' : ''}`}>
        {present.map((side) => (
          <ComparePane key={side} page={page} side={side} />
        ))}
        {mode === 'wipe' && present.length === 2 && <WipeLine panes={compare} />}
      </div>
      <Candidates page={page} group={group} />
    </div>
  );
}
