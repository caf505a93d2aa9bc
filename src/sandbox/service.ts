import type { Context } from './context.ts';
import { type Endpoint, matchEndpoint } from './endpoint.ts';
import { handlePage, handleState } from './handle-page.ts';
import { jobEndpoints } from './job-endpoints.ts';
import { fileEndpoints, libraryEndpoints } from './library-endpoints.ts';
import { describeErrors, describeOperation, describeService } from './openapi.ts';
import { answerJson, answerProblem, type Call, type JsonObject, type Reply } from './wire.ts';

export type Service = (call: Call) => Promise<Reply>;

export function createService(context: Context): Service {
  // Fixed paths before those with an id in the same place.
  const endpoints = [...libraryEndpoints(context), ...jobEndpoints(context), ...fileEndpoints(context)];
  endpoints.push(...pageEndpoints(context), ...documentEndpoints(endpoints));
  return (call) => answer(endpoints, call);
}

function pageEndpoints(context: Context): Endpoint[] {
  return [
    {
      method: 'GET',
      base: 'root',
      path: '/',
      operation: {
        operationId: 'sandbox_page',
        tags: ['sandbox'],
        summary: 'What is going on in the sandbox, for a browser on this machine',
        'x-not-shown': true,
        security: [],
        responses: { 200: { description: 'A page.', content: { 'text/html': {} } }, ...describeErrors([403]) },
      },
      run: (call) => handlePage(call),
    },
    {
      method: 'GET',
      base: 'root',
      path: '/sandbox/state',
      operation: describeOperation({
        id: 'sandbox_state',
        tag: 'sandbox',
        summary: 'What the page shows, as JSON',
        answer: { type: 'object' },
        errors: [403, 500],
        isOpen: true,
        notShown: 'Of the sandbox only.',
      }),
      run: (call) => handleState(context, call),
    },
  ];
}

function documentEndpoints(endpoints: readonly Endpoint[]): Endpoint[] {
  let document: JsonObject | undefined;
  const run = () => {
    document ??= describeService(endpoints);
    return answerJson(200, document);
  };
  const describe = (id: string) =>
    describeOperation({
      id,
      tag: 'meta',
      summary: 'This document',
      answer: { type: 'object' },
      errors: [],
      isOpen: true,
    });
  return [
    { method: 'GET', base: 'api', path: '/openapi.json', operation: describe('openapi'), run },
    { method: 'GET', base: 'root', path: '/api-docs/openapi.json', operation: describe('openapi_docs'), run },
  ];
}

async function answer(endpoints: readonly Endpoint[], call: Call): Promise<Reply> {
  const match = matchEndpoint(endpoints, call.method, call.path);
  switch (match.type) {
    case 'nothing':
      return answerProblem({ status: 404, code: 'not_found', message: 'The sandbox serves nothing at this path.' });
    case 'bad encoding':
      return answerProblem({
        status: 400,
        code: 'invalid_path',
        message: 'The path is not percent-encoded correctly.',
      });
    case 'wrong method': {
      const headers = { allow: match.allowed.join(', ') };
      const message = `${call.method} is not allowed here.`;
      return answerProblem({ status: 405, code: 'method_not_allowed', message, headers });
    }
    case 'endpoint':
      try {
        return await match.endpoint.run(call, match.parameters);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        return answerProblem({ status: 500, code: 'server_error', message });
      }
    default:
      return unknownMatch(match);
  }
}

function unknownMatch(match: never): never {
  throw new Error(`internal error: unknown match ${JSON.stringify(match)}`);
}
