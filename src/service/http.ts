import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { Agent } from 'undici';
import type { Json } from '../json.ts';
import type { Redact } from './secrets.ts';

/** Largest JSON answer that is read, in bytes: the service's own description is the longest. */
const longestAnswer = 8 * 1024 * 1024;

/** What came of one JSON request. */
export type HttpAnswer =
  | { is: 'answer'; status: number; headers: { [name: string]: string }; json: Json | undefined }
  /** `sent` false is proof: no byte of the request was written. */
  | { is: 'broken'; sent: boolean; message: string };

export interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  /** Below the base URL. */
  path: string;
  /** `path` is seen from the root of the host instead. */
  fromRoot?: boolean;
  /** Canonical JSON. */
  body?: string;
  headers?: { [name: string]: string };
  /** From start to last byte. */
  deadlineMs: number;
  signal?: AbortSignal;
  /** A connection of its own, so that an old one closing cannot be mistaken for a lost answer. */
  freshConnection?: boolean;
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
  const reading = new Agent({ ...limits, keepAliveTimeout: 10_000 });
  const creating = new Agent({ ...limits, pipelining: 1 });
  const sent = watchSentRequests();

  return {
    async call(call) {
      const agent = call.freshConnection ? creating : reading;
      const mark = sent.mark();
      const deadline = new Deadline(call.deadlineMs, call.signal);
      try {
        const answer = await agent.request({
          origin: base.origin,
          path: call.fromRoot === true ? call.path : `${prefix}${call.path}`,
          method: call.method,
          headers: {
            authorization: `Bearer ${options.token}`,
            accept: 'application/json',
            'accept-encoding': 'identity',
            [markHeader]: mark,
            ...(call.body !== undefined && { 'content-type': 'application/json' }),
            ...call.headers,
          },
          ...(call.body !== undefined && { body: call.body }),
          reset: call.freshConnection === true,
          signal: deadline,
        });
        const text = await answer.body.text();
        return {
          is: 'answer',
          status: answer.statusCode,
          headers: plainHeaders(answer.headers),
          json: parseJson(text),
        };
      } catch (error) {
        const message = deadline.isOver
          ? `no answer within ${Math.round(call.deadlineMs / 1000)} s`
          : describeError(error);
        return { is: 'broken', sent: sent.has(mark), message: options.redact(message) };
      } finally {
        deadline.clear();
        sent.forget(mark);
      }
    },
    async close() {
      sent.close();
      await Promise.all([reading.destroy(), creating.destroy()]);
    },
  };
}

/**
 * Aborts a request when its time is up, or when its caller gives up. undici takes an emitter as well as an `AbortSignal`;
 * `AbortSignal.timeout` would keep its timer, and itself, until the time is up, however soon the answer came.
 */
class Deadline extends EventEmitter {
  /** Read by undici. */
  aborted = false;
  /** Whether it was the time that ended it. */
  isOver = false;
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #giveUp = () => this.#abort();

  constructor(ms: number, caller: AbortSignal | undefined) {
    super();
    this.#caller = caller;
    this.#timer = setTimeout(() => {
      this.isOver = !this.aborted;
      this.#abort();
    }, ms);
    if (caller?.aborted) this.aborted = true;
    else caller?.addEventListener('abort', this.#giveUp, { once: true });
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#giveUp);
  }

  #abort(): void {
    this.aborted = true;
    this.emit('abort');
  }
}

/**
 * Every request carries a mark of its own; undici announces on this channel when it has begun to write a request's
 * head. Error codes cannot tell: a reset inside the TLS handshake and one after the request look the same.
 */
const markHeader = 'x-request-mark';
const sendHeadersChannel = 'undici:client:sendHeaders';

function watchSentRequests(): {
  mark(): string;
  has(mark: string): boolean;
  forget(mark: string): void;
  close(): void;
} {
  const sent = new Set<string>();
  const open = new Set<string>();
  let count = 0;
  const run = Math.floor(performance.timeOrigin).toString(36);
  const onSend = (message: unknown) => {
    const headers = (message as { headers?: unknown }).headers;
    if (typeof headers !== 'string') return;
    const start = headers.indexOf(`${markHeader}: `);
    if (start < 0) return;
    const mark = headers.slice(start + markHeader.length + 2).split('\r\n', 1)[0] ?? '';
    if (open.has(mark)) sent.add(mark);
  };
  subscribe(sendHeadersChannel, onSend);
  return {
    mark() {
      count += 1;
      const mark = `${run}-${count}`;
      open.add(mark);
      return mark;
    },
    has: (mark) => sent.has(mark),
    forget(mark) {
      open.delete(mark);
      sent.delete(mark);
    },
    close: () => unsubscribe(sendHeadersChannel, onSend),
  };
}

function plainHeaders(headers: { [name: string]: string | string[] | undefined }): { [name: string]: string } {
  const plain: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) plain[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return plain;
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** An error in words: undici puts the useful part into `cause` or `code`. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { code?: unknown }).code;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  const text = error.message === '' && inner instanceof Error ? inner.message : error.message;
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}
