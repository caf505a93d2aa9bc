import type { Context } from './context.ts';
import { handlePost } from './handle-create.ts';
import { handleAccounts, handleCatalog, handleVoices } from './handle-list.ts';
import { handleComplete, handlePut, handleSignedUrl, handleUpload, handleUploadList } from './handle-upload.ts';
import { refer } from './kinds/schemas.ts';
import {
  answerWith,
  describeErrors,
  describeFile,
  describeOperation,
  type Endpoint,
  jsonOf,
  listOf,
  type OperationFacts,
  pathParameter,
} from './openapi.ts';
import { handleOutput, handleUploaded } from './own-files.ts';
import { outputArea, uploadArea } from './own-url.ts';
import type { Call, Reply } from './wire.ts';

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
    summary: 'Upload a file to the media library',
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
    summary: 'List the media library, newest first',
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
    summary: 'Sign an upload URL for a large file, valid for 15 minutes',
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
    summary: 'Register the bytes sent to a signed URL in the media library',
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
    summary: 'Publish on connected accounts, now or later, without credits',
    body: 'PostCreate',
    answer: answerWith({ data: refer('Post') }),
    errors: [...createErrors, 429],
    notShown: 'Body and answer are not documented. Idempotency-Key is ignored.',
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
      operation: describeFile({ id: 'output_file', summary: 'Return an output file', path }),
      run: (call, { token = '', name = '' }) => handleOutput(context, call, { token, name }),
    },
    {
      method: 'GET',
      base: 'root',
      path: `${uploadArea}/{token}/{name}`,
      operation: describeFile({ id: 'uploaded_file', summary: 'Return an uploaded file, at its public URL', path }),
      run: (call, { token = '', name = '' }) => handleUploaded(context, call, { token, name }),
    },
    {
      method: 'PUT',
      base: 'root',
      path: '/storage/upload/{token}/{name}',
      operation: {
        operationId: 'put_upload',
        tags: ['files'],
        summary: 'Upload the bytes of a file to a signed URL, with the Content-Type of the file',
        'x-not-shown': true,
        description: 'The address of signed URLs is not documented.',
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
