import type { Leftover } from '../../contract/leftover.ts';
import type { Json } from '../../ground/json.ts';
import { bytesText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { tableText } from './table.ts';

export function leftoversText(rows: readonly Leftover[], options: { style: Style; width?: number }): string {
  const columns = [
    { title: 'file', least: 16, cut: 'middle' as const },
    { title: 'size', align: 'right' as const },
    { title: 'from', least: 12, cut: 'middle' as const },
  ];
  const cells = rows.map(({ path, bytes, is, address }) => [
    path,
    bytesText(bytes),
    is === 'partial' ? 'a broken download' : (address ?? ''),
  ]);
  return tableText(columns, cells, options);
}

export function gcJson(
  rows: readonly (Leftover & { deleted: boolean })[],
  kept: readonly { path: string; why: string }[],
): Json {
  const bytesFreed = rows.reduce((total, { bytes, deleted }) => total + (deleted ? bytes : 0), 0);
  return {
    mediabatch: 'gc',
    version: 1,
    files: rows.map((row) => ({ ...row })),
    kept: kept.map((one) => ({ ...one })),
    bytesFreed,
  };
}
