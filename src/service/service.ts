import { kinds } from '../kinds/index.ts';
import type { CreateAnswer, DownloadAnswer, JobEnd } from './answer.ts';
import { createJob } from './create.ts';
import { createDownloader } from './download.ts';
import { createHttp } from './http.ts';
import type { PollPolicy } from './polling.ts';
import { makeRedact, readCredential } from './secrets.ts';
import { type WatchOptions, type WatchPorts, watchJob } from './watch.ts';

export interface ServiceOptions {
  /** Ends in `/api/v1`. https, or loopback. */
  baseUrl: string;
  /** API key or JWT. */
  token: string;
  clock: WatchPorts['clock'];
  policy: PollPolicy;
  /** For every call but creates. */
  requestTimeoutMs: number;
  createTimeoutMs: number;
  patienceMs: number;
  /** Where creates of a kind go to, where the service's own document says so. */
  createPaths?: { readonly [kind: string]: string };
}

/** The HTTP API, as a run needs it. */
export interface ServiceClient {
  replays(kind: string): boolean;
  create(call: { kind: string; body: string; key: string }): Promise<CreateAnswer>;
  watch(job: { kind: string; jobId: string }, options: WatchOptions): Promise<JobEnd>;
  open(url: string, signal: AbortSignal): Promise<DownloadAnswer>;
  close(): Promise<void>;
}

export function createService(options: ServiceOptions): ServiceClient {
  const redact = makeRedact(options.token);
  const credential = readCredential(options.token);
  const http = createHttp({ baseUrl: options.baseUrl, token: options.token, redact });
  const downloader = createDownloader({ baseUrl: options.baseUrl, redact });
  const watching: WatchPorts = {
    http,
    clock: options.clock,
    policy: options.policy,
    health: { failures: 0, countAgainAt: 0 },
    deadlineMs: options.requestTimeoutMs,
    patienceMs: options.patienceMs,
    redact,
  };
  return {
    replays: (kind) => credential.is === 'api-key' && kinds[kind]?.recovery === 'replay',
    create(call) {
      const path = options.createPaths?.[call.kind];
      const sent = path === undefined ? call : { ...call, path };
      return createJob(http, sent, { deadlineMs: options.createTimeoutMs, redact });
    },
    watch: (job, watchOptions) => watchJob(job, watching, watchOptions),
    open: (url, signal) => downloader.open(url, signal),
    async close() {
      await Promise.all([http.close(), downloader.close()]);
    },
  };
}
