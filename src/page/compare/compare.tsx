import { useEffect, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { linesOfGrid, moveInLines } from '../model/moves.ts';
import { Filmstrip } from '../parts/filmstrip.tsx';
import { GroupHead } from '../parts/group-head.tsx';
import { KeyButton } from '../parts/key-button.tsx';
import { useSight } from '../parts/scroll-to-asset.ts';
import { useFocus } from '../parts/use-focus.ts';
import { mainFile } from '../parts/words.ts';
import { SoundStage } from '../sound/sound-stage.tsx';
import { isSoundGroup } from '../sound/tracks.ts';
import type { LateView, Page } from '../state/page.ts';
import { ComparePane, WipeLine } from './compare-pane.tsx';
import { CompareTools, FilmTools } from './compare-tools.tsx';
import { actOnCompareKey } from './keys.ts';
import { otherSide, type Side } from './pair.ts';
import { compareOf } from './state.ts';

/** View of two assets of a group: side by side, overlaid, or one at a time. */
export const compareView: LateView = {
  name: 'compare',
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
        <p class="quiet">
          There is nothing to compare it with: {group.group.name} has one output, and is made from no picture.
        </p>
      )}
      <div class={`panes ${mode}${present.length === 1 ? ' alone' : ''}`}>
        {present.map((side) => (
          <ComparePane key={side} page={page} side={side} />
        ))}
        {mode === 'wipe' && present.length === 2 && <WipeLine panes={compare} />}
        {mode === 'difference' && present.length === 2 && <div class="brighter" aria-hidden="true" />}
      </div>
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

/** Preloads and decodes a picture that a key may lead to. */
function useAhead(asset: ReviewAsset | undefined): void {
  const file = asset && mainFile(asset);
  const url = file?.is === 'image' ? file.url : undefined;
  useEffect(() => {
    if (url === undefined) return;
    const image = new Image();
    image.src = url;
    // The pane of the file shows the error.
    image.decode().catch(() => undefined);
  }, [url]);
}
