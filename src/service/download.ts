import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';
import type { Download, DownloadAnswer } from '../contract/answer.ts';
import { defined } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { parseRetryAfter } from './fields.ts';
import { describeError, mayPass } from './http.ts';
import { createLinks, judgeLink, RefusedAddressError } from './links.ts';
import type { Redact } from './secrets.ts';

const silenceMs = 60_000;

const mostRedirects = 3;

interface Downloader {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
  close(): Promise<void>;
}

export interface DownloaderOptions {
  baseUrl: string;
  redact: Redact;
  /** Timeout of the response headers, per hop. */
  requestTimeoutMs: number;
  lookup?: Parameters<typeof createLinks>[0]['lookup'];
}

/** Downloads outputs. Never sends the credential; checks the address of every hop. */
export function createDownloader(options: DownloaderOptions): Downloader {
  const { redact, requestTimeoutMs: silenceMs } = options;
  const links = createLinks(options);
  const call = { method: 'GET', headers: { accept: '*/*', 'accept-encoding': 'identity' }, silenceMs } as const;

  return {
    async open(first, signal) {
      let next = first;
      let { ownHost } = links;
      for (let hops = 0; hops <= mostRedirects; hops += 1) {
        const link = judgeLink(next, ownHost);
        if (link.is === 'refused') return { is: 'refused', message: redact(link.message) };
        // After a redirect to another host, a redirect back to the service's host is not trusted.
        if (!link.isOwn) ownHost = undefined;
        const { url } = link;
        let answer: IncomingMessage;
        try {
          answer = await links.ask(link, { ...call, signal });
        } catch (error) {
          if (error instanceof RefusedAddressError) return { is: 'refused', message: redact(error.message) };
          return { is: 'unreachable', message: redact(`${url.host}: ${describeError(error)}`) };
        }
        const { statusCode: status = 0 } = answer;
        const { location } = answer.headers;
        if (status === 200 || status === 203 || (status === 206 && isWhole(answer)))
          return { is: 'open', download: toDownload(answer, signal) };
        answer.destroy();
        if (status >= 300 && status < 400 && location !== undefined) {
          if (!URL.canParse(location, url.href)) return { is: 'refused', message: `${url.host} redirects to no URL` };
          next = new URL(location, url).href;
          continue;
        }
        const message = `${url.host} answered HTTP ${status}`;
        // 408: the server closed an idle connection, for example after this process was suspended.
        if (mayPass(status)) {
          const retryAfterMs = parseRetryAfter(answer.headers[envelope.headers.retryAfter]);
          return { is: 'unreachable', message, ...(retryAfterMs !== null && { retryAfterMs }) };
        }
        // Storage services answer with any 4xx to an expired link.
        return status >= 400 ? { is: 'expired', message } : { is: 'refused', message };
      }
      return { is: 'refused', message: `the link is redirected more than ${mostRedirects} times` };
    },
    async close() {
      links.close();
    },
  };
}

function isWhole({ headers }: IncomingMessage): boolean {
  const [, first, last, all] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return Number(first) === 0 && Number(last) + 1 === Number(all);
}

/** Decompresses a body that the server compressed without a request for it. Its length is then unknown. */
function decompress(answer: IncomingMessage): Readable | undefined {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase();
  const stream =
    encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate'
      ? createUnzip()
      : encoding === 'br'
        ? createBrotliDecompress()
        : undefined;
  // A failure of either stream ends both.
  return stream && pipeline(answer, stream, () => {});
}

function toDownload(answer: IncomingMessage, signal: AbortSignal): Download {
  const { 'content-type': type } = answer.headers;
  const plain = decompress(answer);
  const announced = plain === undefined ? answer.headers['content-length'] : undefined;
  const bytes = Number(announced);
  return {
    body: readBody(plain ?? answer, { signal }),
    ...(announced !== undefined && Number.isSafeInteger(bytes) && { bytes }),
    ...defined({ type }),
  };
}

interface BodyLimits {
  signal: AbortSignal;
  now?(): number;
}

/**
 * Lowest accepted rate, measured over a minute: a slower body counts as silent, because otherwise it might never end.
 */
const leastBytesPerSecond = 1000;
const windowMs = 60_000;
/** Bytes read ahead of demand: pausing and resuming a sender costs more than buffering a chunk. */
const mostAhead = 128 * 1024;

type Next = IteratorResult<Uint8Array, undefined>;

/**
 * Yields the bytes of an answer on demand: without demand, the sender waits. `return` releases the connection, even
 * before the first chunk. A body that broke off never counts as complete later.
 */
export function readBody(stream: Readable, { signal, now = () => performance.now() }: BodyLimits) {
  const chunks: Uint8Array[] = [];
  let ahead = 0;
  let end: { error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  // Only time spent waiting for the sender counts, because the reader may itself wait for a place or a slow disk.
  let waitedMs = 0;
  let windowBytes = 0;

  const finish = (how: { error?: unknown }) => {
    if (end !== undefined) return;
    end = how;
    signal.removeEventListener('abort', interrupt);
    if ('error' in how) stream.destroy();
    wake?.();
  };
  const interrupt = () => finish({ error: signal.reason });
  stream.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk);
    ahead += chunk.length;
    if (ahead >= mostAhead) stream.pause();
    wake?.();
  });
  stream.once('end', () => finish({}));
  stream.on('error', (error) => finish({ error })); // I26
  stream.once('close', () => finish({ error: new Error('it ended early') }));
  signal.addEventListener('abort', interrupt, { once: true });
  if (signal.aborted) interrupt();

  const isTooSlow = (bytes: number) => {
    windowBytes += bytes;
    if (waitedMs < windowMs) return false;
    const isSlow = windowBytes < (leastBytesPerSecond * waitedMs) / 1000;
    waitedMs = 0;
    windowBytes = 0;
    return isSlow;
  };
  const comes = () =>
    new Promise<void>((resolve) => {
      const waiting = setTimeout(
        () => finish({ error: new Error(`nothing came for ${silenceMs / 1000} s`) }),
        silenceMs,
      );
      wake = () => {
        clearTimeout(waiting);
        wake = undefined;
        resolve();
      };
    });
  const body: AsyncIterableIterator<Uint8Array> = {
    async next(): Promise<Next> {
      if (chunks.length === 0 && end === undefined) {
        if (stream.isPaused()) stream.resume();
        const since = now();
        await comes();
        waitedMs += now() - since;
      }
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        ahead -= chunk.length;
        if (isTooSlow(chunk.length)) finish({ error: new Error(`slower than ${leastBytesPerSecond} bytes a second`) });
      }
      if (end !== undefined && 'error' in end) throw end.error;
      return chunk === undefined ? { done: true, value: undefined } : { done: false, value: chunk };
    },
    async return(): Promise<Next> {
      finish({ error: new Error('it was not read to its end') });
      chunks.length = 0;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => body,
  };
  return body;
}
