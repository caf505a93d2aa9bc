import type { Clock } from '../contract/clock.ts';
import type { Downloads, Service } from '../contract/ports.ts';
import { steadyClock } from '../contract/steady-clock.ts';
import type { Json } from '../ground/json.ts';
import { kinds, requireKind } from '../kinds/index.ts';
import { type CreateRoutes, createJob } from './create.ts';
import { createDownloader } from './download.ts';
import { createHttp } from './http.ts';
import { createLibrary, type Library } from './library.ts';
import { findNewest, walkToFences } from './look-up-jobs.ts';
import type { Durations } from './polling/durations.ts';
import { Poller } from './polling/poller.ts';
import { requireAnswer } from './require-answer.ts';
import { makeKeyFinder, makeRedact, readCredential } from './secrets.ts';
import { ServiceClock } from './service-clock.ts';
import { uploadOrder } from './upload-order.ts';
import { type WatchPorts, watchJob } from './watch.ts';

export interface ServiceOptions {
  /** Ends in `/api/v1`. https, or loopback. */
  baseUrl: string;
  /** API key or JWT. */
  token: string;
  clock: Clock;
  /** Fixed interval between two queries of a job, in ms. Default: depends on durations and the service's limits. */
  pollIntervalMs?: number;
  /** Known job durations; grows. Default: none. */
  durations?: Durations;
  /** Timeout of every call except creates. */
  requestTimeoutMs: number;
  createTimeoutMs: number;
  patienceMs: number;
  /** Destinations of creates, as far as the service's own document tells. */
  createRoutes?: CreateRoutes;
  /** Asked right before a create is written; false: it is not sent. Default: it always may. */
  mayCreate?: () => boolean;
  /** Base of relative upload paths. Default: the working folder. */
  folder?: string;
}

/** Creates, status, downloads and uploads over HTTP. Time-outs are read when they count, so they may grow. */
export function createService(options: ServiceOptions): Service & Downloads & { close(): Promise<void> } {
  const redact = makeRedact(options.token);
  const holdsKey = makeKeyFinder(options.token);
  const credential = readCredential(options.token);
  const serviceClock = new ServiceClock(() => options.clock.now(), { probeMs: options.requestTimeoutMs });
  const http = serviceClock.watch(createHttp({ baseUrl: options.baseUrl, token: options.token, redact }));
  const downloader = createDownloader({ ...options, redact });
  const clock = steadyClock(options.clock);
  const watching: WatchPorts = {
    clock,
    poller: new Poller({
      http,
      clock,
      fixedMs: options.pollIntervalMs,
      get deadlineMs() {
        return options.requestTimeoutMs;
      },
      ...(options.durations !== undefined && { durations: options.durations }),
    }),
    health: { failures: 0, countAgainAt: 0 },
    get patienceMs() {
      return options.patienceMs;
    },
    redact,
  };
  /** Kinds without a create operation, and the evidence for that. */
  const missing = new Map<string, string>();
  /** Paths that have taken a create, by kind. */
  const proven = new Map<string, string>();
  let library: Library | undefined;
  const get = async (path: string): Promise<Json> =>
    requireAnswer(await http.call({ method: 'GET', path, deadlineMs: options.requestTimeoutMs }), redact);
  const replays = (kind: string) => credential.is === 'api-key' && kinds[kind]?.recovery === 'replay';
  return {
    replays,
    clockAheadMs: (asked) => serviceClock.aheadMs(http, asked),
    async create(call) {
      // An operation that was missing a moment ago is not requested a thousand times.
      const gone = missing.get(call.kind);
      if (gone !== undefined) return { is: 'no-route', message: `not sent: ${gone}` };
      const route = options.createRoutes?.[call.kind];
      const limits = {
        deadlineMs: options.createTimeoutMs,
        redact,
        holdsKey,
        route,
        provenPath: proven.get(call.kind),
        onPath: (path: string) => proven.set(call.kind, path),
        replays: replays(call.kind),
        mayLeave: options.mayCreate,
      };
      const answer = await createJob(http, call, limits);
      if (answer.is === 'no-route') missing.set(call.kind, answer.message.replace(/^not sent: /, ''));
      return answer;
    },
    usefulInFlight: () => watching.poller.usefulInFlight,
    newestJob: (kind) => findNewest(requireKind(kind), get),
    walkJobs: (kind, fences) => walkToFences(requireKind(kind), { fences, get }),
    watch: (job, watchOptions) => watchJob(job, watching, watchOptions),
    open: (url, signal) => downloader.open(url, signal),
    upload(order, signal) {
      library ??= createLibrary(options);
      return uploadOrder(library, order, { folder: options.folder ?? '.', signal });
    },
    async close() {
      await Promise.all([http.close(), downloader.close(), library?.close()]);
    },
  };
}
