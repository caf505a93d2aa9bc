import { isLoopbackHost } from '../graph/inward-address.ts';
import type { Json } from '../json.ts';
import { kinds } from '../kinds/index.ts';
import type { Kind } from '../kinds/kind.ts';
import { readRecord } from './fields.ts';
import { createHttp } from './http.ts';
import { type Account, type CatalogModel, readAccounts, readCatalog, readVoices, type Voice } from './read-catalog.ts';
import { type ListedJob, readListed } from './read-listed.ts';
import { makeRedact } from './secrets.ts';
import { requireAnswer, ServiceError } from './service-error.ts';
import { type Asset, type FileToUpload, uploadFile, uploadFromUrl } from './upload-file.ts';

export type { Account, CatalogModel, Voice } from './read-catalog.ts';
export type { ListedJob } from './read-listed.ts';
export { ServiceError } from './service-error.ts';
export type { Asset, FileToUpload } from './upload-file.ts';

export interface LibraryOptions {
  /** Ends in `/api/v1`. https, or loopback. */
  baseUrl: string;
  /** API key or JWT. */
  token: string;
  clock: { sleep(ms: number, signal?: AbortSignal): Promise<void>; random(): number };
  requestTimeoutMs: number;
}

/** Everything that the service can do beside making something for credits. All of it throws `ServiceError`. */
export interface Library {
  voices(): Promise<Voice[]>;
  catalog(): Promise<CatalogModel[]>;
  accounts(): Promise<Account[]>;
  /** Newest first, at most `limit`. Empty for kinds that have no list. */
  jobs(kind: string, options: { limit: number }): Promise<ListedJob[]>;
  /** The record of a clipping job as it stands, without asking the provider; undefined when it is gone. */
  clipping(jobId: string): Promise<ListedJob | undefined>;
  /** For good; credits do not come back. `gone`: it was not there any more. */
  removeJob(kind: string, ids: { jobId: string; recordId?: string }): Promise<'removed' | 'gone'>;
  /** The service's own OpenAPI document. */
  document(): Promise<Json>;
  upload(file: FileToUpload, signal: AbortSignal): Promise<Asset>;
  uploadUrl(url: string, fileName?: string, signal?: AbortSignal): Promise<Asset>;
  /** Milliseconds that the service's clock is ahead of this one; undefined when it does not say. And how long it took. */
  ping(): Promise<{ skewMs?: number; latencyMs: number }>;
  close(): Promise<void>;
}

/** As many as the documented lists give at most. */
const pageSize = 100;
const mostPages = 200;

export function createLibrary(options: LibraryOptions): Library {
  const { baseUrl, token, clock, requestTimeoutMs: deadlineMs } = options;
  const redact = makeRedact(token);
  const http = createHttp({ baseUrl, token, redact });
  const base = new URL(baseUrl);
  const ownOrigin = isLoopbackHost(base.hostname) ? base.origin : undefined;
  const uploads = { http, clock, redact, deadlineMs, ownOrigin };
  const get = async (path: string, fromRoot = false): Promise<Json> =>
    requireAnswer(await http.call({ method: 'GET', path, deadlineMs, fromRoot }), redact);

  return {
    voices: async () => readVoices(await get('/voiceovers/voices')),
    catalog: async () => readCatalog(await get('/catalog')),
    accounts: async () => readAccounts(await get('/accounts')),
    jobs: (kind, { limit }) => listJobs(requireKind(kind), limit, get),
    async clipping(jobId) {
      const kind = requireKind('clipping');
      const answer = await http.call({ method: 'GET', path: `/clippings/${encodeURIComponent(jobId)}`, deadlineMs });
      if (answer.is === 'answer' && answer.status === 404) return undefined;
      const data = readRecord(requireAnswer(answer, redact))?.data;
      return data === undefined ? undefined : readListed(kind, [data])[0];
    },
    async removeJob(name, ids) {
      const { remove } = requireKind(name);
      if (remove === undefined) throw new Error(`internal error: nothing of kind ${name} can be removed`);
      const id = remove.by === 'record' ? (ids.recordId ?? ids.jobId) : ids.jobId;
      const path = remove.path.replace('{id}', encodeURIComponent(id));
      const answer = await http.call({ method: 'DELETE', path, deadlineMs });
      if (answer.is === 'answer' && (answer.status === 404 || answer.status === 410)) return 'gone';
      if (answer.is === 'answer' && answer.status === 204) return 'removed';
      requireAnswer(answer, redact);
      return 'removed';
    },
    async document() {
      const first = await get('/openapi.json').catch((error: unknown) => {
        if (error instanceof ServiceError && error.why !== 'auth') return undefined;
        throw error;
      });
      return readRecord(first)?.paths === undefined ? get('/api-docs/openapi.json', true) : (first ?? null);
    },
    upload: (file, signal) => uploadFile(file, uploads, signal),
    uploadUrl: (url, fileName, signal = new AbortController().signal) =>
      uploadFromUrl({ url, ...(fileName !== undefined && { fileName }) }, uploads, signal),
    async ping() {
      const startedAt = performance.now();
      const answer = await http.call({ method: 'GET', path: '/accounts', deadlineMs });
      const latencyMs = performance.now() - startedAt;
      requireAnswer(answer, redact);
      const date = answer.is === 'answer' ? Date.parse(answer.headers.date ?? '') : Number.NaN;
      return { latencyMs, ...(!Number.isNaN(date) && { skewMs: date - Date.now() }) };
    },
    close: () => http.close(),
  };
}

/** Every page until there are enough, whatever the pages say about how many there are. */
async function listJobs(kind: Kind, limit: number, get: (path: string) => Promise<Json>): Promise<ListedJob[]> {
  const { list } = kind;
  if (list === undefined) return [];
  const found = new Map<string, ListedJob>();
  for (let page = 1; page <= mostPages && found.size < limit; page += 1) {
    const query = list.paged ? `?page=${page}&limit=${Math.min(pageSize, limit)}` : '';
    const body = readRecord(await get(`${list.path}${query}`));
    const items = body?.[list.items];
    if (!Array.isArray(items)) {
      throw new ServiceError('unusable', `GET ${list.path}: the answer has no list \`${list.items}\``);
    }
    const before = found.size;
    // New jobs push others onto the next page: the same one may come twice.
    for (const job of readListed(kind, items)) if (!found.has(job.jobId)) found.set(job.jobId, job);
    const more = readRecord(body?.pagination)?.hasNextPage === true;
    if (!list.paged || !more || found.size === before) break;
  }
  return [...found.values()].slice(0, limit);
}

function requireKind(name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`internal error: no kind ${name}`);
  return kind;
}
