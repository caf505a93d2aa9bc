import type { Json } from '../../ground/json.ts';
import { ageText } from '../age-text.ts';
import { creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from './table.ts';

/** A record of the service that a step's job stands in. */
export interface RemoteRecord {
  kind: string;
  address: string;
  jobId: string;
  recordId?: string;
  /** What was paid for it; absent where nobody knows. */
  credits?: number;
  /** ISO 8601, where the service lists it. */
  createdAt?: string;
  /** What there is here of what it gave. `none`: it never gave any. */
  files: 'intact' | 'missing' | 'none';
  /** No step of the manifest uses it. */
  isOrphan: boolean;
}

/** What became of a record that was to be removed. `gone`: it was not there any more. */
export type Removal = { record: RemoteRecord } & (
  | { result: 'removed' | 'gone' | 'left' }
  | { result: 'failed'; error: string }
);

export function recordsText(
  records: readonly RemoteRecord[],
  options: { style: Style; width?: number; now: number },
): string {
  const columns = [
    { title: 'kind' },
    { title: 'step', least: 12, cut: 'middle' as const },
    { title: 'job id' },
    { title: 'credits', align: 'right' as const },
    { title: 'age', align: 'right' as const },
    { title: 'file here' },
  ];
  const cells = records.map((record): Cell[] => [
    record.kind,
    `${record.address}${record.isOrphan ? ' (orphan)' : ''}`,
    record.jobId,
    creditsText(record.credits ?? null),
    ageText(record.createdAt, options.now),
    fileCell(record, options.style),
  ]);
  return tableText(columns, cells, options);
}

function fileCell({ files }: RemoteRecord, style: Style): Cell {
  switch (files) {
    case 'intact':
      return 'yes';
    case 'missing':
      return { text: 'missing: lost for good', paint: style.red };
    case 'none':
      return 'none';
    default:
      return files satisfies never;
  }
}

export function destroyJson(removals: readonly Removal[], skipped: readonly { address: string; why: string }[]): Json {
  return {
    mediabatch: 'destroy',
    version: 1,
    records: removals.map((removal) => ({
      ...removal.record,
      result: removal.result,
      ...(removal.result === 'failed' && { error: removal.error }),
    })),
    skipped: skipped.map((one) => ({ ...one })),
  };
}
