import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { gzip } from 'node:zlib';
import type { ReviewChange, ReviewFile } from '../../contract/review.ts';
import { openPlainFile } from '../../disk/fs/plain-file.ts';
import { hashHandle } from '../../disk/outputs/hash-file.ts';
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

const safeHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': policy,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};

const sandboxedPolicy = `${policy}; sandbox`;

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

/** Refuses a request with 403 and no reason, because a reason could reveal whether the token was right. */
export function refuse(response: ServerResponse): void {
  answer(response, {
    status: 403,
    type: 'text/plain; charset=utf-8',
    body: 'refused\n',
    headers: { Connection: 'close' },
  });
}

/** Maximum number of event streams. A further stream closes the oldest stream. A page that is still open reconnects. */
const mostListeners = 16;
/** Heartbeat interval in ms. Without heartbeats, tunnels close idle connections. */
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

  get hasListeners(): boolean {
    return this.#open.size > 0;
  }

  /** Sends a change to all pages. If the change is only a revision number, each page with older data loads all data. */
  broadcast(change: ReviewChange | { revision: number }): void {
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

/**
 * Media types that browsers display without running scripts. The server sends other types as downloads, because the
 * type may come from an untrusted git branch.
 */
const shown: readonly string[] = [
  ...['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'],
  ...['audio/mpeg', 'audio/wav', 'audio/flac', 'audio/ogg', 'audio/mp4'],
  ...['video/mp4', 'video/webm', 'video/quicktime', 'video/x-matroska'],
];

export async function sendFile(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  file: ReviewFile,
  { path, whole }: { path: string | undefined; whole: WholeFiles },
): Promise<void> {
  const handle = path === undefined ? undefined : await open(path);
  if (handle === undefined) return sendMissing(response, file);
  try {
    if (!(await whole.isWhole(handle, file))) return sendMissing(response, file);
    await sendBytes({ request, response }, { handle, size: file.bytes, type: file.mediaType });
  } finally {
    await handle.close().catch(() => undefined);
  }
}

async function open(path: string): Promise<FileHandle | undefined> {
  try {
    return await openPlainFile(path, constants.O_RDONLY);
  } catch {
    return undefined;
  }
}

function sendMissing(response: ServerResponse, { path }: ReviewFile): void {
  answerProblem(response, 404, `${path} is missing or was changed`, 'the next apply fetches the file for free');
}

async function sendBytes(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  { handle, size, type }: { handle: FileHandle; size: number; type: string },
): Promise<void> {
  const range = readRange(request.headers.range, size);
  if (range === 'unsatisfiable') {
    const headers = { 'Content-Range': `bytes */${size}` };
    return answer(response, { status: 416, type: 'text/plain; charset=utf-8', body: '', headers });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  response.writeHead(range === undefined ? 200 : 206, {
    ...safeHeaders,
    // I29
    ...(shown.includes(type)
      ? { 'Content-Type': type }
      : {
          'Content-Type': 'application/octet-stream',
          'Content-Disposition': 'attachment',
          'Content-Security-Policy': sandboxedPolicy,
        }),
    'Accept-Ranges': 'bytes',
    'Content-Length': end - start + 1,
    ...(range !== undefined && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  if (request.method === 'HEAD' || size === 0) {
    response.end();
    return;
  }
  // Browsers often abort the download of a film, which is not an error.
  const stream = handle.createReadStream({ start, end, autoClose: false });
  await pipeline(stream, response, { end: false }).catch(() => undefined);
  // If the file became shorter, the browser would read the next response as the rest of the file.
  if (stream.bytesRead < end - start + 1) response.destroy();
  else response.end();
}

function readRange(
  header: string | undefined,
  size: number,
): { start: number; end: number } | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '');
  const [, first = '', last = ''] = match ?? [];
  if (match === null || (first === '' && last === '')) return undefined;
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= size ? 'unsatisfiable' : { start, end };
}

/**
 * Checks whether files have the bytes that were bought, because files may come from an untrusted git branch. Caches
 * each result until the file changes.
 */
export class WholeFiles {
  readonly #read = new Map<string, { stamp: string; isWhole: Promise<boolean> }>();

  async isWhole(handle: FileHandle, { bytes, sha256 }: Pick<ReviewFile, 'bytes' | 'sha256'>): Promise<boolean> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
    if (size !== BigInt(bytes)) return false;
    const name = `${dev} ${ino} ${sha256}`;
    const stamp = `${size} ${mtimeNs} ${ctimeNs}`;
    const known = this.#read.get(name);
    if (known?.stamp === stamp) return known.isWhole;
    const isWhole = hashHandle(handle).then((digest) => digest.sha256 === sha256); // I29 (bytes)
    this.#read.set(name, { stamp, isWhole });
    // A failed check is not cached, because the next check may succeed.
    isWhole.catch(() => this.#read.delete(name));
    return isWhole;
  }
}
