import { isIP, type LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { isLoopbackHost } from '../graph/inward-address.ts';
import { guardUrl } from './address-guard.ts';
import type { DownloadAnswer } from './answer.ts';
import { describeError } from './http.ts';
import type { Redact } from './secrets.ts';

const mostRedirects = 3;
/** Silence between two chunks after which a download counts as broken. */
const silenceMs = 60_000;

export interface Downloader {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
  close(): Promise<void>;
}

/** Fetches outputs. Never sends the credential; every hop's address is checked. */
export function createDownloader(options: { baseUrl: string; redact: Redact }): Downloader {
  const base = new URL(options.baseUrl);
  const ownOrigin = isLoopbackHost(base.hostname) ? base.origin : undefined;
  const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const agents = new Map<string, Agent>();
  const agentFor = (address: string | undefined): Agent => {
    const name = address ?? '';
    let agent = agents.get(name);
    if (agent === undefined) {
      const connect = { timeout: 15_000, ...(address !== undefined && { lookup: pinnedLookup(address) }) };
      agent = new Agent({ ...timeouts, connect, connections: 16 });
      agents.set(name, agent);
    }
    return agent;
  };

  return {
    async open(first, signal) {
      let next = first;
      for (let hops = 0; hops <= mostRedirects; hops += 1) {
        const guarded = await guardUrl(next, ownOrigin);
        if (guarded.is === 'refused') return { is: 'refused', message: options.redact(guarded.message) };
        if (guarded.is === 'unknown') return { is: 'unreachable', message: options.redact(guarded.message) };
        const { url, address } = guarded;
        let answer: Dispatcher.ResponseData;
        try {
          answer = await agentFor(address).request({
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method: 'GET',
            headers: { accept: '*/*', 'accept-encoding': 'identity' },
            signal,
          });
        } catch (error) {
          return { is: 'unreachable', message: options.redact(`${url.host}: ${describeError(error)}`) };
        }
        const location = answer.headers.location;
        if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
          discard(answer.body);
          if (!URL.canParse(location, url.href)) return { is: 'refused', message: `${url.host} redirects to no URL` };
          next = new URL(location, url).href;
          continue;
        }
        if (answer.statusCode === 200) return { is: 'open', download: toDownload(answer) };
        discard(answer.body);
        const message = `${url.host} answered HTTP ${answer.statusCode}`;
        if ([403, 404, 410].includes(answer.statusCode)) return { is: 'expired', message };
        if (answer.statusCode >= 500 || answer.statusCode === 429) return { is: 'unreachable', message };
        return { is: 'refused', message };
      }
      return { is: 'refused', message: `the link is redirected more than ${mostRedirects} times` };
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

/** Not read to its end: it may have none. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => {});
  body.destroy();
}

/** Slower than this for a minute is as good as silence: a body that drips would otherwise never end. */
const leastBytesPerSecond = 1000;

/** `return` lets go of the connection, also before the first chunk: a body that nobody reads would keep it for ever. */
function atLeast(bytesPerSecond: number, body: Dispatcher.ResponseData['body']): AsyncIterableIterator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let windowStart = performance.now();
  let windowBytes = 0;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      const next = await chunks.next();
      if (next.done === true) return next;
      windowBytes += next.value.length;
      const elapsedMs = performance.now() - windowStart;
      if (elapsedMs < silenceMs) return next;
      if (windowBytes < (bytesPerSecond * elapsedMs) / 1000) {
        discard(body);
        throw new Error(`slower than ${bytesPerSecond} bytes a second`);
      }
      windowStart = performance.now();
      windowBytes = 0;
      return next;
    },
    async return() {
      discard(body);
      return { done: true, value: undefined };
    },
  };
}

function toDownload(answer: Dispatcher.ResponseData): Extract<DownloadAnswer, { is: 'open' }>['download'] {
  const length = Number(answer.headers['content-length']);
  const type = answer.headers['content-type'];
  return {
    body: atLeast(leastBytesPerSecond, answer.body),
    ...(answer.headers['content-length'] !== undefined && Number.isSafeInteger(length) && { bytes: length }),
    ...(typeof type === 'string' && { type }),
  };
}

/** Connects to the address that was checked, whatever the name says by now. TLS still verifies the name. */
export function pinnedLookup(address: string): LookupFunction {
  const family = isIP(address);
  return (_host, options, callback) => {
    if (options.all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };
}
