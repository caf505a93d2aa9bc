import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { ListedJob } from '../contract/listed-job.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { requireKind } from '../kinds/index.ts';
import { type CatalogModel, readCatalog } from '../kinds/read-catalog.ts';
import { readAt } from './fields.ts';
import { createHttp } from './http.ts';
import { pathWithId } from './job-path.ts';
import { createLinks } from './links.ts';
import { listJobs } from './list-jobs.ts';
import type { FileToUpload } from './planned-file.ts';
import { type JobFacts, readJobFacts } from './read-job.ts';
import { readListed } from './read-listed.ts';
import { type Account, readAccountList, readAccounts, readVoices, type Voice } from './read-voices.ts';
import { removeJob } from './remove-job.ts';
import { requireAnswer } from './require-answer.ts';
import { makeRedact } from './secrets.ts';
import { type Asset, type UploadProgress, uploadFile, uploadFromUrl } from './upload-file.ts';

export { ServiceError } from '../contract/errors.ts';
export type { ListedJob } from '../contract/listed-job.ts';
export type { CatalogModel } from '../kinds/read-catalog.ts';
export type { FileToUpload } from './planned-file.ts';
export type { JobFacts } from './read-job.ts';
export type { Account, Voice } from './read-voices.ts';
export type { Asset, UploadProgress } from './upload-file.ts';

const { paths } = envelope;

/** Most records of a kind among which one that may be gone is searched. */
const mostRemoved = 1000;

export interface LibraryOptions {
  /** Ends in `/api/v1`. https, or loopback. */
  baseUrl: string;
  /** API key or JWT. */
  token: string;
  clock: Pick<Clock, 'sleep' | 'random'>;
  requestTimeoutMs: number;
}

/** Everything the service can do besides producing media for credits. All of it throws `ServiceError`. */
export interface Library {
  voices(): Promise<Voice[]>;
  catalog(): Promise<CatalogModel[]>;
  /** The same as the service sends it: its shape is undocumented. */
  wholeCatalog(): Promise<Json>;
  accounts(): Promise<Account[]>;
  /** The same, and whether these are all. */
  accountList(): Promise<{ accounts: Account[]; isWhole: boolean }>;
  /** Newest first, at most `limit`. Empty for kinds without a list. */
  jobs(kind: string, options: { limit: number }): Promise<ListedJob[]>;
  /** One job by its ID, from its status; undefined when unknown to the service. Only for kinds with a status. */
  job(kind: string, jobId: string): Promise<JobFacts | undefined>;
  /** A job's current record, without a query to the provider; undefined when it is gone, or its kind has none. */
  record(kind: string, jobId: string): Promise<ListedJob | undefined>;
  /** Permanent; credits are not refunded. `gone`: it was already gone, and is seen to be. */
  removeJob(kind: string, ids: { jobId: string; recordId?: string }): Promise<'removed' | 'gone'>;
  /** The service's own OpenAPI document. */
  document(): Promise<Json>;
  /** Uploads a local file; `onProgress` receives the bytes sent. */
  upload(file: FileToUpload, signal: AbortSignal, onProgress?: UploadProgress): Promise<Asset>;
  /** Adds a public URL that the service fetches itself. */
  uploadUrl(url: string, fileName?: string, signal?: AbortSignal): Promise<Asset>;
  /** How far the service's clock is ahead of this one, in ms (undefined when it does not say), and the latency. */
  ping(): Promise<{ skewMs?: number; latencyMs: number }>;
  close(): Promise<void>;
}

export function createLibrary(options: LibraryOptions): Library {
  const { baseUrl, token, clock, requestTimeoutMs: deadlineMs } = options;
  const redact = makeRedact(token);
  const http = createHttp({ baseUrl, token, redact });
  const links = createLinks({ baseUrl });
  const uploads = { http, clock, redact, deadlineMs, links };
  const get = async (path: string, fromRoot = false): Promise<Json> =>
    requireAnswer(await http.call({ method: 'GET', path, deadlineMs, fromRoot }), redact);
  const lists = new Map<string, Promise<ListedJob[]>>();
  const jobOf = async (name: string, jobId: string): Promise<JobFacts | undefined> => {
    const { status } = requireKind(name);
    if (status === undefined) throw new Error(`internal error: no status of a ${name} job`);
    const answer = await http.call({ method: 'GET', path: pathWithId(status.path, jobId), deadlineMs });
    if (answer.is === 'answer' && (answer.status === 404 || answer.status === 410)) return undefined;
    return readJobFacts(requireAnswer(answer, redact), jobId);
  };

  return {
    voices: async () => readVoices(await get(paths.voices)),
    catalog: async () => readCatalog(await get(paths.catalog)),
    wholeCatalog: () => get(paths.catalog),
    accounts: async () => readAccounts(await get(paths.accounts)),
    accountList: async () => readAccountList(await get(paths.accounts)),
    jobs: (kind, { limit }) => listJobs(requireKind(kind), { limit, get }),
    job: jobOf,
    async record(name, jobId) {
      const kind = requireKind(name);
      if (kind.record === undefined) return undefined;
      const answer = await http.call({ method: 'GET', path: pathWithId(kind.record.path, jobId), deadlineMs });
      if (answer.is === 'answer' && answer.status === 404) return undefined;
      const data = readAt(requireAnswer(answer, redact), envelope.answer.data);
      return data === undefined ? undefined : readListed(kind, [data])[0];
    },
    removeJob: (name, ids) =>
      removeJob(name, ids, {
        remove: (path) => http.call({ method: 'DELETE', path, deadlineMs }),
        list(kind) {
          // Once: what is removed here is not asked about again.
          const known = lists.get(kind) ?? listJobs(requireKind(kind), { limit: mostRemoved, get });
          lists.set(kind, known);
          return known;
        },
        knows: async (kind, jobId) => (await jobOf(kind, jobId)) !== undefined,
        redact,
      }),
    document: () => fetchDocument(get),
    upload: (file, signal, onProgress) => uploadFile(file, uploads, { signal, onProgress }),
    uploadUrl: (url, fileName, signal = new AbortController().signal) =>
      uploadFromUrl({ url, ...(fileName !== undefined && { fileName }) }, uploads, signal),
    async ping() {
      const startedAt = performance.now();
      const answer = await http.call({ method: 'GET', path: paths.accounts, deadlineMs });
      const latencyMs = performance.now() - startedAt;
      requireAnswer(answer, redact);
      const date = answer.is === 'answer' ? Date.parse(answer.headers[envelope.headers.date] ?? '') : Number.NaN;
      return { latencyMs, ...(!Number.isNaN(date) && { skewMs: date - Date.now() }) };
    },
    async close() {
      links.close();
      await http.close();
    },
  };
}

/** Tries the documented place first, and the other one when it has no document. */
async function fetchDocument(get: (path: string, fromRoot?: boolean) => Promise<Json>): Promise<Json> {
  try {
    const document = await get(paths.document);
    if (isMap(readAt(document, 'paths'))) return document;
  } catch (error) {
    // A host that does not answer here will not answer there.
    const isAnswered = error instanceof ServiceError && error.status !== undefined;
    if (!isAnswered || error.why === 'auth') throw error;
  }
  const document = await get(paths.documentAtRoot, true);
  if (isMap(readAt(document, 'paths'))) return document;
  throw new ServiceError('unusable', `GET ${paths.document}: the answer is not an OpenAPI document`);
}
