import type { Context } from './context.ts';
import { digest } from './digest.ts';
import { applyFault, type Handled } from './faults.ts';
import { describeRegistered, fileNameRules, guessMediaType, handleUploadCall, isMediaType } from './handle-upload.ts';
import { uploadArea } from './own-url.ts';
import { checkBody } from './read-body.ts';
import type { BodySchema } from './schema.ts';
import { type Answer, answerJson, answerProblem, type Call, type Reply } from './wire.ts';

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

/**
 * Handles the first of three steps: reserves a place for the bytes, and a URL for uploading them that is valid for 15
 * minutes.
 */
export function handleSignedUrl(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, ({ user, body }): Handled => {
    const checked = checkBody(body, signedUrlBody);
    if (checked.type === 'refused') return { answer: checked.answer };
    const { blobName } = context.library.promise(user, String(checked.body.fileName), context.now());
    const token = signBlob(context, blobName, context.now() + lifetimeMs);
    const uploadUrl = `${call.origin}${signedArea}/${blobName}?token=${token}`;
    const publicUrl = `${call.origin}${uploadArea}/${blobName}`;
    return { answer: answerJson(200, { success: true, data: { uploadUrl, token, publicUrl, blobName } }) };
  });
}

/** Handles the second step: streams the bytes, of any number, into the store. The URL alone permits the upload. */
export async function handlePut(context: Context, call: Call, blobName: string): Promise<Reply> {
  const action = context.faults.next('put', { kind: 'upload', text: blobName });
  return applyFault(action, async () => ({ answer: await takeBytes(context, call, blobName) }));
}

/** Handles the third step: registers the bytes in the library. Repeating the request returns the same record. */
export function handleComplete(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, ({ user, body }): Handled => {
    const checked = checkBody(body, completeBody);
    if (checked.type === 'refused') return { answer: checked.answer };
    const { blobName, fileName } = checked.body;
    const blob = context.library.findBlob(String(blobName));
    if (blob === undefined || blob.user !== user) return { answer: answerNoBlob('There is no upload of this name.') };
    const name = typeof fileName === 'string' ? fileName : blob.fileName;
    const asset = context.library.register(blob, name, context.now());
    if (asset !== undefined) return describeRegistered(asset, call.origin);
    return { answer: answerNoBlob('No file has been sent to the signed URL yet.') };
  });
}

async function takeBytes(context: Context, call: Call, blobName: string): Promise<Answer> {
  const refusal = findRefusal(context, call, blobName);
  if (refusal !== undefined) return refusal;
  const blob = context.library.findBlob(blobName);
  if (blob === undefined) return answerNoBlob('There is no upload of this name.');
  if (blob.assetId !== undefined) return answerTaken();
  if (call.body.type !== 'stream') throw new Error('internal error: the body of a PUT was read before its time');
  const given = call.header('content-type') ?? '';
  if (given === '') {
    const message = 'The request needs the Content-Type of the file, which the URL is signed for.';
    return answerProblem({ status: 400, code: 'content_type_required', message });
  }
  const mediaType = isMediaType(given) ? given : guessMediaType(blob.fileName);
  const options = { mediaType, limitBytes: Number.POSITIVE_INFINITY, now: context.now() };
  const filled = await context.library.fill(blob, call.body.chunks, options);
  if (filled?.stored === undefined) return answerTaken();
  const { etag, size } = filled.stored;
  return answerJson(200, { success: true, data: { blobName, fileSize: size } }, { etag });
}

function findRefusal(context: Context, call: Call, blobName: string): Answer | undefined {
  const token = call.query.get('token') ?? '';
  const expiresAtMs = Number(token.split('.')[0]);
  if (token !== signBlob(context, blobName, expiresAtMs)) {
    return answerProblem({
      status: 403,
      code: 'invalid_signature',
      message: 'The URL was not signed for this upload.',
    });
  }
  if (context.now() < expiresAtMs) return undefined;
  const message = 'The signed URL has expired; ask for another one.';
  return answerProblem({ status: 403, code: 'upload_url_expired', message });
}

/** Signs an upload URL. Only a holder of the API key can do that, and no signature has to be stored. */
function signBlob({ apiKey }: Context, blobName: string, expiresAtMs: number): string {
  return `${expiresAtMs}.${digest('put', apiKey, blobName, String(expiresAtMs)).slice(0, 40)}`;
}

function answerNoBlob(message: string): Answer {
  return answerProblem({ status: 404, code: 'not_found', message });
}

function answerTaken(): Answer {
  const message = 'This upload is in the library already; sign another URL for another file.';
  return answerProblem({ status: 409, code: 'upload_completed', message });
}
