import type { Leftover, RemoteRecord, Removal } from '../../contract/leftovers.ts';
import type { Json } from '../../ground/json.ts';
import { bad, type Document, type Text, table } from '../document.ts';
import { ageText, bytesText, countOf, creditsText } from '../numbers.ts';

export function leftoversView(rows: readonly Leftover[], now: number): Document {
  const columns = [
    { title: 'file', least: 16, cut: 'middle' as const },
    { title: 'size', align: 'right' as const },
    { title: 'credits', align: 'right' as const },
    { title: 'from', least: 12, cut: 'middle' as const },
    { title: 'kept for', align: 'right' as const },
  ];
  const cells = rows.map((row) => [
    nameOf(row),
    bytesText(row.bytes),
    row.is === 'partial' ? '' : creditsText(row.credits ?? null),
    row.is === 'partial' ? 'a broken download' : (row.address ?? 'no step on record'),
    row.since === undefined ? '' : ageText(row.since, now),
  ]);
  return [table(columns, cells)];
}

/** Returns the path of a file. A kept file is shown by its former path and the first digits of its digest. */
function nameOf({ path, was }: Leftover): string {
  return was === undefined ? path : `${was} (${path.slice(0, 8)})`;
}

export function chargesText(rows: readonly Leftover[]): string {
  const paid = rows.filter(({ is }) => is !== 'partial');
  const jobs = new Map(paid.map(({ jobId, path, credits }) => [jobId ?? path, credits]));
  const known = [...jobs.values()].filter((credits) => credits !== undefined);
  const sum = countOf(
    known.reduce((total, credits) => total + credits, 0),
    'credit',
  );
  const unknown = jobs.size - known.length;
  if (unknown === 0) return sum;
  return `${known.length === 0 ? '' : `${sum} and `}an unknown number for ${countOf(unknown, 'job')}`;
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

export function recordsView(records: readonly RemoteRecord[]): Document {
  const columns = [
    { title: 'kind' },
    { title: 'step', least: 12, cut: 'middle' as const },
    { title: 'job id' },
    { title: 'credits', align: 'right' as const },
    { title: 'file here' },
  ];
  const cells = records.map((record): Text[] => [
    record.kind,
    `${record.address}${record.isOrphan ? ' (orphan)' : ''}`,
    record.jobId,
    creditsText(record.credits ?? null),
    fileCell(record),
  ]);
  return [table(columns, cells)];
}

function fileCell({ files }: RemoteRecord): Text {
  switch (files) {
    case 'intact':
      return 'yes';
    case 'missing':
      return bad('missing: lost for good');
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
