import { Readable } from 'node:stream';
import { Agent } from 'undici';
import { guardUrl } from './address-guard.ts';
import { contentTypeOf } from './content-type.ts';
import { pinnedLookup } from './download.ts';
import { parseRetryAfter } from './fields.ts';
import { describeError } from './http.ts';
import { type FileToUpload, openPlannedFile, streamPlannedFile } from './planned-file.ts';
import type { Redact } from './secrets.ts';
import { mayPass, ServiceError } from './service-error.ts';

export interface Storage {
  uploadUrl: string;
  /** Origin of a loopback base URL: the only host that may be called without https. */
  ownOrigin: string | undefined;
  redact: Redact;
  signal: AbortSignal;
  /** Bytes handed to the network so far, and of how many. */
  onProgress?: ((sentBytes: number, bytes: number) => void) | undefined;
}

/** Without a byte taken or an answer begun for so long, the storage counts as gone. */
const silenceMs = 120_000;
const longestAnswer = 1024 * 1024;

/**
 * Streams a file to a signed URL. The storage gets no credential, its address is checked like that of any link, and a
 * redirect is not followed. Throws `ServiceError`.
 */
export async function putFile(file: FileToUpload, storage: Storage): Promise<void> {
  const { redact, signal } = storage;
  const guarded = await guardUrl(storage.uploadUrl, storage.ownOrigin);
  if (guarded.is === 'refused') throw new ServiceError('refused', redact(guarded.message));
  if (guarded.is === 'unknown') throw new ServiceError('unreachable', redact(guarded.message));
  const { url, address } = guarded;
  const agent = new Agent({
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
    maxResponseSize: longestAnswer,
    connect: { timeout: 15_000, ...(address !== undefined && { lookup: pinnedLookup(address) }) },
  });
  const handle = await openPlannedFile(file);
  const body = { isWhole: false };
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: 'PUT',
      headers: {
        'content-type': file.contentType ?? contentTypeOf(file.fileName),
        'content-length': String(file.bytes),
      },
      body: Readable.from(withProgress(streamPlannedFile(handle, file), { file, storage, body }), {
        objectMode: false,
        highWaterMark: 1,
      }),
      signal,
    });
    await answer.body.dump({ limit: longestAnswer }).catch(() => undefined);
    checkAnswer(answer, { host: url.host, isWhole: body.isWhole });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError('unreachable', redact(`${url.host}: ${describeError(error)}`));
  } finally {
    await agent.destroy();
    await handle.close();
  }
}

async function* withProgress(
  pieces: AsyncIterable<Uint8Array>,
  { file, storage, body }: { file: FileToUpload; storage: Storage; body: { isWhole: boolean } },
): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  for await (const piece of pieces) {
    // The answer may be here before anybody asks for what comes after the last piece.
    body.isWhole = sentBytes + piece.length === file.bytes;
    yield piece;
    sentBytes += piece.length;
    storage.onProgress?.(sentBytes, file.bytes);
  }
}

function checkAnswer(
  { statusCode, headers }: { statusCode: number; headers: { [name: string]: string | string[] | undefined } },
  { host, isWhole }: { host: string; isWhole: boolean },
): void {
  if (statusCode >= 200 && statusCode < 300) {
    if (!isWhole) throw new ServiceError('unreachable', `${host} answered before it had the whole file`);
    return;
  }
  const asked = headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(asked) ? asked[0] : asked);
  // 403: the signed URL has run out; the next try asks for another one.
  const why = mayPass(statusCode) || statusCode === 403 ? 'unreachable' : 'refused';
  throw new ServiceError(why, `${host} answered HTTP ${statusCode} to the upload`, {
    status: statusCode,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
}
