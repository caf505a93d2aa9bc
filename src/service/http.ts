import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { ServiceError } from '../contract/errors.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope, jobStates, otherStates } from '../kinds/envelope.ts';
import { isServiceError, isSpokenByOthers, parseRetryAfter, readMessage } from './fields.ts';
import { keptForMs } from './links.ts';
import { connectThrough, proxyFor } from './proxy.ts';
import type { Redact } from './secrets.ts';

/** Largest JSON answer that is read, in bytes; the service's OpenAPI document is the longest. */
const longestAnswer = 8 * 1024 * 1024;

export type HttpAnswer =
  | { is: 'answer'; status: number; headers: { [name: string]: string }; json: Json | undefined }
  /** `sent` is false only if certainly no byte of the request was written. */
  | { is: 'broken'; sent: boolean; message: string };

export interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path relative to the base URL. */
  path: string;
  /** `path` is relative to the root of the host instead. */
  fromRoot?: boolean;
  /** Canonical JSON. */
  body?: string;
  headers?: { [name: string]: string };
  /** Time in ms from start to last byte. */
  deadlineMs: number;
  signal?: AbortSignal;
  /**
   * Uses a new connection for a request that must not be repeated, so that a closed old connection is not mistaken for
   * a lost answer: on a kept connection that turns out to be stale, it is unknown whether the request was received.
   */
  freshConnection?: boolean;
  /**
   * Called once the connection exists, right before the first byte is written; if it returns false, nothing is sent.
   */
  mayLeave?: (() => boolean) | undefined;
}

/** JSON over HTTP against one base URL. Never follows a redirect, never repeats a request, never throws. */
export interface Http {
  call(call: HttpCall): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttp(options: { baseUrl: string; token: string; redact: Redact }): Http {
  const base = new URL(options.baseUrl);
  const prefix = base.pathname.replace(/\/+$/, '');
  const limits = { maxResponseSize: longestAnswer, headersTimeout: 0, bodyTimeout: 0, connectTimeout: 15_000 } as const;
  const proxy = proxyFor(base);
  const through = proxy === undefined ? {} : { connect: connectThrough(proxy) };
  const kept = new Pool(base.origin, { ...limits, ...through, keepAliveTimeout: keptForMs });
  const single = new Pool(base.origin, { ...limits, ...through });

  return {
    async call(call) {
      const fresh = call.freshConnection === true;
      const end = await exchange(
        fresh ? single : kept,
        {
          path: call.fromRoot === true ? call.path : `${prefix}${call.path}`,
          method: call.method,
          headers: {
            authorization: `Bearer ${options.token}`,
            accept: 'application/json',
            'accept-encoding': 'identity',
            ...(call.body !== undefined && { 'content-type': 'application/json' }),
            ...call.headers,
          },
          ...defined({ body: call.body }),
          reset: fresh,
        },
        call,
      );
      if (end.is === 'broken') {
        const seconds = Math.round(call.deadlineMs / 1000);
        const message = end.late ? `no answer within ${seconds} s` : describeError(end.error);
        return { is: 'broken', sent: end.sent, message: options.redact(message) };
      }
      const headers = plainHeaders(end.headers);
      // A proxy may change 200 to 203.
      const status = end.status === 203 ? 200 : end.status;
      const json = parseJson(end.bytes, headers['content-encoding']);
      if (json !== undefined) toDocumented(json, base);
      return { is: 'answer', status, headers, json };
    },
    async close() {
      await Promise.all([kept.destroy(), single.destroy()]);
    },
  };
}

function plainHeaders(headers: { [name: string]: string | string[] | undefined }): { [name: string]: string } {
  const plain: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

function parseJson(bytes: Uint8Array | undefined, encoding: string | undefined): Json | undefined {
  try {
    return JSON.parse(readBodyText(bytes, encoding, longestAnswer)) as Json;
  } catch {
    return undefined;
  }
}

/** Describes an error: undici puts the useful part in `cause` or `code`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const text = error.message === '' && inner instanceof Error ? inner.message : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}

/** Builds a path of the service with an ID in place of `{id}`, as one segment. No other code puts an ID into a URL. */
export function pathWithId(pattern: string, id: string): string {
  if (!isJobId(id)) throw new Error('internal error: not an id of the service');
  return pattern.replace('{id}', () => encodeURIComponent(id));
}

/** Returns the JSON of a successful answer. Throws `ServiceError` for any other, with the credential redacted. */
export function requireAnswer(answer: HttpAnswer, redact: Redact): Json {
  if (answer.is === 'broken') throw new ServiceError('unreachable', answer.message);
  const { status, json, headers } = answer;
  const message = readMessage(json, status, redact);
  if (!isSpokenByOthers(json, status)) {
    if (status < 300) {
      if (json !== undefined && !isServiceError(json)) return json;
      throw new ServiceError('refused', message, { status });
    }
    if (status === 401 || status === 403) throw new ServiceError('auth', message, { status });
    if (status >= 400 && !mayPass(status)) throw new ServiceError('refused', message, { status });
  }
  const retryAfterMs = parseRetryAfter(headers[envelope.headers.retryAfter]);
  throw new ServiceError('unreachable', message, { status, ...(retryAfterMs !== null && { retryAfterMs }) });
}

/** Whether a retry of the same request can succeed. */
export function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

type ExchangeEnd =
  | {
      is: 'answer';
      status: number;
      headers: { [name: string]: string | string[] | undefined };
      bytes: Uint8Array | undefined;
    }
  /** `sent` is false only if certainly no byte of the request was written. `late`: the deadline has passed. */
  | { is: 'broken'; sent: boolean; late: boolean; error: unknown };

type Answered = Extract<ExchangeEnd, { is: 'answer' }>;
type Controller = Dispatcher.DispatchController;

/**
 * Sends one request and reads its whole answer into memory, within `deadlineMs`; never sends it twice. Uses an undici
 * handler instead of `request`, because it reports when a request is about to be written, which no error code shows (a
 * reset inside the TLS handshake and one after the request look the same), and saves a stream per small answer.
 * `mayLeave` is called at that moment, when the connection exists.
 */
function exchange(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: { deadlineMs: number; signal?: AbortSignal | undefined; mayLeave?: (() => boolean) | undefined },
): Promise<ExchangeEnd> {
  return new Promise((resolve) => {
    const { deadlineMs, signal } = limits;
    if (signal?.aborted) return resolve({ is: 'broken', sent: false, late: false, error: signal.reason });
    const settle = (end: ExchangeEnd) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      resolve(end);
    };
    const handler = new ExchangeHandler(settle, limits.mayLeave);
    const timer = setTimeout(() => handler.breakOff({ late: true, error: new Error('it took too long') }), deadlineMs);
    const giveUp = () => handler.breakOff({ late: false, error: signal?.reason });
    signal?.addEventListener('abort', giveUp, { once: true });
    agent.dispatch(request, handler);
  });
}

const notAllowed = new Error('it may no longer be sent from here');

/** Called by undici in the order start, response, data…, end; or error, at any time. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  #settle: ((end: ExchangeEnd) => void) | undefined;
  readonly #mayLeave: (() => boolean) | undefined;
  /** Set from the moment when bytes of the request may have been written. */
  #controller: Controller | undefined;
  #status = 0;
  #headers: Answered['headers'] = {};
  #chunks: Uint8Array[] = [];

  constructor(settle: (end: ExchangeEnd) => void, mayLeave: (() => boolean) | undefined) {
    this.#settle = settle;
    this.#mayLeave = mayLeave;
  }

  onRequestStart(controller: Controller): void {
    if (this.#settle === undefined) {
      controller.abort(new Error('given up before it was sent'));
      return;
    }
    // undici may requeue a request when its connection broke; it cannot know whether repeating the request pays twice.
    if (this.#controller !== undefined) {
      const error = new Error('its connection broke');
      this.#end({ is: 'broken', sent: true, late: false, error });
      controller.abort(error);
      return;
    }
    const mayLeave = this.#mayLeave?.() !== false; // I35
    if (!mayLeave) {
      this.breakOff({ late: false, error: notAllowed }, controller);
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(_controller: Controller, status: number, headers: Answered['headers']): void {
    // A 1xx status precedes the answer.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const [first, ...more] = this.#chunks;
    const bytes = more.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#end({ is: 'answer', status: this.#status, headers: this.#headers, bytes });
  }

  onResponseError(_controller: Controller, error: Error): void {
    this.#end({ is: 'broken', sent: this.#controller !== undefined, late: false, error });
  }

  /** Ends the exchange; a request that was not sent yet never will be. */
  breakOff({ late, error }: { late: boolean; error: unknown }, controller = this.#controller): void {
    if (this.#settle === undefined) return;
    this.#end({ is: 'broken', sent: this.#controller !== undefined, late, error });
    controller?.abort(error instanceof Error ? error : new Error(String(error)));
  }

  #end(end: ExchangeEnd): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#chunks = [];
    settle?.(end);
  }
}

const decoder = new TextDecoder();

/**
 * Returns the text of an answer without its byte order mark. Decompresses it even without a header, because middleboxes
 * compress without being asked, and some omit the header. Throws if it cannot be decompressed, or is then longer than
 * `mostBytes`.
 */
export function readBodyText(bytes: Uint8Array | undefined, encoding: string | undefined, mostBytes: number): string {
  if (bytes === undefined) return '';
  const limit = { maxOutputLength: mostBytes };
  switch (encoding?.trim().toLowerCase()) {
    case 'br':
      return decoder.decode(brotliDecompressSync(bytes, limit));
    case 'deflate':
      return decoder.decode(inflateSync(bytes, limit));
    default:
      return decoder.decode(bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes, limit) : bytes);
  }
}

const ids: ReadonlySet<string> = new Set([envelope.job.id, envelope.created.jobId]);
const links: ReadonlySet<string> = new Set(['url', 'outputUrl', 'thumbnailUrl', 'uploadUrl', 'publicUrl']);
/** Deepest level of an answer that is read: an asset of a part of a job. */
const mostDepth = 5;

/**
 * Rewrites an answer to the documented form: states in capitals and with their documented names, ids as strings, links
 * as absolute URLs. Only fields with these names change, and only values with a single possible meaning. Changes `json`
 * in place.
 */
export function toDocumented(json: Json, base: URL, depth = 0): void {
  if (json === null || typeof json !== 'object' || depth > mostDepth) return;
  if (Array.isArray(json)) {
    for (const item of json) toDocumented(item, base, depth + 1);
    return;
  }
  for (const [name, value] of Object.entries(json)) {
    if (name === envelope.job.status && typeof value === 'string') readState(json, value);
    else if (ids.has(name) && Number.isSafeInteger(value) && Number(value) >= 0) json[name] = String(value);
    else if (links.has(name)) json[name] = wholeLink(value, base);
    else toDocumented(value, base, depth + 1);
  }
}

function readState(job: { [field: string]: Json }, value: string): void {
  const word = value.trim().toUpperCase();
  const { status, error } = envelope.job;
  const { completed, failed } = envelope.states;
  if (jobStates.includes(word)) job[status] = word;
  else if (otherStates.succeeded.includes(word)) job[status] = completed;
  else if (otherStates.canceled.includes(word)) {
    job[status] = failed;
    const reason = job[error];
    job[error] = `canceled at the service${typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''}`;
  }
}

function wholeLink(value: Json, base: URL): Json {
  const link = Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
  if (typeof link !== 'string' || !link.startsWith('/')) return link;
  return URL.canParse(link, base.href) ? new URL(link, base).href : link;
}
