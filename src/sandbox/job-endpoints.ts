import { authenticate, type Context } from './context.ts';
import { applyFault, type Handled } from './faults.ts';
import { handleCreate } from './handle-create.ts';
import { handleJobList, pageLimit } from './handle-list.ts';
import { kinds } from './kinds/index.ts';
import type { SandboxKind } from './kinds/kind.ts';
import { notShown, refer } from './kinds/schemas.ts';
import { shownLife, syncLife, viewJob } from './life.ts';
import { answerWith, describeOperation, type Endpoint, listOf } from './openapi.ts';
import { type Answer, answerJson, answerProblem, type Call, type JsonObject, type Reply } from './wire.ts';

/** Returns the endpoints for jobs: first those with fixed paths, then those with an ID in the path. */
export function jobEndpoints(context: Context): Endpoint[] {
  return [
    ...kinds.map((kind) => createEndpoint(context, kind)),
    ...statusEndpoints(context),
    ...kinds.flatMap((kind) => listEndpoints(context, kind)),
    ...kinds.flatMap((kind) => recordEndpoints(context, kind)),
  ];
}

function createEndpoint(context: Context, kind: SandboxKind): Endpoint {
  const { name, create } = kind;
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    schema: { type: 'string', maxLength: 128 },
    description: 'With an API key: for 24 hours, the same key returns the first answer and no second job.',
  };
  return {
    method: 'POST',
    base: 'api',
    path: create.path,
    operation: describeOperation({
      id: `create_${name}`,
      tag: name,
      summary: `Create a job of the kind ${name}; credits are deducted at once`,
      parameters: create.replays ? [key] : [],
      body: create.schemaName,
      answer: refer(`${create.schemaName}d`),
      errors: [400, 401, 402, ...(create.replays ? [409] : []), 413, 429, 500],
      ...(!create.replays && {
        notShown: 'Body and answer are not documented. Idempotency-Key is ignored.',
      }),
    }),
    run: (call) => handleCreate(context, kind, call),
  };
}

function statusEndpoints(context: Context): Endpoint[] {
  const paths = [...new Set(kinds.flatMap((kind) => kind.status.paths))];
  return paths.map((path, index) => {
    const sharing = kinds.filter((kind) => kind.status.paths.includes(path));
    const names = sharing.map(({ name }) => name);
    const schemas = [...new Set(sharing.map((kind) => kind.status.schemaName))];
    const isAlias = paths.slice(0, index).some((earlier) => sharing[0]?.status.paths.includes(earlier));
    const [data = {}] = schemas.map(refer);
    const asks = sharing.some((kind) => kind.status.progress === 'when asked');
    return {
      method: 'GET',
      base: 'api',
      path,
      operation: describeOperation({
        id: `${isAlias ? 'refresh' : 'status'}_${names[0]}`,
        tag: names[0] ?? '',
        summary: `${asks ? 'Update and return' : 'Return'} the status of a job of the kind ${names.join(', ')}`,
        path: parametersOf(path),
        answer: answerWith({ data: schemas.length === 1 ? data : { anyOf: schemas.map(refer) } }),
        errors: [401, 404, 500],
      }),
      run: (call, parameters) => showJob(context, { call, id: firstOf(parameters), kinds: sharing }, syncLife),
    };
  });
}

function listEndpoints(context: Context, kind: SandboxKind): Endpoint[] {
  const { name, list } = kind;
  if (list === undefined) return [];
  const items = listOf(list.schemaName);
  const isPaged = list.paging === 'pages';
  return [
    {
      method: 'GET',
      base: 'api',
      path: list.path,
      operation: describeOperation({
        id: `list_${name}`,
        tag: name,
        summary: `List the jobs of the kind ${name}, newest first`,
        parameters: [...(isPaged ? pageParameters : []), ...(list.byModel ? [modelParameter] : [])],
        answer: answerWith({ [list.items]: items, ...(isPaged && { pagination: refer('Pagination') }) }),
        errors: [401, 500],
      }),
      run: (call) => handleJobList(context, call, { kind, list }),
    },
  ];
}

function recordEndpoints(context: Context, kind: SandboxKind): Endpoint[] {
  const { name, record, remove, status } = kind;
  const endpoints: Endpoint[] = [];
  if (record !== undefined) {
    endpoints.push({
      method: 'GET',
      base: 'api',
      path: record.path,
      operation: describeOperation({
        id: `get_${name}`,
        tag: name,
        summary: 'Return the record as of the last status update',
        path: parametersOf(record.path),
        answer: answerWith({ data: refer(status.schemaName) }),
        errors: [401, 404, 500],
      }),
      run: (call, parameters) => showJob(context, { call, id: firstOf(parameters), kinds: [kind] }, shownLife),
    });
  }
  if (remove !== undefined) {
    endpoints.push({
      method: 'DELETE',
      base: 'api',
      path: remove.path,
      operation: describeOperation({
        id: `delete_${name}`,
        tag: name,
        summary: `Delete a job permanently, by the ID of its ${remove.by}; credits are not returned`,
        path: parametersOf(remove.path),
        answer: answerWith({ message: { type: 'string' } }),
        errors: [401, 404, 500],
      }),
      run: (call, parameters) => handleDelete(context, { call, id: firstOf(parameters), kinds: [kind] }, remove.by),
    });
  }
  return endpoints;
}

const pageParameters: readonly JsonObject[] = [
  {
    name: 'page',
    in: 'query',
    ...notShown(
      { schema: { type: 'integer', minimum: 1, default: 1 } },
      'Number of the page, from 1. Values out of bounds are not documented; the sandbox uses the nearest bound.',
    ),
  },
  {
    name: 'limit',
    in: 'query',
    ...notShown(
      { schema: { type: 'integer', minimum: pageLimit.least, maximum: pageLimit.most, default: pageLimit.default } },
      'Items on a page. Documented for videos only; the sandbox uses the same values for voiceovers, and the nearest bound for values out of bounds.',
    ),
  },
];

const modelParameter = {
  name: 'model',
  in: 'query',
  schema: { type: 'string' },
  description: 'Only jobs of this model.',
};

function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
}

function firstOf(parameters: Readonly<Record<string, string>>): string {
  return Object.values(parameters)[0] ?? '';
}

interface JobRequest {
  readonly call: Call;
  readonly id: string;
  readonly kinds: readonly SandboxKind[];
}

function showJob(context: Context, { call, id, kinds }: JobRequest, lifeOf: typeof syncLife): Promise<Reply> | Reply {
  const { user } = authenticate(context, call);
  const refusesBlank = kinds.some((kind) => kind.status.blankId === 'refused');
  if (refusesBlank && id.trim() === '')
    return answerProblem({ status: 400, code: 'missing_id', message: 'The id is missing.' });
  // Finds a job by any ID that the answer to its create request contains; for thumbnails, also the ID of its record.
  const job =
    context.books.find(user, kinds, { id, by: 'job' }) ?? context.books.find(user, kinds, { id, by: 'record' });
  const about = { kind: (job?.kind ?? kinds[0])?.name ?? '', text: job === undefined ? '' : JSON.stringify(job.body) };
  return applyFault(context.faults.next('status', about), (): Handled => {
    if (job === undefined || context.books.isDeleted(job)) return { answer: answerUnknown(kinds) };
    const data = job.kind.status.describe(viewJob(job, lifeOf(job, context), call.origin));
    return { answer: answerJson(200, { success: true, data }), jobId: id };
  });
}

function handleDelete(context: Context, { call, id, kinds }: JobRequest, by: 'job' | 'record'): Promise<Reply> | Reply {
  const { user } = authenticate(context, call);
  const job = context.books.find(user, kinds, { id, by });
  if (job === undefined) return answerUnknown(kinds);
  const about = { kind: job.kind.name, text: JSON.stringify(job.body) };
  return applyFault(context.faults.next('delete', about), (): Handled => {
    if (context.books.isDeleted(job)) return { answer: answerUnknown(kinds) };
    context.books.delete(job, context.now());
    const message = `The ${job.kind.name} generation was deleted.`;
    return { answer: answerJson(200, { success: true, message }), jobId: job.entry.id };
  });
}

function answerUnknown(kinds: readonly SandboxKind[]): Answer {
  const names = kinds.map(({ name }) => name).join(' or ');
  return answerProblem({ status: 404, code: 'not_found', message: `There is no ${names} generation with this id.` });
}
