import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Strip } from '../model/filter.ts';
import { moveInLines, nextUndecided } from '../model/moves.ts';
import { GroupHead } from '../parts/group-head.tsx';
import { pictureOf } from '../parts/media.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { isSound, misfits, shapesOf } from '../parts/shapes.ts';
import { Tile } from '../parts/tile.tsx';
import { useAhead } from '../parts/use-ahead.ts';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { useSize } from '../parts/use-size.ts';
import type { Page, View } from '../state/page.ts';
import { layRows, linesOf, type PartOfStrip, type Room, type Row, widthIn, withStrips } from './groups-layout.ts';

/** Undecided groups whose small pictures are asked for before a key leads there. */
const groupsAhead = 3;
/** CSS pixels: between tiles, of a tile beside its picture, of a row above and below it, and of the head of a strip. */
const gap = 10;
const frame = 14;
const below = 53;
const head = 24;
/** The buttons of a finger, and that of a sound, stand beneath. */
const buttons = matchMedia('(pointer: coarse)').matches ? 53 : 0;
const listen = 33;

/** A strip for each gate, else for each key of a task. */
export const groupsView: View = {
  name: 'groups',
  label: 'Groups',
  Component: Groups,
  move(page, direction) {
    const laid = layouts.get(page);
    return laid && moveInLines(linesOf(laid.rows, laid.room), page.active.value, direction);
  },
};

/** As they were drawn last: lines are made of them when an arrow is pressed, and not with each verdict. */
const layouts = new WeakMap<Page, Laid>();

interface Laid {
  strips: readonly Strip[];
  rows: readonly Row[];
  room: Room;
  width: number;
  fit: number;
}

/** Lays strips into rows; a verdict leaves them as they are. */
function lay(strips: readonly Strip[], { width, fit }: Pick<Laid, 'width' | 'fit'>, before: Laid | undefined): Laid {
  const known = before?.width === width && before.fit === fit ? before : undefined;
  if (known?.strips === strips) return known;
  const same = known && withStrips(known.rows, { before: known.strips, now: strips, room: known.room });
  if (known !== undefined && same !== undefined) return { ...known, strips, rows: same };
  const room = { width, gap, frame, shapeOf: shapesOf(strips), isLow: isSound };
  return { strips, rows: layRows(strips, room), room, width, fit };
}

function Groups({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const strips = page.strips.value;
  const fit = misfits.value;
  const laid = lay(strips, { width, fit }, layouts.get(page));
  layouts.set(page, laid);
  const { rows, room } = laid;
  // Heights and names are asked for anew only where rows are others: there are thousands.
  const named = useMemo(
    () => ({
      estimate: (index: number) => heightOf(rows[index]),
      keyOf(index: number) {
        const [first] = rows[index]?.strips ?? [];
        return `${first?.from} ${first?.group.group.name}`;
      },
    }),
    [room],
  );
  const { items, height, measure, reveal } = useRows({
    ...named,
    count: rows.length,
    anew: `${width} ${fit}`,
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    if (scrollToAsset(scroller.current, active)) return;
    reveal(rows.findIndex((row) => row.strips.some((strip) => holds(strip, active))));
    requestAnimationFrame(() => scrollToAsset(scroller.current, active));
    // Not when a pointer makes one active: what is under it would move away before it is pressed.
  }, [page.focusWish.value, width, fit]);
  useFocus(page, scroller);
  useAhead(nextUndecided(strips, active, groupsAhead).map((asset) => pictureOf(asset)?.thumb));
  return (
    <div class="groups" ref={scroller} tabIndex={-1}>
      <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          return (
            row && (
              <div
                class="row"
                key={key}
                data-index={index}
                ref={measure}
                style={{ transform: `translateY(${start}px)` }}
              >
                {row.strips.map((strip) => (
                  <StripOfTiles key={strip.group.group.name} page={page} strip={strip} row={row} room={room} />
                ))}
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function heightOf(row: Row | undefined): number {
  if (row === undefined) return 0;
  const [first] = row.strips;
  const hasSound = row.strips.some(({ assets }) => assets.some(isSound));
  return row.height + below + (first?.from ? 0 : head) + buttons + (hasSound ? listen : 0);
}

function holds({ assets }: Strip, address: string): boolean {
  return assets.some((asset) => asset.address === address);
}

interface StripProps {
  page: Page;
  strip: PartOfStrip;
  row: Row;
  room: Room;
}

function StripOfTiles({ page, strip, row, room }: StripProps) {
  const { group, assets, from } = strip;
  const isActive = holds(strip, page.active.value);
  const widths = assets.map((asset) => widthIn(room, asset, row.height));
  const width = widths.reduce((sum, one) => sum + one + frame + gap, -gap);
  return (
    <section
      class={`strip${isActive ? ' has-active' : ''}`}
      aria-label={from === 0 ? group.group.name : undefined}
      style={{ width: `${width}px` }}
    >
      {from === 0 && <GroupHead page={page} group={group} />}
      <div class="tiles">
        {assets.map((asset, index) => (
          <Tile
            key={asset.address}
            page={page}
            asset={asset}
            group={group}
            size={{ width: widths[index] ?? 0, height: row.height }}
            isFirst={isActive}
          />
        ))}
      </div>
    </section>
  );
}
