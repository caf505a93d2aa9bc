/*
 * The HTTP client of the service, behind ports.
 * Takes: a base URL, an API key, and rendered bytes of requests.
 * Returns: answers as closed unions, or a `ServiceError`. Sends each create request once: `service/` never repeats it.
 * Independent of: steps, plans, the lock, credits. The API key is sent only to the base URL's host (I17).
 */

import { basename, join } from 'node:path';
import type { ListedJob, UploadAnswer } from '../contract/answer.ts';
import { type Clock, steadyClock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { Downloads, Service, UploadOrder } from '../contract/ports.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { requireKind } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { type CreateOptions, Creates } from './create.ts';
import { createDownloader } from './download.ts';
import { createHttp, type Http, type HttpAnswer, requireAnswer } from './http.ts';
import { Library, type LibraryOptions } from './library.ts';
import { getPage, hasMore, hasMorePages, itemsOf, pageSize, readListed } from './listing.ts';
import type { Durations } from './polling/durations.ts';
import { Poller } from './polling/poller.ts';
import { makeRedact, type Redact } from './secrets.ts';
import { type WatchPorts, watchJob } from './watch.ts';

export interface ServiceOptions extends LibraryOptions, CreateOptions {
  clock: Clock;
  /** Fixed interval in ms between two queries of a job. By default, it depends on the durations of earlier jobs. */
  pollIntervalMs?: number;
  durations?: Durations;
  patienceMs: number;
  /** Folder to which upload paths are relative. Defaults to the working folder. */
  folder?: string;
}

/** Creates a client of the service. Reads timeouts from `options` at each use, so the caller may raise them. */
export function createService(options: ServiceOptions): Service & Downloads & { close(): Promise<void> } {
  const redact = makeRedact(options.token);
  const serviceClock = new ServiceClock(() => options.clock.now(), { probeMs: options.requestTimeoutMs });
  const http = serviceClock.watch(createHttp({ baseUrl: options.baseUrl, token: options.token, redact }));
  const downloader = createDownloader({ ...options, redact });
  const watching = makeWatchPorts(options, { http, redact });
  const creates = new Creates(http, options);
  let library: Library | undefined;
  const get = async (path: string): Promise<Json> =>
    requireAnswer(await http.call({ method: 'GET', path, deadlineMs: options.requestTimeoutMs }), redact);
  return {
    replays: (kind) => creates.replays(kind),
    clockAheadMs: (asked) => serviceClock.aheadMs(http, asked),
    create: (call) => creates.send(call),
    newestJob: (kind) => findNewest(requireKind(kind), get),
    walkJobs: (kind, fences) => walkToFences(requireKind(kind), { fences, get }),
    watch: (job, watchOptions) => watchJob(job, watching, watchOptions),
    open: (url, signal) => downloader.open(url, signal),
    upload(order, signal) {
      library ??= new Library(options);
      return uploadOrder(library, order, { folder: options.folder ?? '.', signal });
    },
    async close() {
      await Promise.all([http.close(), downloader.close(), library?.close()]);
    },
  };
}

function makeWatchPorts(options: ServiceOptions, { http, redact }: { http: Http; redact: Redact }): WatchPorts {
  const clock = steadyClock(options.clock);
  return {
    clock,
    poller: new Poller({
      http,
      clock,
      fixedMs: options.pollIntervalMs,
      get deadlineMs() {
        return options.requestTimeoutMs;
      },
      ...defined({ durations: options.durations }),
    }),
    health: { failures: 0, countAgainAt: 0 },
    get patienceMs() {
      return options.patienceMs;
    },
    redact,
  };
}

/**
 * Measures how far the service's clock is ahead of the local clock. Uses the `Date` header of answers. The service
 * expires idempotency keys by its clock, and a local clock may be wrong by hours.
 */
class ServiceClock {
  readonly #now: () => number;
  #aheadMs: number | undefined;
  readonly #probeMs: number;
  #probe: Promise<HttpAnswer> | undefined;

  constructor(now: () => number, { probeMs }: { probeMs: number }) {
    this.#now = now;
    this.#probeMs = probeMs;
  }

  watch(http: Http): Http {
    return {
      call: async (call) => {
        const answer = await http.call(call);
        if (answer.is === 'answer') this.#observe(answer.headers[envelope.headers.date]);
        return answer;
      },
      close: () => http.close(),
    };
  }

  /**
   * Returns the difference of the clocks in ms, or 0 if the service does not report its time. Sends a request if no
   * answer has had a date. With `fresh`, always sends a request, because the user may have set the local clock.
   */
  async aheadMs(http: Http, { fresh = false }: { fresh?: boolean } = {}): Promise<number | { unreachable: string }> {
    if (this.#aheadMs !== undefined && !fresh) return this.#aheadMs;
    const probe = { method: 'GET', path: envelope.paths.accounts, deadlineMs: this.#probeMs } as const;
    this.#probe ??= http.call(probe).finally(() => {
      this.#probe = undefined;
    });
    const answer = await this.#probe;
    return answer.is === 'broken' ? { unreachable: answer.message } : (this.#aheadMs ?? 0);
  }

  #observe(date: string | undefined): void {
    const ahead = date === undefined ? Number.NaN : Date.parse(date) - this.#now();
    // Ignores a small difference: the `Date` header has whole seconds, and the answer took time to arrive.
    this.#aheadMs = Number.isNaN(ahead) ? (this.#aheadMs ?? 0) : Math.abs(ahead) < 2000 ? 0 : ahead;
  }
}

async function uploadOrder(
  library: Library,
  order: UploadOrder,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<UploadAnswer> {
  try {
    const asset =
      'url' in order
        ? await library.uploadUrl(order.url, order.fileName, signal)
        : await library.upload(
            { ...order, path: join(folder, order.path), fileName: order.fileName ?? basename(order.path) },
            signal,
          );
    return { is: 'uploaded', assetId: asset.id, url: asset.url };
  } catch (error) {
    if (signal.aborted) return { is: 'failed', why: 'interrupted', message: 'interrupted' };
    if (!(error instanceof ServiceError)) throw error;
    const { why, message } = error;
    return { is: 'failed', why: why === 'unusable' ? 'refused' : why, message };
  }
}

const mostPages = 50;

/**
 * Returns the ID of the newest job in a kind's list, or an empty string for an empty list. Throws `ServiceError` if the
 * list is unreadable or the newest job has no usable ID.
 */
export async function findNewest(kind: Kind, get: (path: string) => Promise<Json>): Promise<string> {
  const { list } = kind;
  if (list === undefined) throw new ServiceError('unusable', `${kind.name} has no list`);
  const items = itemsOf(list, await getPage(list, { page: 1, limit: 10, get }));
  const [first] = items;
  if (first === undefined) return '';
  const [newest] = readListed(kind, [first]);
  if (newest === undefined) throw new ServiceError('unusable', `GET ${list.path}: the newest record has no usable id`);
  return newest.jobId;
}

/**
 * Returns the jobs of a kind's list that are newer than all fences. A fence is the ID of the job that was newest
 * earlier, or empty if the list was empty. `complete`: no newer job is missing, because every record was readable and
 * in order, and each fence or the end of the list was reached. `older`: jobs from the last fence to the end of its
 * page. Throws `ServiceError`.
 */
export async function walkToFences(
  kind: Kind,
  { fences, get }: { fences: readonly string[]; get: (path: string) => Promise<Json> },
): Promise<{ jobs: ListedJob[]; older: ListedJob[]; complete: boolean }> {
  const { list } = kind;
  const jobs = new Map<string, ListedJob>();
  const walked = (complete: boolean, older: ListedJob[] = []) => ({ jobs: [...jobs.values()], older, complete });
  if (list === undefined) return walked(false);
  const ahead = new Set(fences);
  let isReadable = ahead.size > 0;
  let before = Number.POSITIVE_INFINITY;
  let first: string | undefined;
  for (let page = 1; page <= mostPages; page += 1) {
    const body = await getPage(list, { page, limit: pageSize, get });
    const items = itemsOf(list, body);
    const listed = readListed(kind, items);
    if (listed.length !== items.length) isReadable = false;
    // A service that ignores page numbers returns the first page again: the list cannot be read completely.
    if (first !== undefined && listed[0]?.jobId === first) return walked(false);
    first ??= listed[0]?.jobId;
    const known = jobs.size;
    for (const job of listed) {
      // New jobs move earlier jobs to the next page, so a job may appear twice.
      if (jobs.has(job.jobId)) continue;
      const createdAt = Date.parse(job.createdAt ?? '');
      if (!(createdAt <= before)) isReadable = false;
      before = createdAt;
      ahead.delete(job.jobId);
      if (ahead.size === 0) return walked(isReadable, listed.slice(listed.indexOf(job)));
      jobs.set(job.jobId, job);
    }
    if (!list.paged || jobs.size === known || !hasMore(body, page)) {
      const isEnd = !hasMorePages(body, { page, seen: jobs.size });
      return walked(isReadable && isEnd && [...ahead].every((fence) => fence === ''));
    }
  }
  return walked(false);
}
