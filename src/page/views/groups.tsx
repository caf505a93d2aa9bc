import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Strip } from '../model/filter.ts';
import { moveInLines } from '../model/moves.ts';
import { GroupHead } from '../parts/group-head.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { Tile } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { useSize } from '../parts/use-size.ts';
import type { Page, View } from '../state/page.ts';
import { bestColumns, layRows, linesOf, type PartOfStrip } from './groups-layout.ts';

/** CSS pixels: the narrowest tile, between tiles, a tile without its picture, the head of a strip. */
const narrowest = 168;
const gap = 10;
const below = 84;
const head = 52;
/** Height of a picture's place, as a share of its width; the style sheet says the same. */
const pictureHeight = 3 / 4;

/** A strip for each gate, else for each key of a task. */
export const groupsView: View = {
  name: 'groups',
  label: 'Groups',
  Component: Groups,
  move: ({ strips, columns, active }, direction) =>
    moveInLines(linesOf(layRows(strips.value, columns), columns), active.value, direction),
};

function Groups({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const strips = page.strips.value;
  const most = Math.max(1, Math.floor((width + gap) / (narrowest + gap)));
  const columns = useMemo(() => bestColumns(strips, most), [strips, most]);
  page.columns = columns;
  const rows = useMemo(() => layRows(strips, columns), [strips, columns]);
  const tile = (width - gap * (columns - 1)) / columns;
  const { items, height, measure, reveal } = useRows({
    count: rows.length,
    estimate: (index) =>
      (rows[index]?.lines ?? 1) * (tile * pictureHeight + below + gap) + (rows[index]?.strips[0]?.from ? 0 : head),
    keyOf: (index) => {
      const [first] = rows[index]?.strips ?? [];
      return `${first?.from} ${first?.group.group.name}`;
    },
    width: tile,
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    if (scrollToAsset(scroller.current, active)) return;
    reveal(rows.findIndex((row) => row.strips.some((strip) => holds(strip, active))));
    requestAnimationFrame(() => scrollToAsset(scroller.current, active));
    // Not when a pointer makes one active: what is under it would move away before it is pressed.
  }, [page.focusWish.value, columns]);
  useFocus(page, scroller);
  return (
    <div class="groups" ref={scroller} tabIndex={-1}>
      <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
        {items.map(({ index, key, start }) => (
          <div class="row" key={key} data-index={index} ref={measure} style={{ transform: `translateY(${start}px)` }}>
            {rows[index]?.strips.map((strip) => (
              <StripOfTiles key={strip.group.group.name} page={page} strip={strip} tile={tile} />
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function holds({ assets }: Strip, address: string): boolean {
  return assets.some((asset) => asset.address === address);
}

function StripOfTiles({ page, strip, tile }: { page: Page; strip: PartOfStrip; tile: number }) {
  const { group, assets, from } = strip;
  const span = Math.min(assets.length, page.columns);
  const isActive = holds(strip, page.active.value);
  return (
    <section
      class={`strip${isActive ? ' has-active' : ''}`}
      aria-label={from === 0 ? group.group.name : undefined}
      style={{ width: `${span * tile + (span - 1) * gap}px` }}
    >
      {from === 0 && <GroupHead page={page} group={group} />}
      <div class="tiles" style={{ gridTemplateColumns: `repeat(${span}, minmax(0, 1fr))` }}>
        {assets.map((asset) => {
          const place = group.assets.slice(0, 9).indexOf(asset) + 1;
          const digit = place > 0 ? place : undefined;
          return <Tile key={asset.address} page={page} asset={asset} digit={digit} isFirst={isActive} />;
        })}
      </div>
    </section>
  );
}
