import type { ListedJob } from '../contract/answer.ts';
import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { defined, isMap } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { requireKind, requireOf } from '../kinds/index.ts';
import { readAt, readCredits, readText } from './fields.ts';
import { createHttp, type HttpAnswer, pathWithId, requireAnswer } from './http.ts';
import { createLinks } from './links.ts';
import { listJobs } from './listing.ts';
import { makeRedact, type Redact } from './secrets.ts';
import { type Asset, type FileToUpload, type UploadProgress, uploadFile, uploadFromUrl } from './upload-file.ts';

/** Facts from the status of a job. Strings come from the service: show them through `safeText`. */
interface JobFacts {
  status: string;
  /** Set only for kinds that share a status path. */
  kind?: string;
  credits?: number;
  error?: string;
}

export type { ListedJob } from '../contract/answer.ts';
export { ServiceError } from '../contract/errors.ts';
export type { Asset, FileToUpload, UploadProgress } from './upload-file.ts';

const { paths } = envelope;

/** Maximum number of records of a kind that are searched for a record that may have been removed. */
const mostRemoved = 1000;

export interface LibraryOptions {
  /** Ends in `/api/v1`. https, or loopback. */
  baseUrl: string;
  /** API key or JWT. */
  token: string;
  clock: Pick<Clock, 'sleep' | 'random'>;
  /** Timeout of every call except create requests, in ms. */
  requestTimeoutMs: number;
}

/** All operations of the service that do not produce media for credits. All of them throw `ServiceError`. */
export interface Library {
  voices(): Promise<Voice[]>;
  /** Returns the unchanged response, whose shape is undocumented. */
  catalog(): Promise<Json>;
  accounts(): Promise<AccountList>;
  /** Returns at most `limit` jobs, newest first. Empty for kinds without a list. */
  jobs(kind: string, options: { limit: number }): Promise<ListedJob[]>;
  /**
   * Returns one job by its ID, from its status; `undefined` if unknown to the service. Only for kinds with a status.
   */
  job(kind: string, jobId: string): Promise<JobFacts | undefined>;
  /**
   * Removes a job's record permanently; credits are not refunded. `gone`: it had been removed already, which was
   * verified.
   */
  removeJob(kind: string, ids: { jobId: string; recordId?: string }): Promise<'removed' | 'gone'>;
  document(): Promise<Json>;
  upload(file: FileToUpload, signal: AbortSignal, onProgress?: UploadProgress): Promise<Asset>;
  /** Adds a public URL that the service fetches itself. */
  uploadUrl(url: string, fileName?: string, signal?: AbortSignal): Promise<Asset>;
  /**
   * Returns how far the service's clock is ahead of the local clock, in ms (`undefined` if unknown), and the latency.
   */
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
    const { path } = requireOf(name, 'status');
    const answer = await http.call({ method: 'GET', path: pathWithId(path, jobId), deadlineMs });
    if (answer.is === 'answer' && (answer.status === 404 || answer.status === 410)) return undefined;
    return readJobFacts(requireAnswer(answer, redact), jobId);
  };

  return {
    voices: async () => readVoices(await get(paths.voices)),
    catalog: () => get(paths.catalog),
    accounts: async () => readAccounts(await get(paths.accounts)),
    jobs: (kind, { limit }) => listJobs(requireKind(kind), { limit, get }),
    job: jobOf,
    removeJob: (name, ids) =>
      removeJob(name, ids, {
        remove: (path) => http.call({ method: 'DELETE', path, deadlineMs }),
        list(kind) {
          // Listed once: a record removed by these calls is not looked up again.
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
      uploadFromUrl({ url, ...defined({ fileName }) }, uploads, signal),
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

async function fetchDocument(get: (path: string, fromRoot?: boolean) => Promise<Json>): Promise<Json> {
  try {
    const document = await get(paths.document);
    if (isMap(readAt(document, 'paths'))) return document;
  } catch (error) {
    // A host that does not answer at this path will not answer at the other one.
    const isAnswered = error instanceof ServiceError && error.status !== undefined;
    if (!isAnswered || error.why === 'auth') throw error;
  }
  const document = await get(paths.documentAtRoot, true);
  if (isMap(readAt(document, 'paths'))) return document;
  throw new ServiceError('unusable', `GET ${paths.document}: the answer is not an OpenAPI document`);
}

/** Throws `ServiceError` if the answer is not about this job. */
function readJobFacts(answer: Json, jobId: string): JobFacts {
  const { job, kindWords } = envelope;
  const data = readAt(answer, envelope.answer.data);
  const status = readAt(data, job.status);
  if (!isMap(data) || typeof status !== 'string') {
    throw new ServiceError('unusable', 'the answer has no status of a job');
  }
  const id = readAt(data, job.id);
  if (id !== undefined && id !== jobId) throw new ServiceError('unusable', 'the answer is about another job');
  const word = Object.values(data).find((value) => typeof value === 'string' && Object.hasOwn(kindWords, value));
  const kind = typeof word === 'string' ? kindWords[word] : undefined;
  const credits = readCredits(data, job.credits);
  const error = readText(data, job.error);
  return {
    status: status.slice(0, 60),
    ...defined({ kind, credits, error }),
  };
}

interface JobIds {
  jobId: string;
  recordId?: string;
}

interface RemovalPorts {
  remove(path: string): Promise<HttpAnswer>;
  list(kind: string): Promise<readonly ListedJob[]>;
  knows(kind: string, jobId: string): Promise<boolean>;
  redact: Redact;
}

/**
 * Removes a job's record, by the id that its kind uses for removal, then by its other id, because the documentation
 * does not say which id is meant. `gone`: neither is known, and the service shows the job nowhere. Throws
 * `ServiceError`.
 */
async function removeJob(kindName: string, ids: JobIds, ports: RemovalPorts): Promise<'removed' | 'gone'> {
  const remove = requireOf(kindName, 'remove');
  const { jobId, recordId = jobId } = ids;
  const tried = remove.by === 'record' ? [recordId, jobId] : [jobId, recordId];
  for (const id of new Set(tried)) {
    const answer = await ports.remove(pathWithId(remove.path, id));
    if (answer.is === 'answer' && (answer.status === 404 || answer.status === 410)) continue;
    if (answer.is === 'answer' && answer.status === 204) return 'removed';
    requireAnswer(answer, ports.redact);
    return 'removed';
  }
  const shown = await findShown(kindName, ids, ports);
  if (shown === undefined) return 'gone';
  if (ids.recordId === undefined && shown.recordId !== undefined) {
    return removeJob(kindName, { jobId, recordId: shown.recordId }, ports);
  }
  const named = [...new Set(tried)].join(' nor ');
  throw new ServiceError('refused', `the record is still there, and cannot be removed as ${named}: HTTP 404`, {
    status: 404,
  });
}

async function findShown(kind: string, ids: JobIds, ports: RemovalPorts): Promise<JobIds | undefined> {
  const { jobId, recordId } = ids;
  if (requireKind(kind).list === undefined) return (await ports.knows(kind, jobId)) ? ids : undefined;
  const isIt = (id: string | undefined) => id !== undefined && (id === jobId || id === recordId);
  return (await ports.list(kind)).find((job) => isIt(job.jobId) || isIt(job.recordId));
}

export interface Voice {
  id: string;
  label: string;
  description: string;
  gender: string;
  accent: string;
  previewUrl?: string;
}

export interface Account {
  id: string;
  /** Name of the platform; `google` means YouTube. */
  provider: string;
  name: string;
  username: string;
  /** Date in ISO 8601. */
  expiresAt?: string;
}

function readVoices(json: Json): Voice[] {
  return listIn(json, envelope.voices.lists).flatMap((voice): Voice[] => {
    const id = readText(voice, 'id');
    if (id === undefined) return [];
    const previewUrl = readText(voice, 'previewUrl');
    return [
      {
        id,
        label: readText(voice, 'label') ?? id,
        description: readText(voice, 'description') ?? '',
        gender: readText(voice, 'gender') ?? '',
        accent: readText(voice, 'accent') ?? '',
        ...defined({ previewUrl }),
      },
    ];
  });
}

interface AccountList {
  accounts: Account[];
  /** Whether every account could be read, and no page follows: a missing account then does not exist. */
  isWhole: boolean;
}

export function readAccounts(json: Json): AccountList {
  const { accounts: names } = envelope;
  const list = listIn(json, names.lists);
  const accounts = list.flatMap((account): Account[] => {
    const found = readAt(account, 'id');
    const id = typeof found === 'number' ? String(found) : readText(account, 'id');
    if (id === undefined) return [];
    const expiresAt = readText(account, 'expiresAt');
    return [
      {
        id,
        provider: readText(account, 'provider') ?? '',
        name: readText(account, names.name) ?? '',
        username: readText(account, names.username) ?? '',
        ...defined({ expiresAt }),
      },
    ];
  });
  return { accounts, isWhole: accounts.length === list.length && readAt(json, envelope.page.hasNext) !== true };
}

function listIn(json: Json, names: readonly string[]): readonly Json[] {
  if (Array.isArray(json)) return json;
  for (const name of names) {
    const list = readAt(json, name);
    if (Array.isArray(list)) return list;
  }
  return [];
}
