import type { Json } from '../../ground/json.ts';
import { ageText } from '../age-text.ts';
import { bytesText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { tableText } from './table.ts';

/** A file in the media library. */
export interface UploadRow {
  name: string;
  url: string;
  id: string;
  bytes?: number;
  /** ISO 8601. */
  createdAt?: string;
}

export function uploadsText(
  rows: readonly UploadRow[],
  options: { style: Style; width?: number; now?: number },
): string {
  const { now } = options;
  const columns = [
    { title: 'name', least: 10, cut: 'middle' as const },
    { title: 'size', align: 'right' as const },
    { title: 'age', align: 'right' as const },
    { title: 'url' },
    { title: 'id' },
  ];
  const cells = rows.map(({ name, bytes, createdAt, url, id }) => [
    { text: name, paint: options.style.bold },
    bytes === undefined ? '' : bytesText(bytes),
    now === undefined ? '' : ageText(createdAt, now),
    url,
    id,
  ]);
  return tableText(columns, cells, options);
}

export function uploadsJson(rows: readonly UploadRow[], failed: readonly { name: string; error: string }[] = []): Json {
  return {
    mediabatch: 'uploads',
    version: 1,
    uploads: rows.map((row) => ({ ...row })),
    failed: failed.map((one) => ({ ...one })),
  };
}
