import type { IncomingMessage } from 'node:http';
import type { Download, DownloadAnswer } from '../contract/answer.ts';
import { judgeLink, RefusedAddressError } from './address-guard.ts';
import { describeError } from './http.ts';
import { createLinks } from './links.ts';
import { readBody } from './read-body.ts';
import type { Redact } from './secrets.ts';

const mostRedirects = 3;

export interface Downloader {
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
  close(): Promise<void>;
}

export interface DownloaderOptions {
  baseUrl: string;
  redact: Redact;
  /** Longest wait for an answer to begin, per hop. */
  requestTimeoutMs: number;
  /** Resolves a name. */
  lookup?: Parameters<typeof createLinks>[0]['lookup'];
}

/** Fetches outputs. Never sends the credential; checks the address of every hop. */
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
        // A redirect that has left our own host cannot lead back to it.
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
        if (status === 200) return { is: 'open', download: toDownload(answer, signal) };
        answer.destroy();
        if (status >= 300 && status < 400 && location !== undefined) {
          if (!URL.canParse(location, url.href)) return { is: 'refused', message: `${url.host} redirects to no URL` };
          next = new URL(location, url).href;
          continue;
        }
        const message = `${url.host} answered HTTP ${status}`;
        if ([403, 404, 410].includes(status)) return { is: 'expired', message };
        // 408: a connection on which nothing came for a while, as of a process that was frozen.
        if (status >= 500 || status === 429 || status === 408) return { is: 'unreachable', message };
        return { is: 'refused', message };
      }
      return { is: 'refused', message: `the link is redirected more than ${mostRedirects} times` };
    },
    async close() {
      links.close();
    },
  };
}

function toDownload(answer: IncomingMessage, signal: AbortSignal): Download {
  const { 'content-length': announced, 'content-type': type } = answer.headers;
  const bytes = Number(announced);
  return {
    body: readBody(answer, { signal }),
    ...(announced !== undefined && Number.isSafeInteger(bytes) && { bytes }),
    ...(type !== undefined && { type }),
  };
}
