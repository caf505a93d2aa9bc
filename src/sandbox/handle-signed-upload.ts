import type { Context } from './context.ts';
import { digest } from './digest.ts';
import { applyFault, type Handled } from './faults.ts';
import { describeRegistered, fileNameRules, guessMediaType, handleUploadCall, isMediaType } from './handle-upload.ts';
import { uploadArea } from './own-url.ts';
import { checkBody } from './read-body.ts';
import type { BodySchema } from './schema.ts';
import { type Answer, answerJson, type Call, Refusal, type Reply } from './wire.ts';

const lifetimeMs = 15 * 60 * 1000;
const signedArea = '/storage/upload';

export const signedUrlBody: BodySchema = {
  type: 'object',
  required: ['fileName'],
  properties: { fileName: fileNameRules },
};

export const completeBody: BodySchema = {
  type: 'object',
  required: ['blobName'],
  properties: {
    blobName: { type: 'string', description: 'As /uploads/signed-url gave it.' },
    fileName: { ...fileNameRules, description: 'Its name in the library. Default: the one the URL was signed for.' },
  },
};

/** First of three steps: reserves a location for the bytes, and returns an upload URL that is valid for 15 minutes. */
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

/** Second step: stores the bytes. The URL is the only credential. */
export async function handlePut(context: Context, call: Call, blobName: string): Promise<Reply> {
  const action = context.faults.next('put', { kind: 'upload', text: blobName });
  return applyFault(action, async () => ({ answer: await takeBytes(context, call, blobName) }));
}

/** Third step: registers the bytes in the library. A repeated request returns the same record. */
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
  if (call.body.type !== 'stream') throw new Error('internal error: the body of a PUT was read before its time');
  const given = call.header('content-type') ?? '';
  if (given === '') {
    const message = 'The request needs the Content-Type of the file, which the URL is signed for.';
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
  const message = 'The signed URL has expired; ask for another one.';
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
  const message = 'This upload is in the library already; sign another URL for another file.';
  return new Refusal({ status: 409, code: 'upload_completed', message });
}
