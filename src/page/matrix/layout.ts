import type { ReviewAsset } from '../../contract/review.ts';

export type MatrixBy = { is: 'task' } | { is: 'axis'; axis: string };

interface Matrix {
  columns: string[];
  rows: MatrixRow[];
}

export interface MatrixRow {
  name: string;
  /** Assets by column. A column with no visible assets has an empty list. */
  cells: ReviewAsset[][];
}

/**
 * Arranges assets in a matrix with a row per row key. All takes of a step share a cell. If columns are tasks, a cell
 * contains the assets of all axis values. If columns are values of one axis, each combination of other axis values has
 * its own row. Assets without a value on the axis of the columns are omitted.
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

export function listAxes(assets: readonly ReviewAsset[]): string[] {
  return [...new Set(assets.flatMap(({ matrix }) => Object.keys(matrix)))];
}

export function columnWidths({ columns, rows }: Matrix): number[] {
  return columns.map((_, column) => rows.reduce((most, { cells }) => Math.max(most, cells[column]?.length ?? 0), 1));
}

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
