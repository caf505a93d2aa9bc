import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { moveInLines } from '../model/moves.ts';
import { markOf } from '../model/shown.ts';
import { AssetBox } from '../parts/asset-box.tsx';
import { Face } from '../parts/face.tsx';
import { Isolated } from '../parts/isolated.tsx';
import { whyNothing } from '../parts/media.tsx';
import { Small } from '../parts/tile.tsx';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { counted, shortName } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { columnWidths, layMatrix, linesOf, listAxes, type MatrixBy, type MatrixRow } from './layout.ts';

const rowHeight = 116;
const heightOfRow = () => rowHeight;

/** Axis that the user selected for the columns. Empty if the user selected tasks. Undefined without a selection. */
const chosen = signal<string | undefined>(undefined);

export const matrixView: View = {
  name: 'matrix',
  label: 'Matrix',
  key: 'm',
  Component: MatrixView,
  move: (page, direction) => moveInLines(linesOf(layMatrix(assetsOf(page), byOf(page))), page.active.value, direction),
};

function assetsOf(page: Page): ReviewAsset[] {
  return page.strips.value.flatMap(({ assets }) => assets);
}

/**
 * Returns the axis that the user selected if the active asset has a value on that axis, or else an axis on which all
 * assets have a value.
 */
function byOf(page: Page): MatrixBy {
  const own = page.activeAsset.value?.matrix ?? {};
  const axis = chosen.value ?? sharedAxis(assetsOf(page));
  return axis === undefined || own[axis] === undefined ? { is: 'task' } : { is: 'axis', axis };
}

function sharedAxis(assets: readonly ReviewAsset[]): string | undefined {
  return listAxes(assets).find((axis) => assets.every(({ matrix }) => matrix[axis] !== undefined));
}

function choose(page: Page, axis: string): void {
  chosen.value = axis;
  if (axis === '' || page.activeAsset.value?.matrix[axis] !== undefined) return;
  page.activate(assetsOf(page).find(({ matrix }) => matrix[axis] !== undefined)?.address, false);
}

function MatrixView({ page }: { page: Page }) {
  const scroller = useRef<HTMLDivElement>(null);
  const strips = page.strips.value;
  const by = byOf(page);
  const axis = by.is === 'axis' ? by.axis : '';
  const assets = useMemo(() => assetsOf(page), [strips]);
  const matrix = useMemo(() => layMatrix(assets, by), [assets, axis]);
  const widths = useMemo(() => columnWidths(matrix), [matrix]);
  const { items, height, reveal } = useRows({
    count: matrix.rows.length,
    heightOf: heightOfRow,
    keyOf: (index) => matrix.rows[index]?.name ?? '',
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    const row = matrix.rows.findIndex(({ cells }) => cells.some((cell) => cell.some((one) => one.address === active)));
    if (row >= 0 && !page.isPointed) reveal(row);
  }, [active, matrix]);
  useFocus(page, scroller);
  useLayoutEffect(() => {
    // The asset has no `active` class yet, so it is found by its address.
    const asset = scroller.current?.querySelector(`[data-address="${CSS.escape(active)}"]`);
    if (!page.isPointed) asset?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [active]);
  const style = { gridTemplateColumns: templateOf(widths) };
  return (
    <div class="matrix">
      <Tools page={page} assets={assets} rows={matrix.rows} axis={axis} />
      <div class="matrix-scroller" ref={scroller} tabIndex={-1}>
        <table class="matrix-table" aria-rowcount={matrix.rows.length + 1} aria-colcount={matrix.columns.length + 1}>
          <caption class="away">{axis === '' ? 'Keys and tasks' : `Keys and ${axis}`}</caption>
          <thead>
            <tr class="matrix-head" aria-rowindex={1} style={style}>
              <th class="corner" scope="col">
                key
              </th>
              {matrix.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody class="matrix-rows" style={{ height: `${height}px` }}>
            {items.map(({ index, key, start }) => {
              const row = matrix.rows[index];
              return row && <MatrixLine key={key} page={page} row={row} index={index} start={start} widths={widths} />;
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface ToolsProps {
  page: Page;
  assets: readonly ReviewAsset[];
  rows: readonly MatrixRow[];
  axis: string;
}

function Tools({ page, assets, rows, axis }: ToolsProps) {
  const left = assets.length - rows.reduce((sum, { cells }) => sum + cells.flat().length, 0);
  return (
    <div class="tools">
      <label>
        Columns{' '}
        <select value={axis} onChange={({ currentTarget: { value } }) => choose(page, value)}>
          <option value="">tasks</option>
          {listAxes(assets).map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <span class="quiet">
        {`${counted(rows.length, 'row')}${left > 0 ? ` · ${counted(left, 'output')} without ${axis} left out` : ''}`}
      </span>
    </div>
  );
}

const assetWidth = 92;
const nameWidth = 'min(150px, 28vw)';

function templateOf(widths: readonly number[]): string {
  return `${nameWidth} ${widths.map((width) => `${width * assetWidth + 12}px`).join(' ')}`;
}

interface MatrixLineProps {
  page: Page;
  row: MatrixRow;
  index: number;
  /** Distance from the top of the first row, in CSS pixels. */
  start: number;
  widths: readonly number[];
}

function MatrixLine({ page, row, index, start, widths }: MatrixLineProps) {
  // Memoized, because scrolling renders all lines again.
  return useMemo(
    () => (
      <tr
        class="matrix-line"
        aria-rowindex={index + 2}
        style={{
          gridTemplateColumns: templateOf(widths),
          transform: `translateY(${start}px)`,
          height: `${rowHeight}px`,
        }}
      >
        <th scope="row" title={row.name}>
          <Isolated text={titleOf(page, row) ?? row.name} />
        </th>
        {row.cells.map((cell, column) => (
          <td key={column} class="cell">
            {cell.map((asset, place) => (
              <Asset
                key={asset.address}
                page={page}
                asset={asset}
                name={cell.length > 1 ? shortName(asset, place) : ''}
              />
            ))}
          </td>
        ))}
      </tr>
    ),
    [row, index, start, widths],
  );
}

function titleOf({ shown }: Page, { cells }: MatrixRow): string | undefined {
  const titles = cells.flat().map(({ address }) => shown.value.groupOf.get(address)?.group.title);
  return titles.find((title) => title !== undefined);
}

function Asset({ page, asset, name }: { page: Page; asset: ReviewAsset; name: string }) {
  const { address } = asset;
  const mark = markOf(asset);
  const nothing = whyNothing(asset);
  const isOutdated = asset.files.length > 0 && (asset.state === 'changed' || asset.state === 'planned');
  return (
    <AssetBox page={page} asset={asset} place="matrix-asset">
      <Face page={page} address={address}>
        <span class="small" title={nothing}>
          {nothing === undefined ? <Small asset={asset} /> : <span class="why">{nothing}</span>}
        </span>
        <span class="matrix-mark">
          <span class="away">{address} </span>
          {mark === 'undecided' ? name : (asset.verdict?.reason ?? mark)}
          {isOutdated && <b class="outdated">outdated</b>}
        </span>
      </Face>
    </AssetBox>
  );
}
