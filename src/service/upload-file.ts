import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../contract/clock.ts';
import { ServiceError } from '../contract/errors.ts';
import { isJobId } from '../ground/job-id.ts';
import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { isAssetUrl } from '../lock/check-line.ts';
import { parseRetryAfter, readAt, readText } from './fields.ts';
import { describeError, type Http, requireAnswer } from './http.ts';
import { judgeLink, type Links, RefusedAddressError } from './links.ts';
import type { Redact } from './secrets.ts';

const { paths, upload: names } = envelope;

export interface Asset {
  id: string;
  /** Public URL of the file, valid wherever the service accepts a media URL. */
  url: string;
}

/** Receives the number of bytes sent so far and the total. If the upload is repeated, the number restarts at 0. */
export type UploadProgress = (sentBytes: number, bytes: number) => void;

interface UploadCall {
  http: Http;
  clock: Pick<Clock, 'sleep' | 'random'>;
  redact: Redact;
  deadlineMs: number;
  links: Links;
  signal: AbortSignal;
  onProgress?: UploadProgress | undefined;
}

/** Size in bytes above which a file is sent to the storage host. The service documents about 7 MB for a request. */
const mostInBody = 7_000_000;
const mostTries = 4;
/** Minimum timeout in ms of calls that upload a file or make the service fetch one: they take longer than others. */
const leastDeadlineMs = 120_000;
const longestPauseMs = 30_000;
const longestRetryAfterMs = 150_000;

/**
 * Uploads a file to the media library. A small file is sent in the body of a request to the service, a larger file to
 * the storage host. Uploads are free.
 */
export async function uploadFile(file: FileToUpload, call: UploadCall): Promise<Asset> {
  if (file.bytes > mostInBody) return uploadToStorage(file, call);
  return again(call, async () => {
    const { fileName, contentType = contentTypeOf(fileName), bytes } = file;
    const base64 = (await readPlannedFile(file)).toString('base64');
    const asset = requireAsset(await post(paths.uploads, { fileName, contentType, base64 }, call), call);
    call.onProgress?.(bytes, bytes);
    return asset;
  });
}

export function uploadFromUrl(source: { url: string; fileName?: string }, call: UploadCall): Promise<Asset> {
  return again(call, async () => requireAsset(await post(paths.uploads, { ...source }, call), call));
}

async function uploadToStorage(file: FileToUpload, call: UploadCall): Promise<Asset> {
  const { fileName } = file;
  const { blobName, publicUrl } = await again(call, async () => {
    const minted = await post(paths.signedUrl, { fileName }, call);
    const uploadUrl = readAt(minted, names.uploadUrl);
    const storedName = readText(minted, names.blobName, Number.POSITIVE_INFINITY);
    if (typeof uploadUrl !== 'string' || storedName === undefined) {
      throw new ServiceError('unusable', 'the service returned no signed upload URL');
    }
    await putFile(file, uploadUrl, call);
    return { blobName: storedName, publicUrl: readAt(minted, names.publicUrl) };
  });
  // Retries the registration separately, so that a lost answer to it does not make the file be uploaded again.
  const completed = await again(call, () => post(paths.completeUpload, { blobName, fileName }, call));
  // The service does not document the answer to the registration: it contains the asset, or only reports success.
  const asset = findAsset(completed, call) ?? readStored(blobName, publicUrl, call);
  if (asset === undefined) {
    throw new ServiceError('unusable', 'the service registered the upload but returned no usable file URL');
  }
  return asset;
}

async function post(path: string, body: { [key: string]: Json }, call: UploadCall): Promise<Json> {
  const { http, signal } = call;
  const deadlineMs = Math.max(call.deadlineMs, leastDeadlineMs);
  const answer = await http.call({ method: 'POST', path, body: JSON.stringify(body), deadlineMs, signal });
  return requireAnswer(answer, call.redact);
}

async function again<T>({ clock, signal }: UploadCall, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      const isHopeless = !(error instanceof ServiceError) || error.why !== 'unreachable' || signal.aborted;
      if (isHopeless || tries >= mostTries) throw error;
      const pauseMs = Math.min(longestPauseMs, 1000 * 2 ** (tries - 1)) * clock.random();
      await clock.sleep(Math.min(longestRetryAfterMs, error.retryAfterMs ?? 0) + pauseMs, signal);
    }
  }
}

function requireAsset(json: Json, call: UploadCall): Asset {
  const asset = findAsset(json, call);
  if (asset === undefined)
    throw new ServiceError('unusable', 'the service accepted the file but returned no usable asset');
  return asset;
}

function findAsset(json: Json, call: UploadCall): Asset | undefined {
  for (const holder of [...names.holders.map((name) => readAt(json, name)), json]) {
    const [id, url] = [readAt(holder, names.id), readAt(holder, names.url)];
    if (isJobId(id) && isUsable(url, call)) return { id, url };
  }
  return undefined;
}

function readStored(blobName: string, publicUrl: Json | undefined, call: UploadCall): Asset | undefined {
  const id = isJobId(blobName) ? blobName : Buffer.from(blobName).toString('base64url').slice(0, 256);
  return isUsable(publicUrl, call) ? { id, url: publicUrl } : undefined;
}

function isUsable(url: Json | undefined, { links }: UploadCall): url is string {
  if (!isAssetUrl(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || hostname === links.ownHost;
}

/** Maximum time in ms in which the storage host accepts no byte. */
const silenceMs = 120_000;

async function putFile(
  file: FileToUpload,
  uploadUrl: string,
  { links, redact, signal, onProgress }: UploadCall,
): Promise<void> {
  const link = judgeLink(uploadUrl, links.ownHost);
  if (link.is === 'refused') throw new ServiceError('refused', redact(link.message));
  const { host } = link.url;
  const handle = await openPlannedFile(file);
  let sentBytes = 0;
  const body = async function* () {
    for await (const piece of streamPlannedFile(handle, file)) {
      // Counts a piece before it is sent, because the answer may arrive right after the last piece.
      sentBytes += piece.length;
      yield piece;
      onProgress?.(sentBytes, file.bytes);
    }
  };
  try {
    const headers = {
      'content-type': file.contentType ?? contentTypeOf(file.fileName),
      'content-length': String(file.bytes),
    };
    const answer = await links.ask(link, { method: 'PUT', headers, body: body(), signal, silenceMs });
    // Discards the body of the answer: only its HTTP status is needed.
    answer.destroy();
    checkAnswer(answer, { host, isWhole: sentBytes === file.bytes });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (error instanceof RefusedAddressError) throw new ServiceError('refused', redact(error.message));
    throw new ServiceError('unreachable', redact(`${host}: ${describeError(error)}`));
  } finally {
    await handle.close();
  }
}

function checkAnswer(
  { statusCode = 0, headers }: IncomingMessage,
  { host, isWhole }: { host: string; isWhole: boolean },
) {
  if (statusCode >= 200 && statusCode < 300) {
    if (!isWhole) throw new ServiceError('unreachable', `${host} answered before it received the whole file`);
    return;
  }
  // Storage services answer with any 4xx to an expired signed URL; the next try requests another URL.
  const why = statusCode >= 400 ? 'unreachable' : 'refused';
  throw new ServiceError(why, `${host} answered HTTP ${statusCode} to the upload`, {
    status: statusCode,
    ...defined({ retryAfterMs: parseRetryAfter(headers) }),
  });
}

const byExtension: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  flac: 'audio/flac',
  m4a: 'audio/mp4',
  ogg: 'audio/ogg',
  pdf: 'application/pdf',
  txt: 'text/plain',
};

function contentTypeOf(fileName: string): string {
  const extension = /\.([A-Za-z0-9]+)$/.exec(fileName)?.[1]?.toLowerCase() ?? '';
  return (Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined) ?? 'application/octet-stream';
}

export interface FileToUpload {
  path: string;
  fileName: string;
  contentType?: string;
  bytes: number;
  sha256: string;
}

const chunkBytes = 256 * 1024;

async function readPlannedFile(file: FileToUpload): Promise<Buffer> {
  const handle = await openPlannedFile(file);
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of streamPlannedFile(handle, file)) pieces.push(piece);
  } finally {
    await handle.close();
  }
  return Buffer.concat(pieces);
}

/** Opens the file to upload. Refuses a symbolic link, which may have replaced the file after planning. */
async function openPlannedFile(file: FileToUpload): Promise<FileHandle> {
  let handle: FileHandle;
  try {
    handle = await open(file.path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw asFileError(file, error);
  }
  const stats = await handle.stat();
  if (stats.isFile() && stats.size === file.bytes) return handle;
  await handle.close();
  throw stats.isFile() ? changed(file) : new ServiceError('refused', `${file.fileName} is not a plain file`);
}

/**
 * Streams the file. Yields the pieces of the file, the last one only if the digest matches that in the plan, so that a
 * changed file is never uploaded completely. Throws `ServiceError`.
 */
async function* streamPlannedFile(handle: FileHandle, file: FileToUpload): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of handle.createReadStream({ autoClose: false, highWaterMark: chunkBytes })) {
      const piece = chunk as Uint8Array;
      bytes += piece.length;
      hash.update(piece);
      if (bytes > file.bytes) throw changed(file);
      if (bytes === file.bytes && hash.copy().digest('hex') !== file.sha256) throw changed(file);
      yield piece;
    }
  } catch (error) {
    throw asFileError(file, error);
  }
  if (bytes !== file.bytes) throw changed(file);
}

function changed({ fileName }: FileToUpload): ServiceError {
  return new ServiceError('refused', `${fileName} has changed since it was planned; plan again`);
}

function asFileError({ fileName }: FileToUpload, error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : new ServiceError('refused', `${fileName} cannot be read: ${describeError(error)}`);
}
