import type { CreateAnswer } from '../contract/answer.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { requireKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { shown } from '../lock/check-line.ts';
import { parseRetryAfter, readMessage, readRecord } from './fields.ts';
import type { Http, HttpAnswer } from './http.ts';
import type { Redact } from './secrets.ts';

/**
 * Where creates of a kind go to. `isDocumented`: whether the service's own document, as it is now, has the operation; absent
 * where nobody knows. `missing`: it has none that could be the one, in words.
 */
export type CreateRoute = { path: string; isDocumented?: boolean } | { missing: string };
export type CreateRoutes = { readonly [kind: string]: CreateRoute };

/**
 * One create: one POST, never repeated here. Where a lost answer cannot be asked for again (`replays`), it has a connection of
 * its own: a kept one that has become stale looks like a lost answer. Elsewhere that costs a replay, which is free.
 * Source of the answers: the service's documentation of the create operations and its table of status codes.
 */
export async function createJob(
  http: Http,
  call: { kind: string; body: string; key: string },
  options: { deadlineMs: number; redact: Redact; route: CreateRoute | undefined; replays: boolean },
): Promise<CreateAnswer> {
  const kind = requireKind(call.kind);
  const { route = { path: kind.create.paths[0] } } = options;
  if ('missing' in route) return { is: 'no-route', message: `not sent: ${route.missing}` };
  const answer = await http.call({
    method: 'POST',
    path: route.path,
    body: call.body,
    // Only documented for these; elsewhere it would promise something that nobody keeps.
    ...(kind.recovery === 'replay' && { headers: { 'idempotency-key': call.key } }),
    deadlineMs: options.deadlineMs,
    freshConnection: !options.replays,
  });
  return classifyCreate(answer, options.redact, { kind, route });
}

/** What a create's answer proves. Anything that is neither a job id nor the service's own error may have been charged. */
export function classifyCreate(
  answer: HttpAnswer,
  redact: Redact,
  { kind, route }: { kind?: Kind; route?: Exclude<CreateRoute, { missing: string }> } = {},
): CreateAnswer {
  if (answer.is === 'broken') return { is: answer.sent ? 'ambiguous' : 'not-sent', message: answer.message };
  const { status, json } = answer;
  const message = readMessage(json, status, redact);
  if (status >= 200 && status < 300) return readCreated(json, message, { redact, kind });
  if (status === 429) return { is: 'throttled', afterMs: parseRetryAfter(answer.headers['retry-after']), message };
  if (status === 409) return { is: 'in-progress', message };
  if (status === 405 || (status === 404 && (!isServiceError(json) || route?.isDocumented === false))) {
    return { is: 'no-route', message: `the service has no POST ${route?.path ?? 'here'} (${message})` };
  }
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

function readCreated(
  json: Json | undefined,
  message: string,
  { redact, kind }: { redact: Redact; kind: Kind | undefined },
): CreateAnswer {
  const body = readRecord(json);
  const found = body === undefined ? undefined : findJob(body, kind);
  // An id that holds the credential could be written nowhere.
  if (body === undefined || found === undefined || redact(found.jobId) !== found.jobId) {
    const seen = body === undefined ? undefined : unusableId(body, kind);
    const named = seen === undefined ? message : `it says ${redact(shown(seen))}`;
    return { is: 'ambiguous', message: `the service accepted the request without a usable job id (${named})` };
  }
  const model = body.model ?? found.model;
  const { jobId, recordId } = found;
  return {
    is: 'accepted',
    job: {
      jobId,
      credits: readCredits(body.creditsDeducted),
      balance: readCredits(body.creditsRemaining),
      ...(recordId !== undefined && redact(recordId) === recordId && { recordId }),
    },
    ...(typeof model === 'string' && { model: redact(model).slice(0, 100) }),
  };
}

/** Where the job stands in the answer is documented for images and music (`generation`); other kinds are looked through. */
const jobHolders = ['generation', 'data', 'job', 'clipping', 'thumbnail', 'video', 'voiceover', 'post'] as const;

function holdersOf(body: { [key: string]: Json }, kind: Kind | undefined): { [key: string]: Json }[] {
  const holders = kind === undefined || kind.create.documented ? (['generation'] as const) : jobHolders;
  const candidates = [...holders.map((name) => readRecord(body[name])), ...(kind?.create.documented ? [] : [body])];
  return candidates.filter((record) => record !== undefined);
}

function findJob(
  body: { [key: string]: Json },
  kind: Kind | undefined,
): { jobId: string; recordId?: string; model: Json | undefined } | undefined {
  for (const { id, jobId, model } of holdersOf(body, kind)) {
    // A record that names its job is another thing than the job.
    if (isJobId(jobId)) return { jobId, ...(isJobId(id) && id !== jobId && { recordId: id }), model };
    if (isJobId(id)) return { jobId: id, model };
  }
  return undefined;
}

/** What stands where an id should: a person may find the job by it. */
function unusableId(body: { [key: string]: Json }, kind: Kind | undefined): Json | undefined {
  return holdersOf(body, kind).flatMap(({ jobId, id }) => jobId ?? id ?? [])[0];
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
