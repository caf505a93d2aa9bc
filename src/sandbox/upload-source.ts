import type { Context } from './context.ts';
import { findUrlProblem } from './kinds/public-url.ts';
import { isLoopbackUrl } from './loopback.ts';
import { isMediaType, unknownMediaType } from './media-types.ts';
import { findOwnFile } from './own-files.ts';
import { readPieces } from './pieces.ts';
import { makeStandIn } from './stand-in.ts';

/** Where the bytes of an upload come from. */
export type UploadSource =
  | {
      readonly type: 'bytes';
      readonly chunks: AsyncIterable<Uint8Array>;
      readonly mediaType: string | undefined;
      /** It is not the file itself. */
      readonly isStandIn?: true;
    }
  | { readonly type: 'refused'; readonly code: string; readonly message: string };

const patienceMs = 60_000;

/**
 * A file of this sandbox or of this machine. The sandbox never asks anybody else: what lies elsewhere has a stand-in, so that
 * a campaign that imports it can be rehearsed. `name`: of the file.
 */
export async function openUrl(context: Context, url: string, name: string): Promise<UploadSource> {
  const own = findOwnFile(context, url);
  if (own !== undefined) {
    const file = await own.open();
    if (file === undefined) return refuseUrl('There is no file under this url yet.');
    return { type: 'bytes', chunks: readPieces(file.content), mediaType: file.mediaType };
  }
  if (isLoopbackUrl(url)) return fetchLocal(url);
  if (findUrlProblem('url', url, { isOwnFile: () => false }) !== undefined) {
    const message =
      'The sandbox never leaves this machine: url must be one of its own files, a loopback address as in http://127.0.0.1:8080/logo.png, or a public https URL, which gets a stand-in.';
    return { type: 'refused', code: 'url_not_local', message };
  }
  const { bytes, mediaType } = await makeStandIn(url, name);
  return {
    type: 'bytes',
    chunks: readPieces({ type: 'bytes', bytes: Buffer.from(bytes) }),
    mediaType,
    isStandIn: true,
  };
}

/** Redirects are not followed: they might lead away from this machine. */
async function fetchLocal(url: string): Promise<UploadSource> {
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(patienceMs) });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return refuseUrl(`The url answered ${response.status}; a file is expected.`);
    }
    const given = response.headers.get('content-type') ?? '';
    const mediaType = isMediaType(given) && given !== unknownMediaType ? given : undefined;
    return { type: 'bytes', chunks: markFailures(response.body), mediaType };
  } catch (error) {
    return refuseUrl(describeFailure(error));
  }
}

/** The other side has broken off: no fault of this one. */
export class BrokenSourceError extends Error {}

async function* markFailures(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await iterator.next().catch((error: unknown) => {
        throw new BrokenSourceError(describeFailure(error));
      });
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

function describeFailure(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return `The url could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}.`;
}

export const mostBase64Bytes = 7 * 1024 * 1024;

/** Raw base64 or a `data:` URL, whose media type counts only where the request names none. */
export function decodeBase64(text: string): UploadSource {
  const [, header, dataUrl] = /^data:([^,]*),(.*)$/is.exec(text) ?? [];
  if (header !== undefined && !/;base64$/i.test(header)) {
    return { type: 'refused', code: 'validation_error', message: 'base64 holds a data: URL that is not in base64.' };
  }
  const digits = (dataUrl ?? text).replace(/\s+/g, '');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(digits)) {
    return {
      type: 'refused',
      code: 'validation_error',
      message: 'base64 holds no data, or signs that are not base64.',
    };
  }
  const bytes = Buffer.from(digits, 'base64');
  const mediaType = header?.replace(/;base64$/i, '') ?? '';
  return {
    type: 'bytes',
    chunks: readPieces({ type: 'bytes', bytes }),
    mediaType: isMediaType(mediaType) ? mediaType : undefined,
  };
}

export function refuseUrl(message: string): UploadSource & { readonly type: 'refused' } {
  return { type: 'refused', code: 'url_not_fetched', message };
}
