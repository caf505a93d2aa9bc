import type { ListedJob } from '../contract/answer.ts';
import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import type { Json } from '../ground/json.ts';
import { defined, isMap } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { requireKind, requireOf } from '../kinds/index.ts';
import { readAt, readCredits, readText } from './fields.ts';
import { createHttp, type Http, type HttpAnswer, pathWithId, requireAnswer } from './http.ts';
import { createLinks, type Links } from './links.ts';
import { listJobs } from './listing.ts';
import { makeRedact, type Redact } from './secrets.ts';
import { type Asset, type FileToUpload, type UploadProgress, uploadFile, uploadFromUrl } from './upload-file.ts';

/** Facts from the status of a job. The service chooses the strings, so display them only through `safeText`. */
interface JobFacts {
  status: string;
  /** Kind of the job. Set only if several kinds share a status path. */
  kind?: string;
  credits?: number;
  error?: string;
}

export type { ListedJob } from '../contract/answer.ts';
export { ServiceError } from '../contract/errors.ts';
export type { Asset, FileToUpload, UploadProgress } from './upload-file.ts';

const { paths } = envelope;

const mostRemoved = 1000;

export interface LibraryOptions {
  /** Ends in `/api/v1`. URL of the service, with https or a loopback address. */
  baseUrl: string;
  token: string;
  clock: Pick<Clock, 'sleep' | 'random'>;
  /** Time limit in ms of each call except create requests. */
  requestTimeoutMs: number;
}

interface JobIds {
  jobId: string;
  recordId?: string;
}

/** Calls of the service that buy nothing. All methods throw `ServiceError`. */
export class Library {
  readonly #http: Http;
  readonly #links: Links;
  readonly #redact: Redact;
  readonly #options: LibraryOptions;
  readonly #lists = new Map<string, Promise<ListedJob[]>>();

  constructor(options: LibraryOptions) {
    const { baseUrl, token } = options;
    this.#options = options;
    this.#redact = makeRedact(token);
    this.#http = createHttp({ baseUrl, token, redact: this.#redact });
    this.#links = createLinks({ baseUrl });
  }

  async voices(): Promise<Voice[]> {
    return readVoices(await this.#get(paths.voices));
  }

  catalog(): Promise<Json> {
    return this.#get(paths.catalog);
  }

  async accounts(): Promise<AccountList> {
    return readAccounts(await this.#get(paths.accounts));
  }

  /** Returns at most `limit` jobs, newest first. Returns an empty list for kinds without a list. */
  jobs(kind: string, { limit }: { limit: number }): Promise<ListedJob[]> {
    return listJobs(requireKind(kind), { limit, get: (path) => this.#get(path) });
  }

  /** Returns the status of a job, or `undefined` if the service has no such job. Throws for kinds without a status. */
  async job(kind: string, jobId: string): Promise<JobFacts | undefined> {
    const answer = await this.#call('GET', pathWithId(requireOf(kind, 'status').path, jobId));
    return isMissing(answer) ? undefined : readJobFacts(requireAnswer(answer, this.#redact), jobId);
  }

  /**
   * Removes a job's record without a refund. Tries the ID of the job and the ID of its record, because the service's
   * documentation does not state which of the two is needed. Returns `gone` if the service knows neither ID and no list
   * contains the job.
   */
  async removeJob(kind: string, ids: JobIds): Promise<'removed' | 'gone'> {
    const { path, by } = requireOf(kind, 'remove');
    const { jobId, recordId = jobId } = ids;
    const tried = new Set(by === 'record' ? [recordId, jobId] : [jobId, recordId]);
    for (const id of tried) {
      const answer = await this.#call('DELETE', pathWithId(path, id));
      if (isMissing(answer)) continue;
      if (answer.is === 'broken' || answer.status !== 204) requireAnswer(answer, this.#redact);
      return 'removed';
    }
    const shown = await this.#findShown(kind, ids);
    if (shown === undefined) return 'gone';
    if (ids.recordId === undefined && shown.recordId !== undefined) {
      return this.removeJob(kind, { jobId, recordId: shown.recordId });
    }
    const named = [...tried].join(' nor ');
    throw new ServiceError('refused', `the record still exists, and cannot be removed as ${named}: HTTP 404`, {
      status: 404,
    });
  }

  async document(): Promise<Json> {
    try {
      const document = await this.#get(paths.document);
      if (isMap(readAt(document, 'paths'))) return document;
    } catch (error) {
      // If the host does not answer at the first path, it does not answer at the second one either.
      const isAnswered = error instanceof ServiceError && error.status !== undefined;
      if (!isAnswered || error.why === 'auth') throw error;
    }
    const document = await this.#get(paths.documentAtRoot, true);
    if (isMap(readAt(document, 'paths'))) return document;
    throw new ServiceError('unusable', `GET ${paths.document}: the answer is not an OpenAPI document`);
  }

  upload(file: FileToUpload, signal: AbortSignal, onProgress?: UploadProgress): Promise<Asset> {
    return uploadFile(file, { ...this.#uploadPorts, signal, onProgress });
  }

  uploadUrl(url: string, fileName?: string, signal: AbortSignal = new AbortController().signal): Promise<Asset> {
    return uploadFromUrl({ url, ...defined({ fileName }) }, { ...this.#uploadPorts, signal });
  }

  /** `skewMs`: by how many ms the service's clock is ahead of the local clock. Omitted if unknown. */
  async ping(): Promise<{ skewMs?: number; latencyMs: number }> {
    const startedAt = performance.now();
    const answer = await this.#call('GET', paths.accounts);
    const latencyMs = performance.now() - startedAt;
    requireAnswer(answer, this.#redact);
    const date = answer.is === 'answer' ? Date.parse(answer.headers[envelope.headers.date] ?? '') : Number.NaN;
    return { latencyMs, ...(!Number.isNaN(date) && { skewMs: date - Date.now() }) };
  }

  async close(): Promise<void> {
    this.#links.close();
    await this.#http.close();
  }

  #call(method: 'GET' | 'DELETE', path: string, fromRoot = false): Promise<HttpAnswer> {
    return this.#http.call({ method, path, fromRoot, deadlineMs: this.#options.requestTimeoutMs });
  }

  async #get(path: string, fromRoot = false): Promise<Json> {
    return requireAnswer(await this.#call('GET', path, fromRoot), this.#redact);
  }

  get #uploadPorts() {
    const { clock, requestTimeoutMs: deadlineMs } = this.#options;
    return { http: this.#http, links: this.#links, redact: this.#redact, clock, deadlineMs };
  }

  async #findShown(kind: string, ids: JobIds): Promise<JobIds | undefined> {
    const { jobId, recordId } = ids;
    if (requireKind(kind).list === undefined) return (await this.job(kind, jobId)) && ids;
    const list = this.#lists.get(kind) ?? this.jobs(kind, { limit: mostRemoved });
    this.#lists.set(kind, list);
    const isIt = (id: string | undefined) => id !== undefined && (id === jobId || id === recordId);
    return (await list).find((job) => isIt(job.jobId) || isIt(job.recordId));
  }
}

function isMissing(answer: HttpAnswer): boolean {
  return answer.is === 'answer' && (answer.status === 404 || answer.status === 410);
}

/** Throws `ServiceError` if the answer is about another job. */
function readJobFacts(answer: Json, jobId: string): JobFacts {
  const { job, kindWords } = envelope;
  const data = readAt(answer, envelope.answer.data);
  const status = readAt(data, job.status);
  if (!isMap(data) || typeof status !== 'string') {
    throw new ServiceError('unusable', 'the answer has no job status');
  }
  const id = readAt(data, job.id);
  if (id !== undefined && id !== jobId) throw new ServiceError('unusable', 'the answer is about another job');
  const word = Object.values(data).find((value) => typeof value === 'string' && Object.hasOwn(kindWords, value));
  const kind = typeof word === 'string' ? kindWords[word] : undefined;
  const credits = readCredits(data, job.credits);
  const error = readText(data, job.error);
  return { status: status.slice(0, 60), ...defined({ kind, credits, error }) };
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
  /** Name of the platform. `google` means YouTube. */
  provider: string;
  name: string;
  username: string;
  /** In ISO 8601. */
  expiresAt?: string;
}

function readVoices(json: Json): Voice[] {
  return listIn(json, envelope.voices.lists).flatMap((voice): Voice | [] => {
    const id = readText(voice, 'id');
    if (id === undefined) return [];
    const previewUrl = readText(voice, 'previewUrl');
    return {
      id,
      label: readText(voice, 'label') ?? id,
      description: readText(voice, 'description') ?? '',
      gender: readText(voice, 'gender') ?? '',
      accent: readText(voice, 'accent') ?? '',
      ...defined({ previewUrl }),
    };
  });
}

interface AccountList {
  accounts: Account[];
  /** True if the list of connected accounts is complete: every account was readable, and no further page exists. */
  isWhole: boolean;
}

export function readAccounts(json: Json): AccountList {
  const { accounts: names } = envelope;
  const list = listIn(json, names.lists);
  const accounts = list.flatMap((account): Account | [] => {
    const found = readAt(account, 'id');
    const id = typeof found === 'number' ? String(found) : readText(account, 'id');
    if (id === undefined) return [];
    const expiresAt = readText(account, 'expiresAt');
    return {
      id,
      provider: readText(account, 'provider') ?? '',
      name: readText(account, names.name) ?? '',
      username: readText(account, names.username) ?? '',
      ...defined({ expiresAt }),
    };
  });
  return { accounts, isWhole: accounts.length === list.length && readAt(json, envelope.page.hasNext) !== true };
}

function listIn(json: Json, names: readonly string[]): readonly Json[] {
  return [json, ...names.map((name) => readAt(json, name))].find((list) => Array.isArray(list)) ?? [];
}
