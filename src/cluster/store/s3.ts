import { hash } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { AwsClient } from 'aws4fetch';
import type { Download } from '../../contract/answer.ts';
import type { Clock } from '../../contract/clock.ts';
import { OutputError } from '../../contract/errors.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { OutputTarget } from '../../contract/ports.ts';
import { checkOutputPath, diskErrors } from '../../disk/outputs/output-path.ts';
import { createOutputs } from '../../disk/outputs/outputs.ts';
import { defined, messageOf } from '../../ground/values.ts';
import type { Output } from '../../lock/record.ts';
import type { Aspect } from '../../plan/outputs/expectation.ts';
import { fetchByProxy } from '../../service/proxy.ts';
import { loadPackage } from '../load-packages.ts';
import { bodyOf, type StoreFiles, type StorePlace, unusable } from './store-marker.ts';

/** Attempts per request to the storage. The pauses between the attempts take one minute in total. */
const mostTries = 8;
const longestPauseMs = 20_000;
const digestHeader = 'x-amz-meta-sha256';

/** Error response of the S3 storage. `status` is 0 if the storage did not answer. */
export class BucketError extends Error {
  readonly status: number;
  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BucketError';
    this.status = status;
  }
}

interface ObjectFacts {
  bytes: number;
  sha256: string | undefined;
  tag: string;
}

interface Request {
  headers?: Record<string, string>;
  body?: Uint8Array | Blob;
  sha256?: string;
}

const nothing = hash('sha256', '');

/** Bucket of an S3-compatible storage. Retries calls while the storage is unavailable, then throws `BucketError`. */
export class Bucket {
  readonly #given: { name: string; endpoint: string; client: AwsClient; clock: Clock };

  private constructor(given: { name: string; endpoint: string; client: AwsClient; clock: Clock }) {
    this.#given = given;
  }

  static async open(name: string, { env, clock }: { env: NodeJS.Dict<string>; clock: Clock }): Promise<Bucket> {
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = env;
    const sessionToken = env.AWS_SESSION_TOKEN || undefined;
    if (accessKeyId === '' || secretAccessKey === '') throw noCredentials(name);
    const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
    const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || `https://s3.${region}.amazonaws.com`;
    if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) throw badEndpoint(endpoint);
    const { AwsClient: Client } = await loadPackage('aws4fetch', () => import('aws4fetch'));
    const keys = { accessKeyId, secretAccessKey, ...defined({ sessionToken }) };
    const client = new Client({ ...keys, service: 's3', region, retries: 0 });
    return new Bucket({ name, endpoint: endpoint.replace(/\/+$/, ''), client, clock });
  }

  async head(key: string): Promise<ObjectFacts | undefined> {
    const answer = await this.#ask('HEAD', key);
    return answer.status === 404 ? undefined : factsOf(answer);
  }

  /** Returns `undefined` if the object does not exist. The body rejects if the connection breaks. */
  async get(key: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    const answer = await this.#ask('GET', key);
    if (answer.status !== 404) return bodyOf(answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body));
    await answer.body?.cancel();
    return undefined;
  }

  /** `isNew`: rejects with status 412 if the object exists. */
  async putBytes(key: string, body: Uint8Array, { type, isNew }: { type: string; isNew?: boolean }): Promise<void> {
    const sha256 = hash('sha256', body);
    const headers = { 'content-type': type, [digestHeader]: sha256, ...(isNew && { 'if-none-match': '*' }) };
    await this.#done('PUT', key, { headers, body, sha256 });
  }

  async putFile(key: string, { path, sha256, type }: { path: string; sha256: string; type: string }): Promise<void> {
    const headers = { 'content-type': type, [digestHeader]: sha256 };
    await this.#done('PUT', key, { headers, body: await openAsBlob(path), sha256 });
  }

  async copy(from: string, to: string): Promise<void> {
    await this.#done('PUT', to, { headers: { 'x-amz-copy-source': `/${this.#given.name}/${encodeKey(from)}` } });
  }

  async #done(method: string, key: string, request: Request): Promise<void> {
    const answer = await this.#ask(method, key, request);
    const text = await answer.text();
    // The storage may answer 200 before a long operation ends, and write a later error into the body.
    if (answer.status === 404 || text.includes('<Error>')) throw asError(answer.status, text);
  }

  async #ask(method: string, key: string, request: Request = {}): Promise<Response> {
    for (let tries = 1; ; tries += 1) {
      const answer = await this.#send(method, key, request);
      if (!(answer instanceof BucketError) && (answer.ok || answer.status === 404)) return answer;
      const error = answer instanceof BucketError ? answer : asError(answer.status, await textOf(answer));
      const isAway =
        error.status === 0 ||
        (error.status >= 500 && error.status !== 501) ||
        error.status === 429 ||
        error.status === 408;
      if (!isAway || tries === mostTries) throw error;
      await this.#given.clock.sleep(
        Math.min(longestPauseMs, 500 * 2 ** (tries - 1)) * (0.5 + this.#given.clock.random() / 2),
      );
    }
  }

  async #send(method: string, key: string, request: Request): Promise<Response | BucketError> {
    const url = `${this.#given.endpoint}/${this.#given.name}/${encodeKey(key)}`;
    const { sha256 = nothing, body } = request;
    const signed = await this.#given.client.sign(url, {
      method,
      headers: { ...request.headers, 'x-amz-content-sha256': sha256 },
    });
    try {
      const headers = Object.fromEntries(signed.headers);
      return await fetchByProxy(signed.url, { method, headers, ...defined({ body }) });
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      return new BucketError(0, `${new URL(this.#given.endpoint).host} does not answer: ${messageOf(cause)}`);
    }
  }
}

function encodeKey(key: string): string {
  return key.split('/').map(encodeURIComponent).join('/');
}

function factsOf({ headers }: Response): ObjectFacts {
  return {
    bytes: Number(headers.get('content-length') ?? Number.NaN),
    sha256: headers.get(digestHeader) ?? undefined,
    tag: headers.get('etag') ?? '',
  };
}

async function textOf(answer: Response): Promise<string> {
  return answer.text().catch(() => '');
}

function asError(status: number, text: string): BucketError {
  const [code, message] = ['Code', 'Message'].map((name) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]);
  const said = [code, message].filter((word) => word !== undefined && word !== '').join(': ');
  return new BucketError(status, `the storage answered ${said === '' ? `HTTP ${status}` : `${said} (HTTP ${status})`}`);
}

function noCredentials(bucket: string): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: `no credentials for the bucket ${bucket}: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set`,
    hint: 'set both variables; for S3 storage outside AWS, also set AWS_ENDPOINT_URL_S3',
  });
}

function badEndpoint(endpoint: string): CampaignError {
  return new CampaignError({
    code: 'MB3705',
    message: `AWS_ENDPOINT_URL_S3 is ${JSON.stringify(endpoint)}, which is not a valid storage address`,
    hint: 'write it as https://HOST or https://HOST:PORT',
  });
}

export function parseS3(name: string): { bucket: string; prefix: string } | undefined {
  const found = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(name);
  const [, bucket = '', path = ''] = found ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  if (found === null) return undefined;
  if (parts.some((part) => part === '.' || part === '..')) return undefined;
  return { bucket, prefix: parts.map((part) => `${part}/`).join('') };
}

export async function openBucketPlace(
  name: string,
  { env, clock }: { env: NodeJS.Dict<string>; clock: Clock },
): Promise<StorePlace> {
  const address = parseS3(name);
  if (address === undefined) throw unusable(name, 'is not an address of the form s3://BUCKET/PREFIX');
  const { prefix } = address;
  const bucket = await Bucket.open(address.bucket, { env, clock });
  const type = 'application/json';
  const asking = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw error instanceof BucketError ? unusable(name, `cannot be read or written: ${error.message}`) : error;
    });
  return {
    name,
    read: (path) => asking(bucket.get(`${prefix}${path}`).then((body) => body && buffer(body))),
    write: (path, content) => asking(bucket.putBytes(`${prefix}${path}`, content, { type })),
    create: (path, content) => asking(createObject(bucket, `${prefix}${path}`, content, type)),
    requireThere() {},
    filesOf: (campaign) => new BucketFiles(bucket, `${prefix}${campaign}/`, name),
  };
}

async function createObject(bucket: Bucket, key: string, content: Buffer, type: string): Promise<void> {
  try {
    await bucket.putBytes(key, content, { type, isNew: true });
  } catch (error) {
    // 412, 409: another process was faster. 501: this storage does not support conditional writes.
    if (!(error instanceof BucketError) || ![409, 412, 501].includes(error.status)) throw error;
    if (error.status === 501) await bucket.putBytes(key, content, { type });
  }
}

/** A store in a bucket. Downloads each file to a local folder and verifies it there before the upload. */
class BucketFiles implements StoreFiles {
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #name: string;

  constructor(bucket: Bucket, prefix: string, name: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#name = name;
  }

  save(target: OutputTarget, download: Download): Promise<Output> {
    return this.#inFolder(
      async (folder) => {
        const output = await createOutputs(folder).save(target, download);
        await this.#put(target, output, join(folder, output.path));
        return output;
      },
      async () => void (await download.body[Symbol.asyncIterator]().return?.()),
    );
  }

  /** Copies the object and keeps the old one, because other runs may use it. */
  async relocate(target: OutputTarget, from: Output): Promise<Output | undefined> {
    const path = `${target.save}${extname(from.path)}`;
    const [source, to] = [this.#keyOf(from.path), this.#keyOf(path)];
    return this.#orOutputError(path, async () => {
      const found = await this.#bucket.head(source);
      if (found?.bytes !== from.bytes || found.sha256 !== from.sha256) return undefined;
      if (await this.#makeRoom(target, { ...from, path })) await this.#bucket.copy(source, to);
      return { ...from, path };
    });
  }

  measure(output: Output, aspects: readonly Aspect[]) {
    return this.#inFolder(async (folder) => {
      const body = await this.read(output);
      if (body === undefined) return undefined;
      const save = output.path.slice(0, -extname(output.path).length);
      const media = output.type.split('/')[0] as OutputTarget['media'];
      const target: OutputTarget = { address: '', save, media, replaces: [], asIs: true, notice: () => {} };
      const files = createOutputs(folder);
      return files.measure(await files.save(target, { body, bytes: output.bytes }), aspects);
    });
  }

  read({ path }: Output): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.#orOutputError(path, () => this.#bucket.get(this.#keyOf(path)));
  }

  async #put(target: OutputTarget, output: Output, path: string): Promise<void> {
    await this.#orOutputError(output.path, async () => {
      if (await this.#makeRoom(target, output))
        await this.#bucket.putFile(this.#keyOf(output.path), { ...output, path });
    });
  }

  /** Copies the object to be replaced to another name. Resolves with `false` if the new content is the same. */
  async #makeRoom(target: OutputTarget, { path, bytes, sha256 }: Output): Promise<boolean> {
    const old = await this.#bucket.head(this.#keyOf(path));
    if (old === undefined) return true;
    if (old.sha256 === sha256 && old.bytes === bytes) return false;
    const extension = extname(path);
    const mark = (old.sha256 ?? old.tag.replace(/[^0-9a-z]/gi, '')).slice(0, 8);
    const aside = `${path.slice(0, -extension.length)}.changed-${mark}${extension}`;
    await this.#bucket.copy(this.#keyOf(path), this.#keyOf(aside));
    const isRecorded = old.sha256 !== undefined && target.replaces.includes(old.sha256);
    if (isRecorded) return true;
    target.notice(`${this.#name}: ${path} was not made by this step or was changed since; it was renamed to ${aside}`);
    return true;
  }

  #keyOf(path: string): string {
    checkOutputPath(path);
    return `${this.#prefix}${path}`;
  }

  async #inFolder<T>(work: (folder: string) => Promise<T>, onNone?: () => Promise<void>): Promise<T> {
    let folder: string | undefined;
    try {
      folder = await diskErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'mediabatch-')));
      return await work(folder);
    } finally {
      if (folder === undefined) await onNone?.();
      else await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  async #orOutputError<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BucketError)) throw error;
      throw new OutputError('disk', `${this.#name}: cannot reach ${path}: ${error.message}`, { cause: error });
    }
  }
}
