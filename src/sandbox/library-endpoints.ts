import type { Context } from './context.ts';
import type { Endpoint } from './endpoint.ts';
import { handleAccounts, handleCatalog, handleVoices } from './handle-catalog.ts';
import { handleOutput, handleUploaded } from './handle-file.ts';
import { handlePost } from './handle-post.ts';
import { handleComplete, handlePut, handleSignedUrl } from './handle-signed-upload.ts';
import { handleUpload, handleUploadList } from './handle-upload.ts';
import { refer } from './kinds/schemas.ts';
import { describeErrors, describeFile, describeOperation, jsonOf, pathParameter } from './openapi.ts';
import { answerWith, listOf } from './openapi-schemas.ts';
import { outputArea, uploadArea } from './own-url.ts';

const createErrors = [400, 401, 413, 500];

/** Uploads, posts, and what the service has for everybody. */
export function libraryEndpoints(context: Context): Endpoint[] {
  return [
    {
      method: 'POST',
      base: 'api',
      path: '/uploads',
      operation: describeOperation({
        id: 'create_upload',
        tag: 'upload',
        summary: 'Bring a file into the media library',
        body: 'UploadCreate',
        answer: answerWith({ data: refer('MediaAsset') }),
        errors: createErrors,
      }),
      run: (call) => handleUpload(context, call),
    },
    {
      method: 'GET',
      base: 'api',
      path: '/uploads',
      operation: describeOperation({
        id: 'list_upload',
        tag: 'upload',
        summary: 'The media library, newest first',
        answer: answerWith({ data: listOf('MediaAsset') }),
        errors: [401, 500],
        notShown: 'A list of uploads is not documented.',
      }),
      run: (call) => handleUploadList(context, call),
    },
    {
      method: 'POST',
      base: 'api',
      path: '/uploads/signed-url',
      operation: describeOperation({
        id: 'sign_upload',
        tag: 'upload',
        summary: 'A URL for a large file, good for 15 minutes',
        body: 'SignedUrlCreate',
        answer: answerWith({ data: refer('SignedUrl') }),
        errors: createErrors,
      }),
      run: (call) => handleSignedUrl(context, call),
    },
    {
      method: 'POST',
      base: 'api',
      path: '/uploads/complete',
      operation: describeOperation({
        id: 'complete_upload',
        tag: 'upload',
        summary: 'Bring what was sent to a signed URL into the media library',
        body: 'UploadComplete',
        answer: answerWith({ data: refer('MediaAsset') }),
        errors: [...createErrors, 404],
        notShown: 'The answer is not documented.',
      }),
      run: (call) => handleComplete(context, call),
    },
    {
      method: 'POST',
      base: 'api',
      path: '/posts',
      operation: describeOperation({
        id: 'create_post',
        tag: 'post',
        summary: 'Publish on connected accounts, now or later; it takes no credits',
        body: 'PostCreate',
        answer: answerWith({ data: refer('Post') }),
        errors: [...createErrors, 429],
        notShown: 'Body and answer are not documented. No Idempotency-Key counts here.',
      }),
      run: (call) => handlePost(context, call),
    },
    {
      method: 'GET',
      base: 'api',
      path: '/voiceovers/voices',
      operation: describeOperation({
        id: 'list_voice',
        tag: 'voiceover',
        summary: 'The voices',
        answer: answerWith({ voices: listOf('Voice') }),
        errors: [401, 500],
      }),
      run: (call) => handleVoices(context, call),
    },
    {
      method: 'GET',
      base: 'api',
      path: '/accounts',
      operation: describeOperation({
        id: 'list_account',
        tag: 'post',
        summary: 'The connected social accounts',
        answer: answerWith({ data: listOf('SocialAccount') }),
        errors: [401, 500],
      }),
      run: (call) => handleAccounts(context, call),
    },
    {
      method: 'GET',
      base: 'api',
      path: '/catalog',
      operation: describeOperation({
        id: 'list_model',
        tag: 'meta',
        summary: 'The models of every kind',
        answer: answerWith({ data: listOf('CatalogModel') }),
        errors: [401, 500],
      }),
      run: (call) => handleCatalog(context, call),
    },
  ];
}

/** Endpoints outside of the API: files, and the targets of signed URLs. */
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
