import type { CreateAnswer, CreatedJob } from '../contract/answer.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { envelope } from '../kinds/envelope.ts';
import { kinds, requireKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { shown } from '../lock/check-line.ts';
import { isServiceError, parseRetryAfter, readAt, readMessage } from './fields.ts';
import { type Http, type HttpAnswer, pathWithId } from './http.ts';
import { findNamedJob, readKeyRefusal, readMissing } from './read-refusal.ts';
import { makeKeyFinder, makeRedact, type Redact, readCredential } from './secrets.ts';

/**
 * Path for create requests of a kind. `isDocumented`: whether the service's OpenAPI document has this path; omitted if
 * the document was not read. `missing`: why no path is known.
 */
export type CreateRoute = { path: string; isDocumented?: boolean } | { missing: string };
export type CreateRoutes = { readonly [kind: string]: CreateRoute };

type KnownRoute = Exclude<CreateRoute, { missing: string }>;

export interface CreateOptions {
  token: string;
  createTimeoutMs: number;
  createRoutes?: CreateRoutes;
  /** Called right before a create request is written to the connection. To send nothing, return false. */
  mayCreate?: () => boolean;
}

export class Creates {
  readonly #http: Http;
  readonly #options: CreateOptions;
  readonly #redact: Redact;
  readonly #holdsKey: (text: string) => boolean;
  readonly #missing = new Map<string, string>();
  readonly #proven = new Map<string, string>();

  constructor(http: Http, options: CreateOptions) {
    this.#http = http;
    this.#options = options;
    this.#redact = makeRedact(options.token);
    this.#holdsKey = makeKeyFinder(options.token);
  }

  /** Returns whether a create request with a used idempotency key returns the first answer again. */
  replays(kind: string): boolean {
    return readCredential(this.#options.token).is === 'api-key' && kinds[kind]?.recovery === 'replay';
  }

  /**
   * Sends one create request as one POST. Sends the request to another path only if the service lacks the first path.
   */
  async send(call: { kind: string; body: string; key: string }): Promise<CreateAnswer> {
    const kind = requireKind(call.kind);
    const gone = this.#missing.get(kind.name);
    const routes = gone === undefined ? this.#routesOf(kind) : { missing: gone };
    if ('missing' in routes) return { is: 'no-route', message: `not sent: ${routes.missing} [MB1511]` };
    const tried: string[] = [];
    let message = '';
    for (const route of routes) {
      const answer = await this.#post(kind, route, call);
      // A service that does not have the path bought nothing, so the same request may be sent to the next path.
      if (answer.is !== 'no-route') return answer; // I4 (path)
      tried.push(`POST ${route.path}`);
      message = answer.message;
    }
    const missing = `the service has no ${tried.join(' or ')} (${message})`;
    this.#missing.set(kind.name, missing);
    return { is: 'no-route', message: `${missing} [MB1511]` };
  }

  #routesOf(kind: Kind): KnownRoute[] | { missing: string } {
    const route = this.#options.createRoutes?.[kind.name];
    if (route !== undefined && 'missing' in route) return route;
    if (route?.isDocumented !== undefined) return [route];
    const proven = this.#proven.get(kind.name);
    if (proven !== undefined) return [{ path: proven }];
    const paths = new Set([...(route === undefined ? [] : [route.path]), ...kind.create.paths]);
    return [...paths].map((path) => ({ path }));
  }

  async #post(kind: Kind, route: KnownRoute, call: { body: string; key: string }): Promise<CreateAnswer> {
    const answer = await this.#http.call({
      method: 'POST',
      path: route.path,
      body: call.body,
      // The service documents the idempotency header only for kinds with replay.
      ...(kind.recovery === 'replay' && { headers: { [envelope.headers.idempotencyKey]: call.key } }),
      deadlineMs: this.#options.createTimeoutMs,
      // If the server had closed an old connection, the answer would be lost, and without replay not recoverable.
      freshConnection: !this.replays(kind.name),
      mayLeave: this.#options.mayCreate,
    });
    const asked = { kind, route, holdsKey: this.#holdsKey, call };
    const confirmed = await this.#confirmNamed(kind, classifyCreate(answer, this.#redact, asked));
    if (confirmed.is === 'accepted') this.#proven.set(kind.name, route.path);
    return confirmed;
  }

  /**
   * Queries the status of a job whose ID a refusal contains. If the job has a status, it exists although the service
   * refused the request.
   */
  async #confirmNamed(kind: Kind, answer: CreateAnswer): Promise<CreateAnswer> {
    if ((answer.is !== 'known' && answer.is !== 'refused') || answer.mayBe === undefined) return answer;
    const { mayBe: job, message } = answer;
    if (kind.status === undefined) return answer;
    const path = pathWithId(kind.status.path, job.jobId);
    const seen = await this.#http.call({ method: 'GET', path, deadlineMs: this.#options.createTimeoutMs });
    const data = seen.is === 'answer' && seen.status === 200 ? readAt(seen.json, envelope.answer.data) : undefined;
    const id = readAt(data, envelope.job.id);
    const isThere = typeof readAt(data, envelope.job.status) === 'string' && (id === undefined || id === job.jobId);
    return isThere ? { is: 'accepted', job, doubt: message } : answer;
  }
}

interface Asked {
  kind?: Kind;
  route?: KnownRoute;
  holdsKey?: (text: string) => boolean;
  call?: { body: string; key: string };
}

/**
 * Classifies the answer to a create request. Only an error from the service itself proves that nothing was charged, and
 * only if it mentions neither a job nor the request's idempotency key.
 */
export function classifyCreate(answer: HttpAnswer, redact: Redact, asked: Asked = {}): CreateAnswer {
  if (answer.is === 'broken') return { is: answer.sent ? 'ambiguous' : 'not-sent', message: answer.message };
  const { status, json, headers } = answer;
  const { kind, route, holdsKey = () => false, call } = asked;
  const message = readMessage(json, status, redact, headers.location);
  const isGood = status >= 200 && status < 300;
  const created = isGood ? readCreated(json, message, { redact, holdsKey, kind }) : undefined;
  if (created?.is === 'accepted') return created;
  const keyTalk = kind?.recovery === 'replay' && call !== undefined ? readKeyRefusal(json, call) : undefined;
  const isKnown = keyTalk === 'known'; // I38 (key)
  const named = findNamedJob(json, { kind, location: headers.location, isKnown });
  const only = named === 'unclear' || named === undefined || holdsKey(named.job.jobId) ? undefined : named;
  const mayBe = only === undefined ? {} : { mayBe: chargedJob(only.job, json) };
  if (only?.isSure && mayBe.mayBe !== undefined) {
    return { is: 'accepted', job: mayBe.mayBe, doubt: message, ...modelOf(only.model, redact) }; // I38 (id)
  }
  if (isKnown) return { is: 'known', message, ...mayBe };
  if (created !== undefined) return created;
  if (status === 429) return { is: 'throttled', afterMs: parseRetryAfter(headers) ?? null, message };
  if (named === 'unclear') {
    // A job exists for the request, but the answer does not contain its ID.
    return kind?.recovery === 'replay' ? { is: 'known', message } : { is: 'ambiguous', message };
  }
  if (status === 409 || keyTalk === 'in-progress') return { is: 'in-progress', message };
  if (status === 405) return { is: 'no-route', message };
  if (status === 404) {
    const why = readMissing(json, { kind, isDocumented: route?.isDocumented, body: call?.body ?? '' });
    return why === 'route' ? { is: 'no-route', message } : { is: 'refused', status, why, message, ...mayBe };
  }
  // A server or proxy answers 413 to a body that is too large, before the service receives it.
  if (!isServiceError(json) && status !== 413) return { is: 'ambiguous', message };
  switch (status) {
    case 400:
    case 413:
    case 422:
      return { is: 'refused', status, why: 'invalid', message, ...mayBe };
    case 401:
    case 403:
      return { is: 'refused', status, why: 'auth', message, ...mayBe };
    case 402:
      return { is: 'refused', status, why: 'credits', message, ...mayBe };
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
  // A job ID that contains the credential must not be stored. A job ID that only resembles a signed link is valid.
  if (found === undefined || holdsKey(found.jobId)) {
    const seen = unusableId(json, kind);
    const named = seen === undefined ? message : `found ${redact(shown(seen))}`;
    const what = isServiceError(json)
      ? 'answered with `success: false` and no job id, so the request may have been charged'
      : 'accepted the request without a usable job id';
    return { is: 'ambiguous', message: `the service ${what} (${named})` };
  }
  const { jobId, recordId } = found;
  const job = { jobId, ...(recordId !== undefined && !holdsKey(recordId) && { recordId }) };
  return {
    is: 'accepted',
    job: chargedJob(job, json),
    ...modelOf(readAt(json, created.model) ?? found.model, redact),
  };
}

function chargedJob(job: { jobId: string; recordId?: string }, json: Json | undefined): CreatedJob {
  const { credits, balance } = envelope.created;
  return { ...job, credits: chargeOf(readAt(json, credits)), balance: chargeOf(readAt(json, balance)) };
}

function modelOf(model: Json | undefined, redact: Redact): { model?: string } {
  return typeof model === 'string' ? { model: redact(model).slice(0, 100) } : {};
}

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

function unusableId(answer: Json | undefined, kind: Kind | undefined): Json | undefined {
  const { jobId, id } = envelope.created;
  return holdersOf(answer, kind).flatMap((holder) => readAt(holder, jobId) ?? readAt(holder, id) ?? [])[0];
}

/** Highest plausible charge of a job in credits. A larger charge in an answer is an error of the service. */
const mostCredits = 1_000_000_000;

function chargeOf(value: Json | undefined): number | null {
  const number = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !(number >= 0 && number <= mostCredits)) return null;
  return Math.ceil(number);
}
