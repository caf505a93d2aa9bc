import type { ListedJob } from '../../contract/answer.ts';
import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import { ageText, bytesText, creditsText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { type Cell, tableText } from './table.ts';

/** A job as the service lists it, and what the local locks know about it. */
export interface JobRow extends Omit<ListedJob, 'recordId' | 'echoes'> {
  /** The step that it belongs to. Absent: no lock here knows the job. */
  step?: { lock: string; address: string };
}

export function jobsText(rows: readonly JobRow[], options: { style: Style; width?: number; now: number }): string {
  const { style } = options;
  const columns = [
    { title: 'kind' },
    { title: 'state' },
    { title: 'age', align: 'right' as const },
    { title: 'credits', align: 'right' as const },
    { title: 'model', least: 8 },
    { title: 'step', least: 12, cut: 'middle' as const },
    { title: 'prompt', least: 10 },
    { title: 'job id' },
  ];
  const cells = rows.map((row): Cell[] => [
    row.kind,
    stateCell(row.status, style),
    ageText(row.createdAt, options.now),
    creditsText(row.credits ?? null),
    row.model ?? '',
    row.step === undefined ? { text: 'not on record', paint: style.yellow } : row.step.address,
    row.error ?? row.prompt ?? '',
    row.jobId,
  ]);
  return tableText(columns, cells, options);
}

function stateCell(status: string, style: Style): Cell {
  const { states } = envelope;
  switch (status) {
    case states.completed:
      return { text: 'completed', paint: style.green };
    case states.failed:
      return { text: 'failed', paint: style.red };
    case states.queued:
    case states.processing:
      return { text: status.toLowerCase(), paint: style.cyan };
    default:
      return status;
  }
}

export interface JobsFacts {
  jobs: readonly JobRow[];
  /** There were more than requested. */
  more: boolean;
  /** Kinds whose jobs the service does not list. */
  unlisted: readonly string[];
  /** The locks that were read. */
  locks: readonly string[];
}

export function jobsJson({ jobs, more, unlisted, locks }: JobsFacts): Json {
  return {
    mediabatch: 'jobs',
    version: 1,
    jobs: jobs.map(({ step, ...job }) => ({ ...job, step: step === undefined ? null : { ...step } })),
    more,
    unlisted: [...unlisted],
    locks: [...locks],
  };
}

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
