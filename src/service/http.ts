import zlib from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { ServiceError } from '../contract/errors.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope, jobStates } from '../kinds/envelope.ts';
import { isFromProxy, isServiceError, parseRetryAfter, readMessage } from './fields.ts';
import { keptForMs } from './links.ts';
import { connectThrough, proxyFor } from './proxy.ts';
import type { Redact } from './secrets.ts';

const longestAnswer = 8 * 1024 * 1024;

export type HttpAnswer =
  | { is: 'answer'; status: number; headers: { [name: string]: string }; json: Json | undefined }
  /** Failure of a request. `sent`: false only if certainly no byte of the request was written to the connection. */
  | { is: 'broken'; sent: boolean; message: string };

interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path relative to the base URL or, with `fromRoot`, to the root of the host. */
  path: string;
  fromRoot?: boolean;
  body?: string;
  headers?: { [name: string]: string };
  /** Time limit in ms for the whole answer. */
  deadlineMs: number;
  signal?: AbortSignal;
  /**
   * True to open a new connection: if the server had closed an old one, nobody would know whether it received the
   * request.
   */
  freshConnection?: boolean;
  /** Called after the connection is open, before the first byte of a request. To send nothing, return false. */
  mayLeave?: (() => boolean) | undefined;
}

/** Client for JSON over HTTP. Never follows a redirect, never repeats a request, never throws. */
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
          origin: base.origin,
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
      if (end.is === 'broken') return { ...end, message: options.redact(end.message) };
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

function plainHeaders(headers: Answered['headers']): { [name: string]: string } {
  const named = Object.entries(headers).filter(([, value]) => value !== undefined);
  return Object.fromEntries(named.map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

function parseJson(bytes: Uint8Array | undefined, encoding: string | undefined): Json | undefined {
  try {
    return JSON.parse(readBodyText(bytes, encoding, longestAnswer)) as Json;
  } catch {
    return undefined;
  }
}

/** Returns the message of an error with its `code`. If the message is empty, returns that of the error's cause. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const text = error.message === '' && inner instanceof Error ? inner.message : error.message;
  // Removes the names of OpenSSL's source files, which OpenSSL adds to the reason.
  const short = text.replace(/\S+:error:\w+:SSL routines:[^:]*:([^:]+):.*/s, 'TLS: $1');
  return typeof code === 'string' && !short.includes(code) ? `${short} (${code})` : short;
}

/** Replaces `{id}` in a path with an ID from the service, escaped as one segment. No other code puts IDs into URLs. */
export function pathWithId(pattern: string, id: string): string {
  if (!isJobId(id)) throw new Error('internal error: not an id of the service');
  return pattern.replace('{id}', () => encodeURIComponent(id));
}

export function requireAnswer(answer: HttpAnswer, redact: Redact): Json {
  if (answer.is === 'broken') throw new ServiceError('unreachable', answer.message);
  const { status, json, headers } = answer;
  const message = readMessage(json, status, redact, headers.location);
  if (!isFromProxy(json, status)) {
    if (status < 300) {
      if (json !== undefined && !isServiceError(json)) return json;
      throw new ServiceError('refused', message, { status });
    }
    if (status === 401 || status === 403) throw new ServiceError('auth', message, { status });
    if (status >= 400 && !mayPass(status)) throw new ServiceError('refused', message, { status });
  }
  throw new ServiceError('unreachable', message, { status, ...defined({ retryAfterMs: parseRetryAfter(headers) }) });
}

export function mayPass(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

interface Answered {
  is: 'answer';
  status: number;
  headers: { [name: string]: string | string[] | undefined };
  bytes: Uint8Array | undefined;
}

type ExchangeEnd = Answered | Extract<HttpAnswer, { is: 'broken' }>;
type Controller = Dispatcher.DispatchController;

/**
 * Sends one request, never twice, and reads the whole answer. Uses a handler that undici calls right before it writes
 * to the connection, because an error code does not show whether the connection failed before or after the write.
 */
function exchange(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limits: { deadlineMs: number; signal?: AbortSignal | undefined; mayLeave?: (() => boolean) | undefined },
): Promise<ExchangeEnd> {
  return new Promise((resolve) => {
    const { deadlineMs, signal } = limits;
    if (signal?.aborted) return resolve({ is: 'broken', sent: false, message: describeError(signal.reason) });
    const settle = (end: ExchangeEnd) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', giveUp);
      resolve(end);
    };
    const { host } = new URL(request.origin ?? '');
    const handler = new ExchangeHandler(settle, { host, mayLeave: limits.mayLeave });
    const tooLate = new Error(`${host}: no answer within ${Math.round(deadlineMs / 1000)} s`);
    const timer = setTimeout(() => handler.breakOff(tooLate), deadlineMs);
    const giveUp = () => handler.breakOff(signal?.reason);
    signal?.addEventListener('abort', giveUp, { once: true });
    agent.dispatch(request, handler);
  });
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  #settle: ((end: ExchangeEnd) => void) | undefined;
  readonly #host: string;
  readonly #mayLeave: (() => boolean) | undefined;
  #controller: Controller | undefined;
  #status = 0;
  #headers: Answered['headers'] = {};
  #chunks: Uint8Array[] = [];

  constructor(settle: (end: ExchangeEnd) => void, { host, mayLeave }: Pick<HttpCall, 'mayLeave'> & { host: string }) {
    this.#settle = settle;
    this.#host = host;
    this.#mayLeave = mayLeave;
  }

  onRequestStart(controller: Controller): void {
    if (this.#settle === undefined) {
      controller.abort(new Error('the request was canceled before it was sent'));
      return;
    }
    // Refuses a second start: undici may repeat a request after a broken connection, which could pay twice.
    const isRepeated = this.#controller !== undefined;
    const mayLeave = !isRepeated && this.#mayLeave?.() !== false; // I35
    if (mayLeave) this.#controller = controller;
    else
      this.breakOff(
        new Error(isRepeated ? 'the connection broke' : 'this process may no longer send the request'),
        controller,
      );
  }

  onResponseStart(_controller: Controller, status: number, headers: Answered['headers']): void {
    // A 1xx status is not the answer; the answer follows.
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
    const message = `${this.#host}: ${describeError(error)}`;
    this.#end({ is: 'broken', sent: this.#controller !== undefined, message });
  }

  breakOff(error: unknown, controller = this.#controller): void {
    if (this.#settle === undefined) return;
    this.#end({ is: 'broken', sent: this.#controller !== undefined, message: describeError(error) });
    controller?.abort(error instanceof Error ? error : new Error(String(error)));
  }

  #end(end: ExchangeEnd): void {
    const settle = this.#settle;
    this.#settle = undefined;
    this.#chunks = [];
    settle?.(end);
  }
}

/** A body that begins with `{` is not compressed, whatever the header states: a proxy may have decompressed it. */
const named = (word: string) => (first: number, label: string) => first !== 0x7b && label.toLowerCase().includes(word);
const codings = [
  { sync: zlib.unzipSync, stream: zlib.createUnzip, mayBe: (first: number) => first === 0x1f || (first & 0x0f) === 8 },
  { sync: zlib.inflateRawSync, stream: zlib.createInflateRaw, mayBe: named('deflate') },
  { sync: zlib.brotliDecompressSync, stream: zlib.createBrotliDecompress, mayBe: named('br') },
];
const trial = { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH, maxOutputLength: 1_000_000 };

/** Returns how an answer's body is compressed, from its first bytes: some proxies compress without a request. */
export function codingOf(head: Uint8Array, label = ''): (typeof codings)[number] | undefined {
  return codings.find(({ sync, mayBe }) => {
    try {
      return mayBe(head[0] ?? 0, label) && sync(head.subarray(0, 512), trial).length > 0;
    } catch (error) {
      return error instanceof RangeError;
    }
  });
}

const decoder = new TextDecoder();

/**
 * Returns the text of an answer without a byte order mark. Throws if decompression fails or the text is longer than
 * `mostBytes`.
 */
export function readBodyText(bytes: Uint8Array | undefined, encoding: string | undefined, mostBytes: number): string {
  if (bytes === undefined) return '';
  return decoder.decode(codingOf(bytes, encoding)?.sync(bytes, { maxOutputLength: mostBytes }) ?? bytes);
}

const ids: ReadonlySet<string> = new Set([envelope.job.id, envelope.created.jobId]);
const links: ReadonlySet<string> = new Set(['url', 'outputUrl', 'thumbnailUrl', 'uploadUrl', 'publicUrl']);
const mostDepth = 5;

/**
 * Changes an answer in place to the documented form: state names, IDs as strings, links as absolute URLs. Does not
 * change ambiguous values.
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
    else if (links.has(name)) json[name] = resolveLink(value, base);
    else toDocumented(value, base, depth + 1);
  }
}

function readState(job: { [field: string]: Json }, value: string): void {
  const word = value.trim().toUpperCase();
  const { status, error } = envelope.job;
  const { completed, failed } = envelope.states;
  if (jobStates.includes(word)) job[status] = word;
  else if (envelope.otherStates.succeeded.includes(word)) job[status] = completed;
  else if (envelope.otherStates.canceled.includes(word)) {
    job[status] = failed;
    const reason = job[error];
    job[error] = `canceled at the service${typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''}`;
  }
}

function resolveLink(value: Json, base: URL): Json {
  const link = Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
  if (typeof link !== 'string' || !link.startsWith('/')) return link;
  return URL.canParse(link, base.href) ? new URL(link, base).href : link;
}
