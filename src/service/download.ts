import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { Download } from '../contract/answer.ts';
import type { Downloads } from '../contract/ports.ts';
import { defined } from '../ground/values.ts';
import { asksToWait, parseRetryAfter } from './fields.ts';
import { codingOf, describeError, mayPass } from './http.ts';
import { createLinks, judgeLink, RefusedAddressError } from './links.ts';
import type { Redact } from './secrets.ts';

const silenceMs = 60_000;

const mostRedirects = 3;

interface DownloaderOptions {
  baseUrl: string;
  redact: Redact;
  /** In ms. Time limit for the response headers. Restarts after each redirect. */
  requestTimeoutMs: number;
  lookup?: Parameters<typeof createLinks>[0]['lookup'];
}

/** Downloads outputs. Never sends the credential. Checks the address of every redirect. */
export function createDownloader(options: DownloaderOptions): Downloads & { close(): void } {
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
          return { is: 'open', download: await toDownload(answer, signal) };
        answer.destroy();
        if (status >= 300 && status < 400 && location !== undefined) {
          if (!URL.canParse(location, url.href))
            return { is: 'expired', message: `${url.host} redirects to an invalid URL` };
          next = new URL(location, url).href;
          continue;
        }
        const retryAfterMs = parseRetryAfter(answer.headers);
        const message = `${url.host} answered HTTP ${status}${asksToWait(retryAfterMs)}`;
        // 408: the server closed an idle connection, for example after this process was suspended.
        if (mayPass(status)) return { is: 'unreachable', message, ...defined({ retryAfterMs }) };
        // Storage services answer with any 4xx to an expired link, and with 204 or a part while they store the file.
        return { is: 'expired', message };
      }
      return {
        is: 'expired',
        message: `${new URL(next).host}: the link is redirected more than ${mostRedirects} times`,
      };
    },
    close: () => links.close(),
  };
}

function isWhole({ headers }: IncomingMessage): boolean {
  const [, first, last, all] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  return Number(first) === 0 && Number(last) + 1 === Number(all);
}

async function toDownload(answer: IncomingMessage, signal: AbortSignal): Promise<Download> {
  const { 'content-type': type, 'content-length': announced, 'content-encoding': label } = answer.headers;
  const body = new Body(answer, { signal });
  const coding = codingOf(await body.peek(), label);
  // A failure of either stream ends both.
  const plain = coding && pipeline(Readable.from(body), coding.stream(), () => {});
  if (plain !== undefined) return { body: new Body(plain, { signal }), ...defined({ type }) };
  const bytes = Number(announced);
  return { body, ...(announced !== undefined && Number.isSafeInteger(bytes) && { bytes }), ...defined({ type }) };
}

/** Lowest accepted rate of a download, as the average of a minute. A slower download might never end. */
const leastBytesPerSecond = 1000;
const windowMs = 60_000;
/** Number of bytes to read ahead of the consumer: buffering a chunk is cheaper than pausing the sender. */
const mostAhead = 128 * 1024;

type Next = IteratorResult<Uint8Array, undefined>;

/**
 * Response body that yields bytes when the consumer requests them. Otherwise, the sender waits. `return` releases the
 * connection, even before the first chunk. After an error, every further call throws the same error.
 */
export class Body implements AsyncIterableIterator<Uint8Array> {
  readonly #stream: Readable;
  readonly #signal: AbortSignal;
  readonly #now: () => number;
  readonly #interrupt = () => this.#finish({ error: this.#signal.reason });
  #chunks: Uint8Array[] = [];
  #ahead = 0;
  #end: { error?: unknown } | undefined;
  #wake: (() => void) | undefined;
  #waitedMs = 0;
  #windowBytes = 0;

  constructor(stream: Readable, { signal, now = () => performance.now() }: { signal: AbortSignal; now?(): number }) {
    this.#stream = stream;
    this.#signal = signal;
    this.#now = now;
    stream.on('data', (chunk: Uint8Array) => {
      this.#chunks.push(chunk);
      this.#ahead += chunk.length;
      if (this.#ahead >= mostAhead) stream.pause();
      this.#wake?.();
    });
    stream.once('end', () => this.#finish({}));
    stream.on('error', (error) => this.#finish({ error })); // I26
    stream.once('close', () => this.#finish({ error: new Error('it ended early') }));
    signal.addEventListener('abort', this.#interrupt, { once: true });
    if (signal.aborted) this.#interrupt();
    // The connection may have failed after the headers arrived.
    else if (stream.destroyed) this.#finish({ error: stream.errored ?? new Error('it ended early') });
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** Returns the first bytes of the body, but does not consume them: 512 or more, unless it is shorter or too slow. */
  async peek(): Promise<Uint8Array> {
    while (this.#ahead < 512 && this.#end === undefined && this.#waitedMs < windowMs) await this.#wait();
    return Buffer.concat(this.#chunks);
  }

  async next(): Promise<Next> {
    if (this.#chunks.length === 0 && this.#end === undefined) {
      if (this.#stream.isPaused()) this.#stream.resume();
      await this.#wait();
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) this.#count(chunk.length);
    if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error;
    return chunk === undefined ? { done: true, value: undefined } : { done: false, value: chunk };
  }

  async return(): Promise<Next> {
    this.#finish({ error: new Error('the download was not read to the end') });
    this.#chunks = [];
    return { done: true, value: undefined };
  }

  #finish(end: { error?: unknown }): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#signal.removeEventListener('abort', this.#interrupt);
    if ('error' in end) this.#stream.destroy();
    this.#wake?.();
  }

  async #wait(): Promise<void> {
    const since = this.#now();
    await new Promise<void>((resolve) => {
      const late = () => this.#finish({ error: new Error(`no data arrived for ${silenceMs / 1000} s`) });
      const timer = setTimeout(late, silenceMs);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
    this.#waitedMs += this.#now() - since;
  }

  #count(bytes: number): void {
    this.#ahead -= bytes;
    this.#windowBytes += bytes;
    if (this.#waitedMs < windowMs) return;
    if (this.#windowBytes < (leastBytesPerSecond * this.#waitedMs) / 1000)
      this.#finish({ error: new Error(`the download was slower than ${leastBytesPerSecond} bytes a second`) });
    this.#waitedMs = 0;
    this.#windowBytes = 0;
  }
}
