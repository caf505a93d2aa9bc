import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReportAlike } from '../../contract/report.ts';
import type { ReviewAsset } from '../../contract/review.ts';
import { linesOfGrid, moveInLines } from '../model/moves.ts';
import { Isolated } from '../parts/isolated.tsx';
import { Thumb } from '../parts/media.tsx';
import { scrollToAsset } from '../parts/scroll-to-asset.ts';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { useSize } from '../parts/use-size.ts';
import { counted, credits } from '../parts/words.ts';
import type { LateView, Page } from '../state/page.ts';
import { Card } from './grid.tsx';
import { sizeGrid } from './grid-layout.ts';
import { galleryOf } from './state.ts';

/** Groups of assets that hardly differ to the eye. */
export const alikeView: LateView = {
  name: 'alike',
  Component: AlikeView,
  move(page, direction) {
    const lines = alikeOf(page).flatMap(({ assets }) => linesOfGrid(assets, page.columns));
    return moveInLines(lines, page.active.value, direction);
  },
};

interface Alike {
  found: ReportAlike;
  assets: ReviewAsset[];
}

/** More are counted, and not shown: they would be the same again. */
const mostCards = 24;

/** Those of which the filter shows at least one member. */
function alikeOf(page: Page): Alike[] {
  const { alike = [] } = galleryOf(page).report;
  const passing = new Set(page.strips.value.flatMap(({ assets }) => assets.map(({ address }) => address)));
  const { data, assets } = page.shown.value;
  return alike.flatMap((found) => {
    const own = found.members.flatMap((member) => assets.get(data.assets[member]?.address ?? '') ?? []);
    const shown = own.filter(({ address }) => passing.has(address)).slice(0, mostCards);
    return shown.length === 0 ? [] : [{ found, assets: shown }];
  });
}

function AlikeView({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const { width } = useSize(inside);
  const { height: room } = useSize(scroller);
  const strips = page.strips.value;
  const all = useMemo(() => alikeOf(page), [strips]);
  const { columns, line } = sizeGrid({ width, height: room });
  page.columns = columns;
  const { items, height, measure, reveal } = useRows({
    count: all.length,
    estimate: (index) => 48 + Math.ceil((all[index]?.assets.length ?? 1) / columns) * line,
    keyOf: (index) => all[index]?.found.members.join(' ') ?? '',
    anew: width,
    scroller,
  });
  useLayoutEffect(() => {
    if (scrollToAsset(scroller.current, page.active.value)) return;
    const index = all.findIndex(({ assets }) => assets.some(({ address }) => address === page.active.value));
    if (index >= 0) reveal(index);
  }, [page.focusWish.value, columns, all]);
  useFocus(page, scroller);
  const { hashed } = galleryOf(page).report;
  return (
    <>
      <p class="gallery-tools quiet">
        {all.length === 0 ? 'Nothing here looks the same.' : sumWords(all)}
        {hashed !== undefined && ` ${hashed.compared} of ${counted(hashed.images, 'picture')} could be compared.`}
      </p>
      <div class="groups" ref={scroller} tabIndex={-1}>
        <div class="all-rows" ref={inside} style={{ height: `${height}px` }}>
          {items.map(({ index, key, start }) => {
            const one = all[index];
            return (
              one && (
                <section
                  class="grid-line"
                  key={key}
                  data-index={index}
                  ref={measure}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <Found page={page} alike={one} columns={columns} />
                </section>
              )
            );
          })}
        </div>
      </div>
    </>
  );
}

function sumWords(all: readonly Alike[]): string {
  const sum = all.reduce<number | null>(
    (amount, { found }) => (amount === null || found.credits === null ? null : amount + found.credits),
    0,
  );
  return `${counted(all.length, 'place')} where credits bought nothing new to see: ${credits(sum)}.`;
}

function Found({ page, alike: { found, assets }, columns }: { page: Page; alike: Alike; columns: number }) {
  const { is, members, distance } = found;
  const [first] = assets;
  const name = is === 'rows' ? `${members.length} rows of ${first?.task}` : first?.address.replace(/[,/][^,/]*$/, '');
  const titles = {
    takes: `${members.length} takes that hardly differ: ${name}`,
    rows: `${name} came out alike`,
    edit: `An edit that changed nothing to see: ${first?.address}`,
  };
  const left = members.length - assets.length;
  const before = is === 'edit' ? first?.earlier[0]?.files.find((file) => file.is === 'image') : undefined;
  return (
    <>
      <header class="grid-head">
        <h2>
          <Isolated text={titles[is]} />
        </h2>
        <span class="quiet">
          {[credits(found.credits), `${distance} of 64 bits differ`, left > 0 ? `${left} more` : '']
            .filter(Boolean)
            .join(' · ')}
        </span>
        {(is === 'edit' || assets.length > 1) && first !== undefined && (
          <button
            type="button"
            onClick={() => {
              page.activate(first.address);
              page.open(is === 'edit' ? 'changes' : 'compare');
            }}
          >
            Compare<span class="away"> {first.address}</span>
          </button>
        )}
      </header>
      <div class="grid-cards" style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`, gap: '8px' }}>
        {before !== undefined && (
          <div class="box tile card">
            <span class="picture">
              <Thumb key={before.sha256} file={before} />
            </span>
            <span class="facts">before</span>
          </div>
        )}
        {assets.map((asset) => (
          <Card key={asset.address} page={page} asset={asset} />
        ))}
      </div>
    </>
  );
}
