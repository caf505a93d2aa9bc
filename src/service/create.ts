import type { CreateAnswer } from '../contract/answer.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import { requireKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { shown } from '../lock/check-line.ts';
import { isServiceError, parseRetryAfter, readAt, readMessage } from './fields.ts';
import type { Http, HttpAnswer } from './http.ts';
import type { Redact } from './secrets.ts';

/**
 * Destination of a kind's creates. `isDocumented`: whether the service's own document, as it is now, has the operation;
 * absent when unknown. `missing`: explains that no operation could be the one.
 */
export type CreateRoute = { path: string; isDocumented?: boolean } | { missing: string };
export type CreateRoutes = { readonly [kind: string]: CreateRoute };

/**
 * Sends one create: one POST, never repeated here. If a lost answer cannot be requested again (`replays`), it gets a
 * connection of its own: a stale kept one looks like a lost answer. Elsewhere that costs a replay, which is
 * free; should the account be empty by then, the send stays open until it is asked about again.
 * Source of the answers: the service's documentation of the create operations and its table of status codes.
 */
export async function createJob(
  http: Http,
  call: { kind: string; body: string; key: string },
  options: {
    deadlineMs: number;
    redact: Redact;
    holdsKey: (text: string) => boolean;
    route: CreateRoute | undefined;
    replays: boolean;
    mayLeave?: (() => boolean) | undefined;
  },
): Promise<CreateAnswer> {
  const kind = requireKind(call.kind);
  const { route = { path: kind.create.paths[0] } } = options;
  if ('missing' in route) return { is: 'no-route', message: `not sent: ${route.missing}` };
  const answer = await http.call({
    method: 'POST',
    path: route.path,
    body: call.body,
    // Documented only for these kinds; elsewhere it would promise something that nobody keeps.
    ...(kind.recovery === 'replay' && { headers: { [envelope.headers.idempotencyKey]: call.key } }),
    deadlineMs: options.deadlineMs,
    freshConnection: !options.replays,
    mayLeave: options.mayLeave,
  });
  return classifyCreate(answer, options.redact, { kind, route, holdsKey: options.holdsKey });
}

/** Classifies a create's answer. Anything but a job ID or the service's own error may have been charged. */
export function classifyCreate(
  answer: HttpAnswer,
  redact: Redact,
  {
    kind,
    route,
    holdsKey = () => false,
  }: { kind?: Kind; route?: Exclude<CreateRoute, { missing: string }>; holdsKey?: (text: string) => boolean } = {},
): CreateAnswer {
  if (answer.is === 'broken') return { is: answer.sent ? 'ambiguous' : 'not-sent', message: answer.message };
  const { status, json } = answer;
  const message = readMessage(json, status, redact);
  if (status >= 200 && status < 300) return readCreated(json, message, { redact, holdsKey, kind });
  if (status === 429)
    return { is: 'throttled', afterMs: parseRetryAfter(answer.headers[envelope.headers.retryAfter]), message };
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
  { redact, holdsKey, kind }: { redact: Redact; holdsKey: (text: string) => boolean; kind: Kind | undefined },
): CreateAnswer {
  const { created } = envelope;
  const found = findJob(json, kind);
  // An ID that contains the credential could be stored nowhere. What only looks like a signed link is an ID like any other.
  if (found === undefined || holdsKey(found.jobId)) {
    const seen = unusableId(json, kind);
    const named = seen === undefined ? message : `it says ${redact(shown(seen))}`;
    return { is: 'ambiguous', message: `the service accepted the request without a usable job id (${named})` };
  }
  const model = readAt(json, created.model) ?? found.model;
  const { jobId, recordId } = found;
  return {
    is: 'accepted',
    job: {
      jobId,
      credits: chargeOf(readAt(json, created.credits)),
      balance: chargeOf(readAt(json, created.balance)),
      ...(recordId !== undefined && !holdsKey(recordId) && { recordId }),
    },
    ...(typeof model === 'string' && { model: redact(model).slice(0, 100) }),
  };
}

/** Places where the answer may hold the job: for undocumented kinds several are searched. */
function holdersOf(answer: Json | undefined, kind: Kind | undefined): (Json | undefined)[] {
  const { holder, otherHolders } = envelope.created;
  if (kind === undefined) return [readAt(answer, holder), answer];
  return kind.create.documented
    ? [readAt(answer, holder)]
    : [...otherHolders.map((name) => readAt(answer, name)), answer];
}

function findJob(
  answer: Json | undefined,
  kind: Kind | undefined,
): { jobId: string; recordId?: string; model: Json | undefined } | undefined {
  const { created } = envelope;
  for (const holder of holdersOf(answer, kind)) {
    const [id, jobId, model] = [created.id, created.jobId, created.model].map((name) => readAt(holder, name));
    if (isJobId(jobId)) return { jobId, ...(isJobId(id) && id !== jobId && { recordId: id }), model };
    if (isJobId(id)) return { jobId: id, model };
  }
  return undefined;
}

/** The value found in place of an ID: it may help a person find the job. */
function unusableId(answer: Json | undefined, kind: Kind | undefined): Json | undefined {
  const { jobId, id } = envelope.created;
  return holdersOf(answer, kind).flatMap((holder) => readAt(holder, jobId) ?? readAt(holder, id) ?? [])[0];
}

/** More than any job can cost: a larger number is an error, and must not enter any sum. */
const mostCredits = 1_000_000_000;

function chargeOf(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0 && number <= mostCredits)) return null;
  return Math.ceil(number);
}
