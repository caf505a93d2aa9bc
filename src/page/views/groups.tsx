import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Strip } from '../model/filter.ts';
import { moveInLines, nextUndecided } from '../model/moves.ts';
import { GroupHead } from '../parts/group-head.tsx';
import { pictureOf, sourcesOf } from '../parts/media.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { isSound, misfits, shapesOf } from '../parts/shapes.ts';
import { Tile } from '../parts/tile.tsx';
import { useAhead } from '../parts/use-ahead.ts';
import { useFocus } from '../parts/use-focus.ts';
import { useRows, useSize } from '../parts/use-rows.ts';
import { askedText, counted } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { layRows, linesOf, type PartOfStrip, type Room, type Row, widthIn } from './groups-layout.ts';

const groupsAhead = 3;
/** Sizes in CSS pixels, the same as in the style sheet. */
const gap = 10;
const frame = 14;
const below = 54;
const head = 44;
const asked = 20;
const folded = 36;
const listen = 33;

export const groupsView: View = {
  name: 'groups',
  label: 'Groups',
  Component: Groups,
  move(page, direction) {
    const laid = layouts.get(page);
    return laid && moveInLines(linesOf(laid.rows, laid.room), page.active.value, direction);
  },
};

const layouts = new WeakMap<Page, Laid>();

interface Laid {
  strips: readonly Strip[];
  rows: readonly Row[];
  room: Room;
  width: number;
  height: number;
  fit: number;
}

function lay(
  strips: readonly Strip[],
  { width, height, fit }: Pick<Laid, 'width' | 'height' | 'fit'>,
  before: Laid | undefined,
): Laid {
  const known = before?.width === width && before.height === height && before.fit === fit ? before : undefined;
  if (known?.strips === strips) return known;
  const room = known?.room ?? { width, height, gap, frame, head, below, shapeOf: shapesOf(strips), isLow: isSound };
  return { strips, rows: layRows(strips, room), room, width, height, fit };
}

function Groups({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const { height: seen } = useSize(scroller);
  const strips = page.strips.value;
  const fit = misfits.value;
  const laid = lay(strips, { width, height: seen, fit }, layouts.get(page));
  layouts.set(page, laid);
  const { rows, room } = laid;
  // A campaign may have thousands of rows, so their heights are computed only when the rows change.
  const named = useMemo(
    () => ({
      heightOf: (index: number) => heightOf(rows[index]),
      keyOf(index: number) {
        const { strips: [first] = [], planned } = rows[index] ?? {};
        return planned === undefined ? `${first?.from} ${first?.group.group.name}` : `${planned[0]?.group.group.name}`;
      },
    }),
    [rows],
  );
  const { items, height, reveal } = useRows({ ...named, count: rows.length, scroller });
  const active = page.active.value;
  useLayoutEffect(() => {
    // A click never scrolls, because the second press of a double click would hit another element.
    if (page.isPointed) return;
    if (!scrollToAsset(scroller.current, active))
      reveal(rows.findIndex((row) => [...row.strips, ...(row.planned ?? [])].some((strip) => holds(strip, active))));
    requestAnimationFrame(() => scrollToAsset(scroller.current, active));
  }, [page.focusWish.value, width, seen, fit]);
  useFocus(page, scroller);
  const ahead = nextUndecided(strips, active, groupsAhead).flatMap((asset) => pictureOf(asset) ?? []);
  const side = Math.max(0, ...rows.slice(0, 3).map((row) => row.height));
  useAhead(ahead.map((file) => sourcesOf(file, side)[0]));
  return (
    <div class="groups" ref={scroller} tabIndex={-1}>
      <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          return (
            row && (
              <div class="row" key={key} style={{ transform: `translateY(${start}px)`, height: `${heightOf(row)}px` }}>
                {row.strips.map((strip) => (
                  <StripOfTiles key={strip.group.group.name} page={page} strip={strip} row={row} room={room} />
                ))}
                {row.planned !== undefined && <Planned page={page} strips={row.planned} />}
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
  if (row.planned !== undefined) return folded;
  const [first] = row.strips;
  const isAsked = row.strips.some(({ group }) => askedText(group.assets) !== undefined);
  const heads = first?.from ? 0 : head - (isAsked ? 0 : asked);
  const hasSound = row.strips.some(({ assets }) => assets.some(isSound));
  return row.height + below + heads + (hasSound ? listen : 0);
}

function holds({ assets }: Strip, address: string): boolean {
  return assets.some((asset) => asset.address === address);
}

const mostNames = 24;

function Planned({ page, strips }: { page: Page; strips: readonly Strip[] }) {
  const active = page.active.value;
  const all = strips.flatMap(({ assets }) => assets);
  const from = Math.max(
    0,
    Math.min(
      all.findIndex(({ address }) => address === active),
      all.length - mostNames,
    ),
  );
  return (
    <p class="planned">
      <b>{strips[0]?.group.group.task}</b> {counted(all.length, 'output')}, not bought yet
      {all.slice(from, from + mostNames).map((asset) => (
        <button
          key={asset.address}
          type="button"
          class={asset.address === active ? 'active' : ''}
          data-address={asset.address}
          data-asset={asset.address}
          tabIndex={asset.address === active ? 0 : -1}
          onClick={() => page.activate(asset.address)}
        >
          {[asset.key, ...Object.values(asset.matrix), asset.take].filter(Boolean).join(' ') || asset.task}
        </button>
      ))}
      {all.length > mostNames && ' …'}
    </p>
  );
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
      data-group={group.group.name}
      // The head of a group needs more width than one small picture.
      style={{ width: row.strips.length > 1 ? `${width}px` : `max(${width}px, min(100%, 640px))` }}
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
            width={(widths[index] ?? 0) + frame}
            isFirst={isActive}
          />
        ))}
      </div>
    </section>
  );
}
