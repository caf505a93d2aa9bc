import { applyFault, type Handled } from './apply-fault.ts';
import { TooLargeError } from './blob-store.ts';
import { authenticate, type Context } from './context.ts';
import { handleList } from './handle-list.ts';
import type { Asset } from './library.ts';
import { assetType, guessMediaType, isMediaType } from './media-types.ts';
import { uploadArea } from './own-url.ts';
import { answerInvalid, answerTooLarge, checkBody, readJson } from './read-body.ts';
import type { BodySchema } from './schema.ts';
import { BrokenSourceError, decodeBase64, mostBase64Bytes, openUrl, refuseUrl } from './upload-source.ts';
import { answerJson, answerProblem, type Call, type Json, type JsonObject, type Reply } from './wire.ts';

export const fileNameRules = { type: 'string', minLength: 1, pattern: '\\S', maxLength: 255 };

export const uploadBody: BodySchema = {
  type: 'object',
  required: [],
  properties: {
    url: {
      type: 'string',
      description:
        'The file is fetched from there, if it is one of the sandbox itself or of this machine. Any other public https URL gets a stand-in, because the sandbox never leaves this machine.',
    },
    base64: { type: 'string', description: 'The file itself, raw or as a data: URL; about 7 MB. Needs fileName.' },
    fileName: fileNameRules,
    contentType: { type: 'string', description: 'Media type of base64. Default: by the data: URL or the name.' },
  },
  oneOf: [
    { required: ['url'], not: { required: ['base64'] } },
    { required: ['base64', 'fileName'], not: { required: ['url'] } },
  ],
};

const mostUrlBytes = 200 * 1024 * 1024;

interface Import {
  readonly user: string;
  readonly body: JsonObject;
  readonly origin: string;
}

/** Brings a file into the library in one call. It costs nothing. */
export async function handleUpload(context: Context, call: Call): Promise<Reply> {
  return handleUploadCall(context, call, async ({ user, body }) => {
    const checked = checkBody(body, uploadBody);
    if (checked.type === 'refused') return { answer: checked.answer };
    const problem = findUploadProblem(checked.body);
    if (problem !== undefined) return { answer: answerInvalid(problem) };
    return importFile(context, { user, body: checked.body, origin: call.origin });
  });
}

/** Handles the part that all calls below `/uploads` have in common. */
export async function handleUploadCall(
  context: Context,
  call: Call,
  handle: (request: { user: string; body: Json }) => Handled | Promise<Handled>,
): Promise<Reply> {
  const authenticated = authenticate(context, call);
  if (authenticated.type === 'refused') return authenticated.answer;
  const read = readJson(call);
  if (read.type === 'refused') return read.answer;
  const action = context.faults.next('upload', { kind: 'upload', text: `${call.path} ${read.text}` });
  return applyFault(action, () => handle({ user: authenticated.caller.user, body: read.body }));
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
  if (source.type === 'refused') return { answer: answerProblem({ status: 400, ...source }) };
  const named = typeof base64 === 'string' && typeof contentType === 'string' ? contentType : source.mediaType;
  const mediaType = named ?? guessMediaType(name);
  const { library, now } = context;
  try {
    const promised = library.promise(user, name, now());
    const blob = await library.fill(promised, source.chunks, { mediaType, limitBytes, now: now() });
    const asset =
      blob === undefined ? undefined : library.register(blob, source.isStandIn ? `${name} (stand-in)` : name, now());
    if (asset === undefined) throw new Error('internal error: a file was stored and is not there');
    return describeRegistered(asset, origin);
  } catch (error) {
    if (error instanceof BrokenSourceError) {
      return { answer: answerProblem({ status: 400, ...refuseUrl(error.message) }) };
    }
    if (!(error instanceof TooLargeError)) throw error;
    const limit =
      typeof url === 'string' ? '200 MB' : 'about 7 MB of data; larger files go through /uploads/signed-url';
    return { answer: answerTooLarge(`The file is too large; the limit is ${limit}.`) };
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

export function describeRegistered(asset: Asset, origin: string): Handled {
  return { answer: answerJson(200, { success: true, data: describeUpload(asset, origin) }), jobId: asset.id };
}

/** The asset as the library shows it. */
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
