import { ServiceError } from '../contract/errors.ts';
import type { ListedJob } from '../contract/listed-job.ts';
import { requireKind } from '../kinds/index.ts';
import type { HttpAnswer } from './http.ts';
import { pathWithId } from './job-path.ts';
import { requireAnswer } from './require-answer.ts';
import type { Redact } from './secrets.ts';

export interface JobIds {
  jobId: string;
  recordId?: string;
}

export interface RemovalPorts {
  remove(path: string): Promise<HttpAnswer>;
  /** The jobs of a kind that has a list. */
  list(kind: string): Promise<readonly ListedJob[]>;
  /** Whether the service knows the job. */
  knows(kind: string, jobId: string): Promise<boolean>;
  redact: Redact;
}

/**
 * Removes a job's record, by the id that its kind is removed by, then by its other one: which of them it is, the
 * documentation leaves open. `gone`: neither is known, and the service shows it nowhere any more. Throws `ServiceError`.
 */
export async function removeJob(kindName: string, ids: JobIds, ports: RemovalPorts): Promise<'removed' | 'gone'> {
  const { remove } = requireKind(kindName);
  if (remove === undefined) throw new Error(`internal error: nothing of kind ${kindName} can be removed`);
  const { jobId, recordId = jobId } = ids;
  const tried = remove.by === 'record' ? [recordId, jobId] : [jobId, recordId];
  for (const id of new Set(tried)) {
    const answer = await ports.remove(pathWithId(remove.path, id));
    if (answer.is === 'answer' && (answer.status === 404 || answer.status === 410)) continue;
    if (answer.is === 'answer' && answer.status === 204) return 'removed';
    requireAnswer(answer, ports.redact);
    return 'removed';
  }
  if (!(await isShown(kindName, ids, ports))) return 'gone';
  const named = [...new Set(tried)].join(' nor ');
  throw new ServiceError('refused', `it is there still, and cannot be removed as ${named}: HTTP 404`, { status: 404 });
}

async function isShown(kind: string, { jobId, recordId }: JobIds, ports: RemovalPorts): Promise<boolean> {
  if (requireKind(kind).list === undefined) return ports.knows(kind, jobId);
  const isIt = (id: string | undefined) => id !== undefined && (id === jobId || id === recordId);
  return (await ports.list(kind)).some((job) => isIt(job.jobId) || isIt(job.recordId));
}
