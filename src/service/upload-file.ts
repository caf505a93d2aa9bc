import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Agent } from 'undici';
import type { Json } from '../json.ts';
import { isAssetUrl, isJobId } from '../lock/check-line.ts';
import { guardUrl } from './address-guard.ts';
import { contentTypeOf } from './content-type.ts';
import { pinnedLookup } from './download.ts';
import { parseRetryAfter, readRecord } from './fields.ts';
import { describeError, type Http } from './http.ts';
import type { Redact } from './secrets.ts';
import { requireAnswer, ServiceError } from './service-error.ts';

/** A file of this machine, and the bytes that it is expected to have. */
export interface FileToUpload {
  /** Absolute. */
  path: string;
  fileName: string;
  contentType?: string;
  bytes: number;
  /** Hex. */
  sha256: string;
}

/** A file in the media library. */
export interface Asset {
  id: string;
  /** Usable wherever a media URL is accepted. */
  url: string;
}

export interface UploadPorts {
  http: Http;
  clock: { sleep(ms: number, signal?: AbortSignal): Promise<void>; random(): number };
  redact: Redact;
  deadlineMs: number;
  /** Origin of a loopback base URL: the only host that may be called without https. */
  ownOrigin: string | undefined;
}

/** The documented limit is about 7 MB of data in a body of 10 MB. */
const mostInBody = 7_000_000;
const mostTries = 4;
/** Silence of the storage after which an upload counts as broken. */
const silenceMs = 60_000;

/** Brings a file into the library: small ones in the request, others straight to storage. Costs nothing, so it is tried again. */
export async function uploadFile(file: FileToUpload, ports: UploadPorts, signal: AbortSignal): Promise<Asset> {
  return again(ports, signal, () =>
    file.bytes <= mostInBody ? uploadInBody(file, ports, signal) : uploadToStorage(file, ports, signal),
  );
}

/** The service fetches it by itself. */
export async function uploadFromUrl(
  source: { url: string; fileName?: string },
  ports: UploadPorts,
  signal: AbortSignal,
): Promise<Asset> {
  return again(ports, signal, async () => readAsset(await post('/uploads', { ...source }, ports, signal)));
}

async function uploadInBody(file: FileToUpload, ports: UploadPorts, signal: AbortSignal): Promise<Asset> {
  const handle = await openFile(file.path);
  try {
    const bytes = await handle.readFile();
    checkDigest(file, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length });
    const { fileName, contentType = contentTypeOf(fileName) } = file;
    return readAsset(
      await post('/uploads', { fileName, contentType, base64: bytes.toString('base64') }, ports, signal),
    );
  } finally {
    await handle.close();
  }
}

async function uploadToStorage(file: FileToUpload, ports: UploadPorts, signal: AbortSignal): Promise<Asset> {
  const { fileName } = file;
  const minted = readRecord(readRecord(await post('/uploads/signed-url', { fileName }, ports, signal))?.data);
  const { uploadUrl, blobName, publicUrl } = minted ?? {};
  if (typeof uploadUrl !== 'string' || typeof blobName !== 'string' || blobName === '') {
    throw new ServiceError('unusable', 'the service gave no signed URL to upload to');
  }
  await putFile(file, { uploadUrl, ports, signal });
  // What the answer holds is not documented: the asset, or nothing but its success.
  const completed = await post('/uploads/complete', { blobName, fileName }, ports, signal);
  const asset = findAsset(completed);
  if (asset !== undefined) return asset;
  if (isAssetUrl(publicUrl) && isJobId(blobName)) return { id: blobName, url: publicUrl };
  throw new ServiceError('unusable', 'the service registered the upload and gave no URL for it');
}

/** Streams the file. The storage gets no credential, and its address is checked like that of any link. */
async function putFile(
  file: FileToUpload,
  to: { uploadUrl: string; ports: UploadPorts; signal: AbortSignal },
): Promise<void> {
  const { ports, signal } = to;
  const guarded = await guardUrl(to.uploadUrl, ports.ownOrigin);
  if (guarded.is === 'refused') throw new ServiceError('refused', ports.redact(guarded.message));
  if (guarded.is === 'unknown') throw new ServiceError('unreachable', ports.redact(guarded.message));
  const { url, address } = guarded;
  const agent = new Agent({
    headersTimeout: 10 * silenceMs,
    bodyTimeout: silenceMs,
    connect: { timeout: 15_000, ...(address !== undefined && { lookup: pinnedLookup(address) }) },
  });
  const handle = await openFile(file.path);
  const seen = { sha256: '', bytes: 0 };
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'PUT',
      headers: {
        'content-type': file.contentType ?? contentTypeOf(file.fileName),
        'content-length': String(file.bytes),
      },
      body: Readable.from(readHashed(handle, file, seen), { objectMode: false }),
      signal,
    });
    await answer.body.dump({ limit: 1024 * 1024 }).catch(() => undefined);
    const { statusCode } = answer;
    if (statusCode >= 200 && statusCode < 300) {
      checkDigest(file, seen);
      return;
    }
    const why = statusCode >= 500 || statusCode === 429 || statusCode === 403 ? 'unreachable' : 'refused';
    throw new ServiceError(why, `${url.host} answered HTTP ${statusCode} to the upload`, statusCode);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('unreachable', ports.redact(`${url.host}: ${describeError(error)}`));
  } finally {
    await handle.close();
    await agent.destroy();
  }
}

async function* readHashed(
  handle: FileHandle,
  file: FileToUpload,
  seen: { sha256: string; bytes: number },
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: 256 * 1024 })) {
    const bytes = chunk as Uint8Array;
    seen.bytes += bytes.length;
    if (seen.bytes > file.bytes) throw changed(file);
    hash.update(bytes);
    // The last piece is only sent when the whole is what was planned.
    if (seen.bytes === file.bytes) checkDigest(file, { sha256: hash.copy().digest('hex'), bytes: seen.bytes });
    yield bytes;
  }
  seen.sha256 = hash.digest('hex');
  checkDigest(file, seen);
}

function checkDigest(file: FileToUpload, seen: { sha256: string; bytes: number }): void {
  if (seen.sha256 !== file.sha256 || seen.bytes !== file.bytes) throw changed(file);
}

function changed({ fileName }: FileToUpload): ServiceError {
  return new ServiceError('refused', `${fileName} is not the file that was planned: it has changed since; plan again`);
}

/** Never through a symbolic link, whatever was there when the plan was made. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    throw new ServiceError('refused', `${path} is not a plain file`);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('refused', `${path} cannot be read: ${describeError(error)}`);
  }
}

async function post(
  path: string,
  body: { [key: string]: Json },
  ports: UploadPorts,
  signal: AbortSignal,
): Promise<Json> {
  const answer = await ports.http.call({
    method: 'POST',
    path,
    body: JSON.stringify(body),
    deadlineMs: Math.max(ports.deadlineMs, 120_000),
    signal,
  });
  if (answer.is === 'answer' && answer.status === 429) {
    const asked = parseRetryAfter(answer.headers['retry-after']);
    if (asked !== null) await ports.clock.sleep(Math.min(150_000, asked), signal);
  }
  return requireAnswer(answer, ports.redact);
}

/** Full jitter; only for what may be better next time. */
async function again<T>(ports: UploadPorts, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      const hopeless = !(error instanceof ServiceError) || error.why !== 'unreachable' || signal.aborted;
      if (hopeless || tries >= mostTries) throw error;
      await ports.clock.sleep(Math.min(30_000, 1000 * 2 ** (tries - 1)) * ports.clock.random(), signal);
    }
  }
}

function readAsset(json: Json): Asset {
  const asset = findAsset(json);
  if (asset === undefined) throw new ServiceError('unusable', 'the service took the file and gave no usable asset');
  return asset;
}

function findAsset(json: Json): Asset | undefined {
  const body = readRecord(json);
  for (const record of [readRecord(body?.data), readRecord(body?.asset), body]) {
    const { id, url } = record ?? {};
    if (isJobId(id) && isAssetUrl(url)) return { id, url };
  }
  return undefined;
}
