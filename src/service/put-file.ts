import type { IncomingMessage } from 'node:http';
import { ServiceError } from '../contract/errors.ts';
import { envelope } from '../kinds/envelope.ts';
import { judgeLink, RefusedAddressError } from './address-guard.ts';
import { contentTypeOf } from './content-type.ts';
import { parseRetryAfter } from './fields.ts';
import { describeError } from './http.ts';
import type { Links } from './links.ts';
import { type FileToUpload, openPlannedFile, streamPlannedFile } from './planned-file.ts';
import { mayPass } from './require-answer.ts';
import type { Redact } from './secrets.ts';

export interface Storage {
  uploadUrl: string;
  links: Links;
  redact: Redact;
  signal: AbortSignal;
  /** Bytes handed to the network so far, and the total. */
  onProgress?: ((sentBytes: number, bytes: number) => void) | undefined;
}

/** Silence after which the storage counts as gone: no byte accepted, and no answer begun. */
const silenceMs = 120_000;

/**
 * Streams a file to a signed URL. The storage gets no credential, its address is checked like that of any link, and
 * redirects are not followed. Throws `ServiceError`.
 */
export async function putFile(file: FileToUpload, storage: Storage): Promise<void> {
  const { links, redact, signal } = storage;
  const link = judgeLink(storage.uploadUrl, links.ownHost);
  if (link.is === 'refused') throw new ServiceError('refused', redact(link.message));
  const { host } = link.url;
  const handle = await openPlannedFile(file);
  const sent = { isWhole: false };
  try {
    const answer = await links.ask(link, {
      method: 'PUT',
      headers: {
        'content-type': file.contentType ?? contentTypeOf(file.fileName),
        'content-length': String(file.bytes),
      },
      body: withProgress(streamPlannedFile(handle, file), { file, storage, sent }),
      signal,
      silenceMs,
    });
    // Only the status matters.
    answer.destroy();
    checkAnswer(answer, { host, isWhole: sent.isWhole });
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (error instanceof RefusedAddressError) throw new ServiceError('refused', redact(error.message));
    throw new ServiceError('unreachable', redact(`${host}: ${describeError(error)}`));
  } finally {
    await handle.close();
  }
}

async function* withProgress(
  pieces: AsyncIterable<Uint8Array>,
  { file, storage, sent }: { file: FileToUpload; storage: Storage; sent: { isWhole: boolean } },
): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  for await (const piece of pieces) {
    // The answer may be here before anyone requests the end of the stream.
    sent.isWhole = sentBytes + piece.length === file.bytes;
    yield piece;
    sentBytes += piece.length;
    storage.onProgress?.(sentBytes, file.bytes);
  }
}

function checkAnswer(
  { statusCode = 0, headers }: IncomingMessage,
  { host, isWhole }: { host: string; isWhole: boolean },
) {
  if (statusCode >= 200 && statusCode < 300) {
    if (!isWhole) throw new ServiceError('unreachable', `${host} answered before it had the whole file`);
    return;
  }
  const retryAfterMs = parseRetryAfter(headers[envelope.headers.retryAfter]);
  // 403: the signed URL has expired; the next try requests another one.
  const why = mayPass(statusCode) || statusCode === 403 ? 'unreachable' : 'refused';
  throw new ServiceError(why, `${host} answered HTTP ${statusCode} to the upload`, {
    status: statusCode,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
}
