import type { Leftover } from '../../contract/leftover.ts';
import type { Json } from '../../ground/json.ts';
import { ageText } from '../age-text.ts';
import { bytesText, countOf, creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { tableText } from './table.ts';

export function leftoversText(
  rows: readonly Leftover[],
  { now, ...options }: { style: Style; width?: number; now: number },
): string {
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
  return tableText(columns, cells, options);
}

/** Digests name kept files; people know them by where they were, and tell two of one place apart by the first digits. */
function nameOf({ path, was }: Leftover): string {
  return was === undefined ? path : `${was} (${path.slice(0, 8)})`;
}

/** Credits that the jobs of these files were charged. A job with several files counts once. */
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
