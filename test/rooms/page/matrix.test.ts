import { describe, expect, test } from 'vitest';
import type { ReviewAsset } from '../../../src/contract/review.ts';
import { columnWidths, layMatrix, linesOf, listAxes } from '../../../src/page/matrix/layout.ts';

function asset(task: string, key: string | undefined, matrix: Record<string, string>, take?: number): ReviewAsset {
  return {
    address: [task, key, ...Object.values(matrix), take].join('/'),
    task,
    kind: 'image',
    ...(key !== undefined && { key }),
    matrix,
    ...(take !== undefined && { take }),
    tags: [],
    state: 'planned',
    files: [],
    request: {},
    differs: [],
    isJudged: false,
    earlier: [],
    madeFrom: [],
    usedBy: [],
  };
}

const assets = [
  asset('draft', 'lamp', { style: 'warm', size: '1k' }, 1),
  asset('draft', 'lamp', { style: 'warm', size: '1k' }, 2),
  asset('draft', 'lamp', { style: 'cold', size: '1k' }),
  asset('draft', 'rug', { style: 'cold', size: '1k' }),
  asset('draft', 'rug', { style: 'warm', size: '2k' }),
  asset('final', 'lamp', {}),
];

const placesOf = (row: { name: string; cells: ReviewAsset[][] }) => ({
  name: row.name,
  cells: row.cells.map((cell) => cell.map((member) => assets.indexOf(member))),
});

describe('the matrix', () => {
  test('has a column for each value of an axis, takes in one cell, and holes', () => {
    const { columns, rows } = layMatrix(assets, { is: 'axis', axis: 'style' });
    expect(columns).toEqual(['warm', 'cold']);
    expect(rows.map(placesOf)).toEqual([
      { name: 'lamp · 1k', cells: [[0, 1], [2]] },
      { name: 'rug · 1k', cells: [[], [3]] },
      { name: 'rug · 2k', cells: [[4], []] },
    ]);
  });

  test('has a column for each task', () => {
    const { columns, rows } = layMatrix(assets, { is: 'task' });
    expect(columns).toEqual(['draft', 'final']);
    expect(rows.map(placesOf)).toEqual([
      { name: 'lamp', cells: [[0, 1, 2], [5]] },
      { name: 'rug', cells: [[3, 4], []] },
    ]);
    expect(layMatrix([asset('a', undefined, {})], { is: 'task' }).rows[0]?.name).toBe('no key');
  });

  test('names its rows by the titles of their groups, and keeps rows of the same title apart', () => {
    const titles = new Map([
      ['lamp', 'Lamp'],
      ['rug', 'Lamp'],
    ]);
    const { rows } = layMatrix(assets, { is: 'axis', axis: 'style' }, titles);
    expect(rows.map(({ name, title }) => [name, title])).toEqual([
      ['lamp · 1k', 'Lamp · 1k'],
      ['rug · 1k', 'Lamp · 1k'],
      ['rug · 2k', 'Lamp · 2k'],
    ]);
  });

  test('says the task in its rows where there are several, and where there is no key', () => {
    const others = [asset('a', 'k', { x: '1' }), asset('b', 'k', { x: '1' })];
    expect(layMatrix(others, { is: 'axis', axis: 'x' }).rows.map(({ name }) => name)).toEqual(['a · k', 'b · k']);
    expect(layMatrix([asset('a', undefined, { x: '1' })], { is: 'axis', axis: 'x' }).rows[0]?.name).toBe('a');
  });

  test('knows the axes of what is shown', () => {
    expect(listAxes(assets)).toEqual(['style', 'size']);
    expect(listAxes(assets.slice(5))).toEqual([]);
  });

  test('is walked line by line, each asset at its place from the left', () => {
    const matrix = layMatrix(assets, { is: 'axis', axis: 'style' });
    expect(columnWidths(matrix)).toEqual([2, 1]);
    expect(linesOf(matrix).map((line) => line.map(({ at }) => at))).toEqual([[0, 1, 2], [2], [0]]);
  });
});
