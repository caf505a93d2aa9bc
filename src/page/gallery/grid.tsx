import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { moveInLines } from '../model/moves.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { misfits, shapesOf } from '../parts/shapes.ts';
import { Caption, Picture } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { useRows, useSize } from '../parts/use-rows.ts';
import type { Page, View } from '../state/page.ts';
import { type PictureRoom, widthIn } from '../views/groups-layout.ts';
import { sectionsOf, shownWords } from './about.ts';
import { around, type GridLine, layLines, linesOf } from './grid-layout.ts';
import { printSheet, printsPicked } from './print.tsx';

/** Sizes in CSS pixels, the same as in the style sheet. */
const headHeight = 40;
const gap = 10;
const frame = 14;

const layouts = new WeakMap<Page, { lines: readonly GridLine[]; room: PictureRoom }>();

export const gridView: View = {
  name: 'grid',
  label: 'Grid',
  key: 'g',
  Component: Grid,
  move(page, direction) {
    const laid = layouts.get(page);
    return laid && moveInLines(linesOf(laid.lines, laid.room), page.active.value, direction);
  },
};

function Grid({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const { height: seen } = useSize(scroller);
  const strips = page.strips.value;
  const fit = misfits.value;
  const laid = useMemo(() => {
    const room = { width, height: seen, gap, frame, shapeOf: shapesOf(strips) };
    return { lines: width > 0 ? layLines(sectionsOf(page), room) : [], room };
  }, [strips, width, seen, fit]);
  layouts.set(page, laid);
  const { lines, room } = laid;
  const heightOf = useCallback((index: number) => heightOfLine(lines[index]), [lines]);
  const { items, height, reveal } = useRows({
    count: lines.length,
    heightOf,
    keyOf: useCallback((index: number) => keyOf(lines[index]), [lines]),
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    if (scrollToAsset(scroller.current, active)) return;
    reveal(lines.findIndex((one) => 'assets' in one && one.assets.some(({ address }) => address === active)));
    requestAnimationFrame(() => scrollToAsset(scroller.current, active));
  }, [page.focusWish.value, lines]);
  useFocus(page, scroller);
  return (
    <>
      <GridTools page={page} />
      <div class="groups" ref={scroller} tabIndex={-1}>
        <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
          {items.map(({ index, key, start }) => {
            const line = lines[index];
            return (
              line && (
                <div
                  class="grid-line"
                  key={key}
                  style={{ transform: `translateY(${start}px)`, height: `${heightOf(index)}px` }}
                >
                  {'assets' in line ? <Cards page={page} line={line} room={room} /> : <h2>{line.name}</h2>}
                </div>
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

function heightOfLine(line: GridLine | undefined): number {
  return line !== undefined && 'assets' in line ? Math.floor(line.height) + around : headHeight;
}

function keyOf(line: GridLine | undefined): string {
  return line === undefined ? '' : `${line.name} ${'assets' in line ? line.assets[0]?.address : ''}`;
}

interface CardsProps {
  page: Page;
  line: Extract<GridLine, { assets: readonly ReviewAsset[] }>;
  room: PictureRoom;
}

function Cards({ page, line, room }: CardsProps) {
  const height = Math.floor(line.height);
  // Memoized, because scrolling renders all lines again.
  return useMemo(
    () => (
      <div class="tiles">
        {line.assets.map((asset) => {
          const width = widthIn(room, asset, height);
          return (
            <AssetBox key={asset.address} page={page} asset={asset} place="tile" width={width + frame}>
              <Face page={page} address={asset.address}>
                <Picture asset={asset} size={{ width, height }} />
                <Caption asset={asset} />
              </Face>
            </AssetBox>
          );
        })}
      </div>
    ),
    [line, room],
  );
}

function GridTools({ page }: { page: Page }) {
  const all = page.data.value.assets.length;
  const shown = page.strips.value.reduce((sum, { assets }) => sum + assets.length, 0);
  return (
    <div class="tools gallery-tools">
      <span class="quiet">{shownWords(page, shown, all)}</span>
      {shown < all && (
        <button type="button" onClick={() => page.clearFilter()}>
          Show everything
        </button>
      )}
      <button type="button" onClick={() => void printSheet(page)}>
        Print
      </button>
      <label>
        <input
          type="checkbox"
          checked={printsPicked.value}
          onChange={({ currentTarget }) => {
            printsPicked.value = currentTarget.checked;
          }}
        />
        Picked only
      </label>
    </div>
  );
}
