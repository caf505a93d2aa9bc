import type { RemoteRecord, Removal } from '../../contract/remote-record.ts';
import type { Json } from '../../ground/json.ts';
import { ageText } from '../age-text.ts';
import { creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from './table.ts';

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
