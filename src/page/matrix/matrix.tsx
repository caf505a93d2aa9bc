import { signal } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ReviewAsset } from '../../contract/review.ts';
import { moveInLines } from '../model/moves.ts';
import { useFocus } from '../parts/use-focus.ts';
import { useRows } from '../parts/use-rows.ts';
import { counted } from '../parts/words.ts';
import type { Page, View } from '../state/page.ts';
import { columnWidths, layMatrix, linesOf, listAxes, type MatrixBy } from './layout.ts';
import { MatrixLine, rowHeight, templateOf } from './matrix-line.tsx';

/** The axis that somebody chose for the columns; empty: the tasks; undefined: nobody chose. */
const chosen = signal<string | undefined>(undefined);

/** Rows are keys, columns the values of an axis or the tasks. */
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

/** The axis that was chosen, unless what is active does not have it; by itself an axis only where everything has one. */
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
    estimate: () => rowHeight,
    keyOf: (index) => matrix.rows[index]?.name ?? '',
    scroller,
  });
  const active = page.active.value;
  useLayoutEffect(() => {
    const row = matrix.rows.findIndex(({ cells }) => cells.some((cell) => cell.some((one) => one.address === active)));
    if (row >= 0) reveal(row);
  }, [active, matrix]);
  useFocus(page, scroller);
  useLayoutEffect(() => {
    scroller.current?.querySelector('.matrix-asset.active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [active]);
  const left = assets.length - matrix.rows.reduce((sum, { cells }) => sum + cells.flat().length, 0);
  const style = { gridTemplateColumns: templateOf(widths) };
  return (
    <div class="matrix">
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
          {`${counted(matrix.rows.length, 'row')}${left > 0 ? ` · ${counted(left, 'output')} without ${axis} left out` : ''}`}
        </span>
      </div>
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
