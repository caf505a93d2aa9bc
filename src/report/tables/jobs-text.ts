import type { ListedJob } from '../../contract/answer.ts';
import type { Json } from '../../ground/json.ts';
import { envelope } from '../../kinds/envelope.ts';
import { active, bad, type Document, good, strong, type Text, table, warning } from '../document.ts';
import { ageText, bytesText, creditsText } from '../numbers.ts';

/** A job in a list of the service, with facts from the local locks. */
export interface JobRow extends Omit<ListedJob, 'recordId' | 'echoes'> {
  /** Step of the job. Omitted when no lock of this folder has the job. */
  step?: { lock: string; address: string };
}

export function jobsView(rows: readonly JobRow[], now: number): Document {
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
  const cells = rows.map((row): Text[] => [
    row.kind,
    stateCell(row.status),
    ageText(row.createdAt, now),
    creditsText(row.credits ?? null),
    row.model ?? '',
    row.step === undefined ? warning('not on record') : row.step.address,
    row.error ?? row.prompt ?? '',
    row.jobId,
  ]);
  return [table(columns, cells)];
}

function stateCell(status: string): Text {
  const { states } = envelope;
  switch (status) {
    case states.completed:
      return good('completed');
    case states.failed:
      return bad('failed');
    case states.queued:
    case states.processing:
      return active(status.toLowerCase());
    default:
      return status;
  }
}

interface JobsFacts {
  jobs: readonly JobRow[];
  more: boolean;
  unlisted: readonly string[];
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

export interface UploadRow {
  name: string;
  url: string;
  id: string;
  bytes?: number;
  /** ISO 8601. */
  createdAt?: string;
}

/** `now`: time by which ages are shown. */
export function uploadsView(rows: readonly UploadRow[], now?: number): Document {
  const columns = [
    { title: 'name', least: 10, cut: 'middle' as const },
    { title: 'size', align: 'right' as const },
    { title: 'age', align: 'right' as const },
    { title: 'url' },
    { title: 'id' },
  ];
  const cells = rows.map(({ name, bytes, createdAt, url, id }) => [
    strong(name),
    bytes === undefined ? '' : bytesText(bytes),
    now === undefined ? '' : ageText(createdAt, now),
    url,
    id,
  ]);
  return [table(columns, cells)];
}

export function uploadsJson(rows: readonly UploadRow[], failed: readonly { name: string; error: string }[] = []): Json {
  return {
    mediabatch: 'uploads',
    version: 1,
    uploads: rows.map((row) => ({ ...row })),
    failed: failed.map((one) => ({ ...one })),
  };
}
