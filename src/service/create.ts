import type { Json } from '../json.ts';
import { kinds } from '../kinds/index.ts';
import { isJobId } from '../lock/check-line.ts';
import type { CreateAnswer } from './answer.ts';
import { parseRetryAfter, readMessage, readRecord } from './fields.ts';
import type { Http, HttpAnswer } from './http.ts';
import type { Redact } from './secrets.ts';

/**
 * One create: one POST on a connection of its own, never repeated here.
 * Source of the answers: the service's documentation of the create operations and its table of status codes.
 */
export async function createJob(
  http: Http,
  call: { kind: string; body: string; key: string },
  options: { deadlineMs: number; redact: Redact },
): Promise<CreateAnswer> {
  const kind = kinds[call.kind];
  if (kind === undefined) throw new Error(`internal error: no kind ${call.kind}`);
  const answer = await http.call({
    method: 'POST',
    path: kind.create.path,
    body: call.body,
    headers: { 'idempotency-key': call.key },
    deadlineMs: options.deadlineMs,
    freshConnection: true,
  });
  return classifyCreate(answer, options.redact);
}

/** What a create's answer proves. Anything that is neither a job id nor the service's own error may have been charged. */
export function classifyCreate(answer: HttpAnswer, redact: Redact): CreateAnswer {
  if (answer.is === 'broken') return { is: answer.sent ? 'ambiguous' : 'not-sent', message: answer.message };
  const { status, json } = answer;
  const message = readMessage(json, status, redact);
  if (status >= 200 && status < 300) return readCreated(json, message, redact);
  if (status === 429) return { is: 'throttled', afterMs: parseRetryAfter(answer.headers['retry-after']), message };
  if (status === 409) return { is: 'in-progress', message };
  if (!isServiceError(json)) return { is: 'ambiguous', message };
  switch (status) {
    case 400:
    case 413:
    case 422:
      return { is: 'refused', status, why: 'invalid', message };
    case 401:
    case 403:
      return { is: 'refused', status, why: 'auth', message };
    case 402:
      return { is: 'refused', status, why: 'credits', message };
    case 404:
      return { is: 'refused', status, why: 'user', message };
    default:
      return { is: 'ambiguous', message };
  }
}

function readCreated(json: Json | undefined, message: string, redact: Redact): CreateAnswer {
  const body = readRecord(json);
  const generation = readRecord(body?.generation);
  const jobId = generation?.id;
  // An id that holds the credential could be written nowhere.
  if (body === undefined || !isJobId(jobId) || redact(jobId) !== jobId) {
    return { is: 'ambiguous', message: `the service accepted the request without a usable job id (${message})` };
  }
  const model = body.model ?? generation?.model;
  return {
    is: 'accepted',
    job: { jobId, credits: readCredits(body.creditsDeducted), balance: readCredits(body.creditsRemaining) },
    ...(typeof model === 'string' && { model: redact(model).slice(0, 100) }),
  };
}

/** More than any job can cost: a larger number is a mistake, and must not become a part of any sum. */
const mostCredits = 1_000_000_000;

function readCredits(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostCredits ? value : null;
}

/** The documented error body: `success` false, with `error`, `code` or `message`. A proxy's page is not one. */
function isServiceError(json: Json | undefined): boolean {
  const body = readRecord(json);
  return body !== undefined && body.success === false;
}
