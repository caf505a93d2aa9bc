import type { ReviewAsset } from '../../contract/review.ts';

/** Meaning of the columns: the tasks, or the values of an axis. */
export type MatrixBy = { is: 'task' } | { is: 'axis'; axis: string };

export interface Matrix {
  columns: string[];
  rows: MatrixRow[];
}

export interface MatrixRow {
  name: string;
  /** Assets of each column; none: the campaign has no such step, or a filter hides it. */
  cells: ReviewAsset[][];
}

/**
 * Lays assets out: a row for each key, a column for each task or each value of an axis. What belongs in one cell shares it:
 * takes, and with columns of tasks the values of axes; beside an axis, values of the others make rows of their own. What
 * has no value on the axis is left out.
 */
export function layMatrix(assets: readonly ReviewAsset[], by: MatrixBy): Matrix {
  const placed = assets.flatMap((asset) => {
    const column = by.is === 'task' ? asset.task : asset.matrix[by.axis];
    return column === undefined ? [] : [{ asset, column }];
  });
  const columns = [...new Set(placed.map(({ column }) => column))];
  const placeOf = new Map(columns.map((column, place) => [column, place]));
  const hasTasks = by.is === 'axis' && new Set(placed.map(({ asset }) => asset.task)).size > 1;
  const rows = new Map<string, MatrixRow>();
  for (const { asset, column } of placed) {
    const name = nameRow(asset, by, hasTasks);
    const row = rows.get(name) ?? { name, cells: columns.map(() => []) };
    rows.set(name, row);
    row.cells[placeOf.get(column) ?? 0]?.push(asset);
  }
  return { columns, rows: [...rows.values()] };
}

/** Axes that assets have, in the order in which they come. */
export function listAxes(assets: readonly ReviewAsset[]): string[] {
  return [...new Set(assets.flatMap(({ matrix }) => Object.keys(matrix)))];
}

/** The largest number of assets in a cell of each column; a column is at least as wide as one. */
export function columnWidths({ columns, rows }: Matrix): number[] {
  return columns.map((_, column) => rows.reduce((most, { cells }) => Math.max(most, cells[column]?.length ?? 0), 1));
}

/** The rows as lines to walk through, with each asset at its place from the left. */
export function linesOf(matrix: Matrix): { address: string; at: number }[][] {
  const widths = columnWidths(matrix);
  const starts = widths.map((_, column) => widths.slice(0, column).reduce((sum, width) => sum + width, 0));
  return matrix.rows.map(({ cells }) =>
    cells.flatMap((cell, column) =>
      cell.map(({ address }, member) => ({ address, at: (starts[column] ?? 0) + member })),
    ),
  );
}

function nameRow({ task, key, matrix }: ReviewAsset, by: MatrixBy, hasTasks: boolean): string {
  if (by.is === 'task') return key ?? 'no key';
  const others = Object.entries(matrix).flatMap(([axis, value]) => (axis === by.axis ? [] : [value]));
  const parts = [...(hasTasks ? [task] : []), ...(key === undefined ? [] : [key]), ...others];
  return parts.length === 0 ? task : parts.join(' · ');
}
