import { extname } from 'node:path';
import { TooLargeError } from './blob-store.ts';
import { authenticate, type Context } from './context.ts';
import { digest } from './digest.ts';
import { applyFault, type Handled } from './faults.ts';
import { handleList } from './handle-list.ts';
import { findUrlProblem } from './kinds/public-url.ts';
import type { Asset } from './library.ts';
import { findOwnFile } from './own-files.ts';
import { isLoopbackUrl, uploadArea } from './own-url.ts';
import { readPieces } from './pieces.ts';
import { type BodySchema, checkBody, invalid, readJson, tooLarge } from './read-body.ts';
import { type Answer, answerJson, type Call, type Json, type JsonObject, Refusal, type Reply } from './wire.ts';

const mostBase64Bytes = 7 * 1024 * 1024;

const fileNameRules = { type: 'string', minLength: 1, pattern: '\\S', maxLength: 255 };

const uploadBody: BodySchema = {
  type: 'object',
  required: [],
  properties: {
    url: {
      type: 'string',
      description:
        'URL of the file. The sandbox fetches files from itself and from this machine. For any other public https URL, the sandbox stores a placeholder file.',
    },
    base64: { type: 'string', description: 'The file, raw or as a data: URL; at most about 7 MB. Requires fileName.' },
    fileName: fileNameRules,
    contentType: { type: 'string', description: 'Media type. Defaults to that of the data: URL or file name.' },
  },
  oneOf: [
    { required: ['url'], not: { required: ['base64'] } },
    { required: ['base64', 'fileName'], not: { required: ['url'] } },
  ],
};

const signedUrlBody: BodySchema = {
  type: 'object',
  required: ['fileName'],
  properties: { fileName: fileNameRules },
};

const completeBody: BodySchema = {
  type: 'object',
  required: ['blobName'],
  properties: {
    blobName: { type: 'string', description: 'Name from the answer of /uploads/signed-url.' },
    fileName: { ...fileNameRules, description: 'Name in the library. Defaults to the name in the signed URL.' },
  },
};

/** Schemas of the request bodies, by name. */
export const uploadBodies = { UploadCreate: uploadBody, SignedUrlCreate: signedUrlBody, UploadComplete: completeBody };

const mostUrlBytes = 200 * 1024 * 1024;

interface Import {
  readonly user: string;
  readonly body: JsonObject;
  readonly origin: string;
}

export async function handleUpload(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, async ({ user, body }) => {
    const checked = checkBody(body, uploadBody);
    const problem = findUploadProblem(checked);
    if (problem !== undefined) throw invalid(problem);
    return importFile(context, { user, body: checked, origin: call.origin });
  });
}

async function handleUploadCall(
  context: Context,
  call: Call,
  handle: (request: { user: string; body: Json }) => Handled | Promise<Handled>,
): Promise<Reply> {
  const { user } = authenticate(context, call);
  const { body, text } = readJson(call);
  const action = context.faults.next('upload', { kind: 'upload', text: `${call.path} ${text}` });
  return applyFault(action, () => handle({ user, body }));
}

export function handleUploadList(context: Context, call: Call): Promise<Reply> | Reply {
  const describe = (user: string) => ({
    data: context.library.list(user).map((asset) => describeUpload(asset, call.origin)),
  });
  return handleList(context, call, { kind: 'upload', describe });
}

async function importFile(context: Context, { user, body, origin }: Import): Promise<Handled> {
  const { url, base64, fileName, contentType } = body;
  const limitBytes = typeof url === 'string' ? mostUrlBytes : mostBase64Bytes;
  const name = typeof fileName === 'string' ? fileName : nameOf(String(url));
  const source = typeof url === 'string' ? await openUrl(context, url, name) : decodeBase64(String(base64));
  const named = typeof base64 === 'string' && typeof contentType === 'string' ? contentType : source.mediaType;
  const mediaType = named ?? guessMediaType(name);
  const { library, now } = context;
  try {
    const promised = library.promise(user, name, now());
    const blob = await library.fill(promised, source.chunks, { mediaType, limitBytes, now: now() });
    const asset =
      blob === undefined ? undefined : library.register(blob, source.isStandIn ? `${name} (stand-in)` : name, now());
    if (asset === undefined) throw new Error('internal error: a stored file is missing');
    return describeRegistered(asset, origin);
  } catch (error) {
    if (!(error instanceof TooLargeError)) throw error;
    const limit = typeof url === 'string' ? '200 MB' : 'about 7 MB of data; for larger files, use /uploads/signed-url';
    throw tooLarge(`The file is too large; the limit is ${limit}.`);
  }
}

function findUploadProblem(body: JsonObject): string | undefined {
  const { url, base64, fileName, contentType } = body;
  if ((url === undefined) === (base64 === undefined)) return 'Exactly one of url and base64 is required.';
  if (base64 !== undefined && fileName === undefined) return 'fileName is required with base64.';
  if (typeof contentType === 'string' && !isMediaType(contentType)) {
    return `contentType must be a media type such as image/png; got ${JSON.stringify(contentType.slice(0, 80))}.`;
  }
  return undefined;
}

function nameOf(url: string): string {
  const last = (URL.canParse(url) ? new URL(url) : new URL('file:///file')).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last).slice(0, 255) || 'file';
  } catch {
    return last.slice(0, 255);
  }
}

function describeRegistered(asset: Asset, origin: string): Handled {
  return { answer: answerJson(200, { success: true, data: describeUpload(asset, origin) }), jobId: asset.id };
}

export function describeUpload({ id, name, createdAt, blob }: Asset, origin: string): JsonObject {
  const { mediaType, size } = blob.stored;
  return {
    id,
    name,
    url: `${origin}${uploadArea}/${blob.blobName}`,
    mimeType: mediaType,
    type: assetType(mediaType),
    fileSize: size,
    createdAt,
  };
}

interface UploadSource {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly mediaType: string | undefined;
  /** True if the sandbox made a placeholder instead of fetching the file. */
  readonly isStandIn?: true;
}

const patienceMs = 60_000;

/**
 * Opens a file of this sandbox or of this machine. For any other URL, makes a placeholder file, so that users can test
 * uploads by URL.
 */
async function openUrl(context: Context, url: string, name: string): Promise<UploadSource> {
  const own = findOwnFile(context, url);
  if (own !== undefined) {
    const file = await own.open();
    if (file === undefined) throw notFetched('The file at this url does not exist yet.');
    return { chunks: readPieces(file.content), mediaType: file.mediaType };
  }
  if (isLoopbackUrl(url)) return fetchLocal(url);
  if (findUrlProblem('url', url, { isOwnFile: () => false }) !== undefined) {
    const message =
      'The sandbox never leaves this machine. url must be a file of the sandbox, a loopback address such as http://127.0.0.1:8080/logo.png, or a public https URL. For a public URL, the sandbox stores a placeholder.';
    throw new Refusal({ status: 400, code: 'url_not_local', message });
  }
  const { bytes, mediaType } = await makeStandIn(url, name);
  const chunks = readPieces({ type: 'bytes', bytes: Buffer.from(bytes) });
  return { chunks, mediaType, isStandIn: true };
}

/** Follows no redirects, because they may lead to other machines. */
async function fetchLocal(url: string): Promise<UploadSource> {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(patienceMs) }).catch(
    refuseFailed,
  );
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw notFetched(`The url answered ${response.status}; a file is expected.`);
  }
  const given = response.headers.get('content-type') ?? '';
  const mediaType = isMediaType(given) && given !== unknownMediaType ? given : undefined;
  return { chunks: refuseWhenBroken(response.body), mediaType };
}

async function* refuseWhenBroken(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await iterator.next().catch(refuseFailed);
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return?.();
  }
}

function refuseFailed(error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  throw notFetched(`The url could not be fetched: ${cause instanceof Error ? cause.message : String(cause)}.`);
}

function decodeBase64(text: string): UploadSource {
  const comma = /^data:/i.test(text) ? text.indexOf(',') : -1;
  const header = comma < 0 ? undefined : text.slice('data:'.length, comma);
  if (header !== undefined && !/;base64$/i.test(header)) {
    throw invalid('base64 contains a data: URL without base64 data.');
  }
  const digits = text.slice(comma + 1).replace(/\s+/g, '');
  const unpadded = digits.replace(/={1,2}$/, '');
  // Searches for an invalid character, because matching all characters needs too much memory.
  if (unpadded === '' || /[^A-Za-z0-9+/_-]/.test(unpadded)) {
    throw invalid('The base64 value is empty, or contains characters that are not base64.');
  }
  const bytes = Buffer.from(digits, 'base64');
  const mediaType = header?.replace(/;base64$/i, '') ?? '';
  const chunks = readPieces({ type: 'bytes', bytes });
  return { chunks, mediaType: isMediaType(mediaType) ? mediaType : undefined };
}

function notFetched(message: string): Refusal {
  return new Refusal({ status: 400, code: 'url_not_fetched', message });
}

interface StandIn {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

const formats = { 'image/jpeg': 'jpeg', 'image/webp': 'webp' } as const;

async function makeStandIn(url: string, name: string): Promise<StandIn> {
  const guessed = guessMediaType(name);
  if (assetType(guessed) !== 'IMAGE') {
    return { bytes: Buffer.from(`A placeholder for ${url}, which the sandbox did not fetch.\n`), mediaType: guessed };
  }
  const format = formats[guessed as keyof typeof formats] ?? 'png';
  const { drawPicture } = await import('./render/picture.ts');
  const prompt = `Placeholder for ${name}`;
  const bytes = await drawPicture({
    seed: url,
    prompt,
    footer: 'sandbox · not fetched',
    width: 640,
    height: 360,
    format,
  });
  return { bytes, mediaType: `image/${format}` };
}

const byExtension: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.avif': 'image/avif',
  '.svg': 'image/svg+xml',
  '.mp4': 'video/mp4',
  '.m4v': 'video/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
  '.mkv': 'video/x-matroska',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.flac': 'audio/flac',
  '.m4a': 'audio/mp4',
  '.ogg': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
};

const unknownMediaType = 'application/octet-stream';

function guessMediaType(fileName: string): string {
  const extension = extname(fileName).toLowerCase();
  return (Object.hasOwn(byExtension, extension) ? byExtension[extension] : undefined) ?? unknownMediaType;
}

function isMediaType(text: string): boolean {
  return /^[\w.+-]+\/[\w.+-]+(\s*;[\x20-\x7e]*)?$/.test(text);
}

function assetType(mediaType: string): 'IMAGE' | 'VIDEO' | 'AUDIO' | 'DOCUMENT' {
  switch (mediaType.toLowerCase().split('/')[0]) {
    case 'image':
      return 'IMAGE';
    case 'video':
      return 'VIDEO';
    case 'audio':
      return 'AUDIO';
    default:
      return 'DOCUMENT';
  }
}

const lifetimeMs = 15 * 60 * 1000;
const signedArea = '/storage/upload';

/** First of three requests of an upload: returns an upload URL for the bytes that is valid for 15 minutes. */
export function handleSignedUrl(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, ({ user, body }): Handled => {
    const { fileName } = checkBody(body, signedUrlBody);
    const { blobName } = context.library.promise(user, String(fileName), context.now());
    const token = signBlob(context, blobName, context.now() + lifetimeMs);
    const uploadUrl = `${call.origin}${signedArea}/${blobName}?token=${token}`;
    const publicUrl = `${call.origin}${uploadArea}/${blobName}`;
    return { answer: answerJson(200, { success: true, data: { uploadUrl, token, publicUrl, blobName } }) };
  });
}

/** Second of three requests of an upload: stores the bytes. The URL is the only credential. */
export async function handlePut(context: Context, call: Call, blobName: string): Promise<Reply> {
  const action = context.faults.next('put', { kind: 'upload', text: blobName });
  return applyFault(action, async () => ({ answer: await takeBytes(context, call, blobName) }));
}

/** Last of three requests of an upload: registers the bytes in the library. A repetition returns the same record. */
export function handleComplete(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, ({ user, body }): Handled => {
    const { blobName, fileName } = checkBody(body, completeBody);
    const blob = context.library.findBlob(String(blobName));
    if (blob === undefined || blob.user !== user) throw noBlob('There is no upload of this name.');
    const name = typeof fileName === 'string' ? fileName : blob.fileName;
    const asset = context.library.register(blob, name, context.now());
    if (asset !== undefined) return describeRegistered(asset, call.origin);
    throw noBlob('No file has been sent to the signed URL yet.');
  });
}

async function takeBytes(context: Context, call: Call, blobName: string): Promise<Answer> {
  checkSignature(context, call, blobName);
  const blob = context.library.findBlob(blobName);
  if (blob === undefined) throw noBlob('There is no upload of this name.');
  if (blob.assetId !== undefined) throw taken();
  if (call.body.type !== 'stream') throw new Error('internal error: the body of a PUT was already read');
  const given = call.header('content-type') ?? '';
  if (given === '') {
    const message = 'The header Content-Type with the media type of the file is required.';
    throw new Refusal({ status: 400, code: 'content_type_required', message });
  }
  const mediaType = isMediaType(given) ? given : guessMediaType(blob.fileName);
  const options = { mediaType, limitBytes: Number.POSITIVE_INFINITY, now: context.now() };
  const filled = await context.library.fill(blob, call.body.chunks, options);
  if (filled?.stored === undefined) throw taken();
  const { etag, size } = filled.stored;
  return answerJson(200, { success: true, data: { blobName, fileSize: size } }, { etag });
}

function checkSignature(context: Context, call: Call, blobName: string): void {
  const token = call.query.get('token') ?? '';
  const expiresAtMs = Number(token.split('.')[0]);
  if (token !== signBlob(context, blobName, expiresAtMs)) {
    const message = 'The URL was not signed for this upload.';
    throw new Refusal({ status: 403, code: 'invalid_signature', message });
  }
  if (context.now() < expiresAtMs) return;
  const message = 'The signed URL has expired; request a new URL.';
  throw new Refusal({ status: 403, code: 'upload_url_expired', message });
}

/** Signs an upload URL with the API key, so that the sandbox does not store signatures. */
function signBlob({ apiKey }: Context, blobName: string, expiresAtMs: number): string {
  return `${expiresAtMs}.${digest('put', apiKey, blobName, String(expiresAtMs)).slice(0, 40)}`;
}

function noBlob(message: string): Refusal {
  return new Refusal({ status: 404, code: 'not_found', message });
}

function taken(): Refusal {
  const message = 'This upload is already in the library; request another signed URL for another file.';
  return new Refusal({ status: 409, code: 'upload_completed', message });
}
