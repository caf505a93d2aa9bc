import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { gzip } from 'node:zlib';
import type { ReviewChange } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

export const safeHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

/** Content security policy for files that are not media: no script in them runs, even if they are opened directly. */
export const sandboxedPolicy = `${policy}; sandbox`;

export function answer(
  response: ServerResponse,
  {
    status,
    type,
    body,
    headers = {},
  }: { status: number; type: string; body: string | Uint8Array; headers?: OutgoingHttpHeaders },
): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, { ...safeHeaders, 'Content-Type': type, 'Content-Length': bytes.length, ...headers });
  response.end(response.req.method === 'HEAD' ? undefined : bytes);
}

export interface Zipped {
  plain: Uint8Array;
  zipped: Uint8Array;
}

export function zip(text: string | Uint8Array): Promise<Zipped> {
  const plain = typeof text === 'string' ? Buffer.from(text) : text;
  return new Promise((resolve, reject) => {
    gzip(plain, { level: 1 }, (error, zipped) => (error === null ? resolve({ plain, zipped }) : reject(error)));
  });
}

export function answerZipped(response: ServerResponse, type: string, { plain, zipped }: Zipped): void {
  const takesZipped = /(?:^|,)\s*gzip\s*(?:,|$)/.test(String(response.req.headers['accept-encoding'] ?? ''));
  const headers = { Vary: 'Accept-Encoding', ...(takesZipped && { 'Content-Encoding': 'gzip' }) };
  answer(response, { status: 200, type, body: takesZipped ? zipped : plain, headers });
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  answer(response, { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) });
}

export function answerProblem(response: ServerResponse, status: number, text: string, hint?: string): void {
  answerJson(response, status, { error: { text, ...defined({ hint }) } });
}

/** Refuses a request with 403, without a reason that could reveal whether the token was right. */
export function refuse(response: ServerResponse): void {
  answer(response, {
    status: 403,
    type: 'text/plain; charset=utf-8',
    body: 'refused\n',
    headers: { Connection: 'close' },
  });
}

/**
 * Maximum number of event streams. Beyond it, the oldest is closed: a live page reconnects, an abandoned tab may not.
 */
const mostListeners = 16;
/** Heartbeat interval in ms, so that tunnels do not close an idle connection. */
const beatEveryMs = 15_000;

export class Changes {
  readonly #open = new Set<ServerResponse>();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#write(': \n\n'), beatEveryMs).unref();
  }

  add(response: ServerResponse, revision: number): void {
    response.writeHead(200, {
      ...safeHeaders,
      'Content-Type': 'text/event-stream; charset=utf-8',
      Connection: 'close',
    });
    if (response.req.method === 'HEAD') {
      response.end();
      return;
    }
    for (const oldest of this.#open) {
      if (this.#open.size < mostListeners) break;
      this.#open.delete(oldest);
      oldest.end();
    }
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
    response.write(`retry: 2000\n${eventOf({ revision })}`);
  }

  get isHeard(): boolean {
    return this.#open.size > 0;
  }

  /** Sends a change to all pages. If only a revision is sent, pages with an earlier one load everything. */
  tell(change: ReviewChange | { revision: number }): void {
    this.#write(eventOf(change));
  }

  close(): void {
    clearInterval(this.#timer);
    for (const response of this.#open) response.end();
    this.#open.clear();
  }

  #write(text: string): void {
    for (const response of this.#open) response.write(text);
  }
}

function eventOf(change: ReviewChange | { revision: number }): string {
  return `event: change\ndata: ${JSON.stringify(change)}\n\n`;
}
