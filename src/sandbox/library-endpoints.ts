import type { Context } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { applyFault, type Handled } from './faults.ts';
import { handleAccounts, handleCatalog, handleVoices } from './handle-catalog.ts';
import { handlePost } from './handle-post.ts';
import { handleComplete, handlePut, handleSignedUrl, handleUpload, handleUploadList } from './handle-upload.ts';
import { refer } from './kinds/schemas.ts';
import {
  answerWith,
  describeErrors,
  describeFile,
  describeOperation,
  jsonOf,
  listOf,
  type OperationFacts,
  pathParameter,
} from './openapi.ts';
import { type FoundFile, findOutput, findUpload, type OwnFile } from './own-files.ts';
import { type OwnPath, outputArea, uploadArea } from './own-url.ts';
import { type Answer, answerBytes, answerContent, answerProblem, type Call, type Content, type Reply } from './wire.ts';

const createErrors = [400, 401, 413, 500];

interface LibraryEndpoint extends OperationFacts {
  readonly method: 'GET' | 'POST';
  /** Path below `/api/v1`. */
  readonly at: string;
  readonly run: (context: Context, call: Call) => Reply | Promise<Reply>;
}

const libraryTable: readonly LibraryEndpoint[] = [
  {
    method: 'POST',
    at: '/uploads',
    run: handleUpload,
    id: 'create_upload',
    tag: 'upload',
    summary: 'Bring a file into the media library',
    body: 'UploadCreate',
    answer: answerWith({ data: refer('MediaAsset') }),
    errors: createErrors,
  },
  {
    method: 'GET',
    at: '/uploads',
    run: handleUploadList,
    id: 'list_upload',
    tag: 'upload',
    summary: 'The media library, newest first',
    answer: answerWith({ data: listOf('MediaAsset') }),
    errors: [401, 500],
    notShown: 'A list of uploads is not documented.',
  },
  {
    method: 'POST',
    at: '/uploads/signed-url',
    run: handleSignedUrl,
    id: 'sign_upload',
    tag: 'upload',
    summary: 'A URL for a large file, good for 15 minutes',
    body: 'SignedUrlCreate',
    answer: answerWith({ data: refer('SignedUrl') }),
    errors: createErrors,
  },
  {
    method: 'POST',
    at: '/uploads/complete',
    run: handleComplete,
    id: 'complete_upload',
    tag: 'upload',
    summary: 'Bring what was sent to a signed URL into the media library',
    body: 'UploadComplete',
    answer: answerWith({ data: refer('MediaAsset') }),
    errors: [...createErrors, 404],
    notShown: 'The answer is not documented.',
  },
  {
    method: 'POST',
    at: '/posts',
    run: handlePost,
    id: 'create_post',
    tag: 'post',
    summary: 'Publish on connected accounts, now or later; it takes no credits',
    body: 'PostCreate',
    answer: answerWith({ data: refer('Post') }),
    errors: [...createErrors, 429],
    notShown: 'Body and answer are not documented. No Idempotency-Key counts here.',
  },
  {
    method: 'GET',
    at: '/voiceovers/voices',
    run: handleVoices,
    id: 'list_voice',
    tag: 'voiceover',
    summary: 'The voices',
    answer: answerWith({ voices: listOf('Voice') }),
    errors: [401, 500],
  },
  {
    method: 'GET',
    at: '/accounts',
    run: handleAccounts,
    id: 'list_account',
    tag: 'post',
    summary: 'The connected social accounts',
    answer: answerWith({ data: listOf('SocialAccount') }),
    errors: [401, 500],
  },
  {
    method: 'GET',
    at: '/catalog',
    run: handleCatalog,
    id: 'list_model',
    tag: 'meta',
    summary: 'The models of every kind',
    answer: answerWith({ data: listOf('CatalogModel') }),
    errors: [401, 500],
  },
];

export function libraryEndpoints(context: Context): Endpoint[] {
  return libraryTable.map(({ method, at, run, ...facts }) => ({
    method,
    base: 'api',
    path: at,
    operation: describeOperation(facts),
    run: (call) => run(context, call),
  }));
}

export function fileEndpoints(context: Context): Endpoint[] {
  const path = ['token', 'name'];
  const blob = ({ token = '', name = '' }: Readonly<Record<string, string>>) => `${token}/${name}`;
  return [
    {
      method: 'GET',
      base: 'root',
      path: `${outputArea}/{token}/{name}`,
      operation: describeFile({ id: 'output_file', summary: 'An output file; answers name its URL', path }),
      run: (call, { token = '', name = '' }) => handleOutput(context, call, { token, name }),
    },
    {
      method: 'GET',
      base: 'root',
      path: `${uploadArea}/{token}/{name}`,
      operation: describeFile({ id: 'uploaded_file', summary: 'An uploaded file, under its public URL', path }),
      run: (call, { token = '', name = '' }) => handleUploaded(context, call, { token, name }),
    },
    {
      method: 'PUT',
      base: 'root',
      path: '/storage/upload/{token}/{name}',
      operation: {
        operationId: 'put_upload',
        tags: ['files'],
        summary: 'Where signed URLs lead: the raw bytes of a file, with its Content-Type',
        'x-not-shown': true,
        description: 'The address behind a signed URL is not documented.',
        security: [],
        parameters: [
          ...path.map(pathParameter),
          { name: 'token', in: 'query', required: true, schema: { type: 'string' } },
        ],
        requestBody: { required: true, content: { '*/*': {} } },
        responses: {
          200: { description: 'It is stored.', content: jsonOf(answerWith({ data: { type: 'object' } })) },
          ...describeErrors([400, 403, 404, 409, 500]),
        },
      },
      run: (call, parameters) => handlePut(context, call, blob(parameters)),
    },
  ];
}

type Headers = Readonly<Record<string, string>>;

/** Serves an output or a sample without a credential. Supports range and conditional requests. */
function handleOutput(context: Context, call: Call, path: OwnPath): Promise<Reply> | Reply {
  return serve(context, call, {
    file: findOutput(context, path),
    headers: { 'cache-control': 'private, max-age=31536000, immutable' },
  });
}

/** Prevents browsers from rendering the bytes as a page, because any user may have uploaded them. */
function handleUploaded(context: Context, call: Call, path: OwnPath): Promise<Reply> | Reply {
  return serve(context, call, {
    file: findUpload(context, path),
    headers: {
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    },
  });
}

function serve(
  context: Context,
  call: Call,
  found: { readonly file: FoundFile | undefined; readonly headers: Headers },
): Promise<Reply> | Reply {
  const { file, headers } = found;
  if (file === undefined) return answerNoFile();
  const action = context.faults.next('file', { kind: file.kind, text: file.text });
  return applyFault(action, async (): Promise<Handled> => {
    const opened = await file.open();
    if (opened === undefined) return { answer: answerNoFile() };
    return { answer: answerFile(call, opened, headers), ...(file.jobId !== undefined && { jobId: file.jobId }) };
  });
}

function answerFile(call: Call, file: OwnFile, more: Headers): Answer {
  const headers = { 'content-type': file.mediaType, etag: file.etag, 'accept-ranges': 'bytes', ...more };
  if (listsTag(call.header('if-none-match'), file.etag)) return answerBytes(304, headers, Buffer.alloc(0));
  const range = call.method === 'GET' ? readRange(call, file.etag, file.size) : 'whole';
  if (range === 'whole') return answerContent(200, headers, file.content);
  if (range === 'outside') {
    const message = `The file has ${file.size} bytes; the range lies outside.`;
    const problemHeaders = { 'content-range': `bytes */${file.size}` };
    return answerProblem({ status: 416, code: 'range_not_satisfiable', message, headers: problemHeaders });
  }
  const contentRange = `bytes ${range.first}-${range.last}/${file.size}`;
  return answerContent(206, { ...headers, 'content-range': contentRange }, takePart(file.content, range));
}

function takePart(content: Content, { first, last }: { first: number; last: number }): Content {
  if (content.type === 'bytes') return { type: 'bytes', bytes: content.bytes.subarray(first, last + 1) };
  return { ...content, first: content.first + first, size: last + 1 - first };
}

/** Returns the whole file for several ranges, another unit or an outdated If-Range, as HTTP allows. */
function readRange(call: Call, etag: string, size: number) {
  const ifRange = call.header('if-range');
  if (ifRange !== undefined && ifRange !== etag) return 'whole';
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(call.header('range') ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return 'whole';
  return first > last ? 'outside' : { first, last };
}

function listsTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function answerNoFile(): Answer {
  return answerProblem({ status: 404, code: 'not_found', message: 'There is no such file.' });
}
