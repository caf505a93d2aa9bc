import { useCallback, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { listAxes } from '../matrix/layout.ts';
import { linesOfGrid, moveInLines } from '../model/moves.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { Caption, Picture } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { useSize } from '../parts/use-size.ts';
import { counted } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { type GridLine, gap, layLines, sizeGrid } from './grid-layout.ts';
import { printSheet } from './print.tsx';
import { sectionsOf } from './sections.ts';
import { galleryOf } from './state.ts';

/** Height of a section's head, in CSS pixels. */
const headHeight = 40;

/** View of all assets, in sections by task, row key or axis. */
export const gridView: View = {
  name: 'grid',
  label: 'Grid',
  key: 'g',
  Component: Grid,
  move(page, direction) {
    const lines = sectionsOf(page).flatMap(({ assets }) => linesOfGrid(assets, page.columns));
    return moveInLines(lines, page.active.value, direction);
  },
};

function Grid({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const { height: room } = useSize(scroller);
  const strips = page.strips.value;
  const by = galleryOf(page).sections.value;
  const sections = useMemo(() => sectionsOf(page), [strips, by]);
  const { columns, line } = sizeGrid({ width, height: room });
  page.columns = columns;
  const lines = useMemo(() => layLines(sections, columns), [sections, columns]);
  const { items, height, reveal } = useRows({
    count: lines.length,
    heightOf: useCallback((index: number) => (lines[index]?.is === 'head' ? headHeight : line), [lines, line]),
    keyOf: useCallback((index: number) => keyOf(lines[index]), [lines]),
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    if (scrollToAsset(scroller.current, active)) return;
    reveal(lines.findIndex((one) => one.is === 'assets' && one.assets.some(({ address }) => address === active)));
    requestAnimationFrame(() => scrollToAsset(scroller.current, active));
  }, [page.focusWish.value, columns, lines]);
  useFocus(page, scroller);
  return (
    <>
      <GridTools page={page} />
      <div class="groups" ref={scroller} tabIndex={-1}>
        <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
          {items.map(({ index, key, start }) => {
            const one = lines[index];
            return (
              one && (
                <div
                  class="grid-line"
                  key={key}
                  style={{ transform: `translateY(${start}px)`, height: `${one.is === 'head' ? headHeight : line}px` }}
                >
                  <Line page={page} line={one} columns={columns} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

function keyOf(line: GridLine | undefined): string {
  if (line === undefined) return '';
  return line.is === 'head' ? `head ${line.section.name}` : `${line.section.name} ${line.assets[0]?.address ?? ''}`;
}

function Line({ page, line, columns }: { page: Page; line: GridLine; columns: number }) {
  if (line.is === 'head') {
    return (
      <header class="grid-head">
        <h2>{line.section.name}</h2>
        <span class="quiet">{counted(line.section.assets.length, 'output')}</span>
      </header>
    );
  }
  return <Cards page={page} assets={line.assets} columns={columns} />;
}

function Cards({ page, assets, columns }: { page: Page; assets: readonly ReviewAsset[]; columns: number }) {
  // Memoized, because scrolling renders all lines again.
  return useMemo(
    () => (
      <div class="grid-cards" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, gap: `${gap}px` }}>
        {assets.map((asset) => (
          <Card key={asset.address} page={page} asset={asset} />
        ))}
      </div>
    ),
    [assets, columns],
  );
}

function Card({ page, asset }: { page: Page; asset: ReviewAsset }) {
  return (
    <AssetBox page={page} asset={asset} place="tile card">
      <Face page={page} address={asset.address}>
        <Picture asset={asset} />
        <Caption asset={asset} />
      </Face>
    </AssetBox>
  );
}

function GridTools({ page }: { page: Page }) {
  const { sections, printsPicked } = galleryOf(page);
  const { assets } = page.data.value;
  const axes = useMemo(() => listAxes(assets), [assets]);
  const shown = page.strips.value.reduce((sum, strip) => sum + strip.assets.length, 0);
  return (
    <div class="tools gallery-tools">
      <label>
        Sections{' '}
        <select
          value={sections.value}
          onChange={({ currentTarget: { value } }) => {
            sections.value = value;
          }}
        >
          <option value="">by task</option>
          <option value="key">by key</option>
          {axes.map((axis) => (
            <option key={axis} value={`axis:${axis}`}>
              {`by ${axis}`}
            </option>
          ))}
        </select>
      </label>
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
      <Shown shown={shown} all={assets.length} onClear={() => page.clearFilter()} />
    </div>
  );
}

/** Shows the number of visible outputs, with a button that clears the filter. */
export function Shown({ shown, all, onClear }: { shown: number; all: number; onClear(): void }) {
  if (shown === all) return <span class="quiet">{counted(all, 'output')}</span>;
  return (
    <>
      <span class="quiet">{`${shown} of ${counted(all, 'output')}`}</span>
      <button type="button" onClick={onClear}>
        Show everything
      </button>
    </>
  );
}
