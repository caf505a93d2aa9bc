import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { readAt, readCredits, readText } from './fields.ts';

/** Facts from the status of a job. Texts are the service's own: show them through `safeText`. */
export interface JobFacts {
  status: string;
  /** Present only for kinds that share a status path. */
  kind?: string;
  credits?: number;
  error?: string;
}

/** Throws `ServiceError` if the answer is not about this job. */
export function readJobFacts(answer: Json, jobId: string): JobFacts {
  const { job, kindWords } = envelope;
  const data = readAt(answer, envelope.answer.data);
  const status = readAt(data, job.status);
  if (!isMap(data) || typeof status !== 'string') {
    throw new ServiceError('unusable', 'the answer has no status of a job');
  }
  const id = readAt(data, job.id);
  if (id !== undefined && id !== jobId) throw new ServiceError('unusable', 'the answer is about another job');
  const word = Object.values(data).find((value) => typeof value === 'string' && Object.hasOwn(kindWords, value));
  const kind = typeof word === 'string' ? kindWords[word] : undefined;
  const credits = readCredits(data, job.credits);
  const error = readText(data, job.error);
  return {
    status: status.slice(0, 60),
    ...(kind !== undefined && { kind }),
    ...(credits !== undefined && { credits }),
    ...(error !== undefined && { error }),
  };
}
