import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { isLoopbackHost } from '../graph/inward-address.ts';
import { guardUrl } from './address-guard.ts';
import type { DownloadAnswer } from './answer.ts';
import { describeError } from './http.ts';
import { type Incoming, openIncoming } from './incoming.ts';
import type { Redact } from './secrets.ts';

const mostRedirects = 3;
/** Silence between two chunks after which a download counts as broken. */
const silenceMs = 60_000;
const leastBytesPerSecond = 1000;

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
        let answer: Incoming;
        try {
          const request = {
            origin: url.origin,
            path: `${url.pathname}${url.search}`,
            method: 'GET' as const,
            headers: { accept: '*/*', 'accept-encoding': 'identity' },
          };
          answer = await openIncoming(agentFor(address), request, { signal, leastBytesPerSecond });
        } catch (error) {
          return { is: 'unreachable', message: options.redact(`${url.host}: ${describeError(error)}`) };
        }
        const { status } = answer;
        const location = answer.headers.location;
        if (status >= 300 && status < 400 && typeof location === 'string') {
          await answer.body.return?.();
          if (!URL.canParse(location, url.href)) return { is: 'refused', message: `${url.host} redirects to no URL` };
          next = new URL(location, url).href;
          continue;
        }
        if (status === 200) return { is: 'open', download: toDownload(answer) };
        await answer.body.return?.();
        const message = `${url.host} answered HTTP ${status}`;
        if ([403, 404, 410].includes(status)) return { is: 'expired', message };
        if (status >= 500 || status === 429) return { is: 'unreachable', message };
        return { is: 'refused', message };
      }
      return { is: 'refused', message: `the link is redirected more than ${mostRedirects} times` };
    },
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

function toDownload(answer: Incoming): Extract<DownloadAnswer, { is: 'open' }>['download'] {
  const length = Number(answer.headers['content-length']);
  const type = answer.headers['content-type'];
  return {
    body: answer.body,
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
