import type { Context } from './context.ts';
import { type Endpoint, matchEndpoint } from './endpoint.ts';
import { handleCreate } from './handle-create.ts';
import { handleFile } from './handle-file.ts';
import { handleDelete, handleStatus } from './handle-job.ts';
import { kinds } from './kinds/index.ts';
import type { SandboxKind } from './kinds/kind.ts';
import {
  describeCreate,
  describeDelete,
  describeDocument,
  describeFile,
  describeService,
  describeStatus,
} from './openapi.ts';
import { answerJson, answerProblem, type Call, type JsonObject, type Reply } from './wire.ts';

export type Service = (call: Call) => Promise<Reply>;

export function createService(context: Context): Service {
  const endpoints: Endpoint[] = [
    ...kinds.flatMap((kind) => endpointsOf(context, kind)),
    {
      method: 'GET',
      base: 'root',
      path: '/files/{token}/{name}',
      operation: describeFile(),
      run: (call, { token = '', name = '' }) => handleFile(context, call, { token, name }),
    },
  ];
  let document: JsonObject | undefined;
  const serveDocument = () => {
    document ??= describeService(endpoints, kinds);
    return answerJson(200, document);
  };
  endpoints.push(
    {
      method: 'GET',
      base: 'api',
      path: '/openapi.json',
      operation: describeDocument('openapi'),
      run: serveDocument,
    },
    {
      method: 'GET',
      base: 'root',
      path: '/api-docs/openapi.json',
      operation: describeDocument('openapi_docs'),
      run: serveDocument,
    },
  );
  return (call) => answer(endpoints, call);
}

function endpointsOf(context: Context, kind: SandboxKind): Endpoint[] {
  const endpoints: Endpoint[] = [
    {
      method: 'POST',
      base: 'api',
      path: kind.paths.create,
      operation: describeCreate(kind),
      run: (call) => handleCreate(context, kind, call),
    },
    {
      method: 'GET',
      base: 'api',
      path: kind.paths.status,
      operation: describeStatus(kind),
      run: (call, { id = '' }) => handleStatus(context, kind, { call, id }),
    },
  ];
  if (kind.paths.delete !== undefined) {
    endpoints.push({
      method: 'DELETE',
      base: 'api',
      path: kind.paths.delete,
      operation: describeDelete(kind),
      run: (call, { id = '' }) => handleDelete(context, kind, { call, id }),
    });
  }
  return endpoints;
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
