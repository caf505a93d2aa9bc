import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { readRecord } from './fields.ts';

/** What the status of a job says about it. Texts are the service's own: show them through `safeText`. */
export interface JobFacts {
  status: string;
  /** Kinds that share a status path say which one they are; the others do not. */
  kind?: string;
  credits?: number;
  error?: string;
}

/** By the words that are documented for it. In which field they stand is not. */
const kindWords: Readonly<Record<string, string>> = {
  BASIC: 'image',
  INFLUENCER: 'influencer',
  THUMBNAIL: 'thumbnail',
};

/** Throws `ServiceError` where the answer is not about this job. */
export function readJobFacts(answer: Json, jobId: string): JobFacts {
  const data = readRecord(readRecord(answer)?.data);
  const { id, status, error } = data ?? {};
  if (data === undefined || typeof status !== 'string') {
    throw new ServiceError('unusable', 'the answer has no status of a job');
  }
  if (id !== undefined && id !== jobId) throw new ServiceError('unusable', 'the answer is about another job');
  const word = Object.values(data).find((value) => typeof value === 'string' && Object.hasOwn(kindWords, value));
  const kind = typeof word === 'string' ? kindWords[word] : undefined;
  const credits = [data.creditsUsed, data.creditsDeducted, data.credits].find(isCredits);
  return {
    status: status.slice(0, 60),
    ...(kind !== undefined && { kind }),
    ...(typeof credits === 'number' && { credits }),
    ...(typeof error === 'string' && error !== '' && { error: error.slice(0, 500) }),
  };
}

function isCredits(value: Json | undefined): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
