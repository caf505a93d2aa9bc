import { readFile } from 'node:fs/promises';
import type { Job } from './books.ts';
import { type Context, mainUser } from './context.ts';
import { describePost } from './handle-create.ts';
import { describeUpload } from './handle-upload.ts';
import { jobEndpoints } from './job-endpoints.ts';
import { describeFailure, describeTime } from './kinds/job-view.ts';
import { fileEndpoints, libraryEndpoints } from './library-endpoints.ts';
import { lifeOf, viewJob } from './life.ts';
import { describeErrors, describeOperation, describeService, type Endpoint } from './openapi.ts';
import { isLoopbackUrl } from './own-url.ts';
import {
  type Answer,
  answerBytes,
  answerJson,
  answerProblem,
  type Call,
  type JsonObject,
  Refusal,
  type Reply,
} from './wire.ts';

export type Service = (call: Call) => Promise<Reply>;

export function createService(context: Context): Service {
  // The sandbox uses the first endpoint that matches, so fixed paths precede paths with an ID at the same position.
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
        summary: 'Show the state of the sandbox in a browser on this machine',
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
      return answerProblem({ status: 404, code: 'not_found', message: 'The sandbox has no endpoint at this path.' });
    case 'bad encoding':
      return answerProblem({
        status: 400,
        code: 'invalid_path',
        message: 'The path is not percent-encoded correctly.',
      });
    case 'wrong method': {
      const headers = { allow: match.allowed.join(', ') };
      const message = `The method ${call.method} is not allowed at this path.`;
      return answerProblem({ status: 405, code: 'method_not_allowed', message, headers });
    }
    case 'endpoint':
      try {
        return await match.endpoint.run(call, match.parameters);
      } catch (error) {
        if (error instanceof Refusal) return error.answer;
        const message = error instanceof Error ? error.message : String(error);
        return answerProblem({ status: 500, code: 'server_error', message });
      }
    default:
      return match satisfies never;
  }
}

type Match =
  | { readonly type: 'endpoint'; readonly endpoint: Endpoint; readonly parameters: Readonly<Record<string, string>> }
  | { readonly type: 'wrong method'; readonly allowed: readonly string[] }
  | { readonly type: 'bad encoding' }
  | { readonly type: 'nothing' };

const prefixes = { api: '/api/v1', root: '' } as const;

function matchEndpoint(endpoints: readonly Endpoint[], method: string, path: string): Match {
  const wanted = method === 'HEAD' ? 'GET' : method;
  const allowed: string[] = [];
  for (const endpoint of endpoints) {
    const raw = matchPath(prefixes[endpoint.base] + endpoint.path, path);
    if (raw === undefined) continue;
    if (endpoint.method !== wanted) {
      allowed.push(endpoint.method, ...(endpoint.method === 'GET' ? ['HEAD'] : []));
      continue;
    }
    try {
      const parameters = Object.fromEntries(raw.map(([name, value]) => [name, decodeURIComponent(value)]));
      return { type: 'endpoint', endpoint, parameters };
    } catch {
      return { type: 'bad encoding' };
    }
  }
  return allowed.length > 0 ? { type: 'wrong method', allowed } : { type: 'nothing' };
}

function matchPath(pattern: string, path: string): [string, string][] | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const parameters: [string, string][] = [];
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? '';
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    const isLast = index === wanted.length - 1;
    if (name === undefined ? segment !== value : value === '' && !isLast) return undefined;
    if (name !== undefined) parameters.push([name, value]);
  }
  return parameters;
}

const mostJobs = 200;
const mostOthers = 50;
const longestPrompt = 120;

async function handlePage(call: Call): Promise<Answer> {
  requireLocal(call);
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy':
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  };
  return answerBytes(200, headers, Buffer.from(await pageHtml()));
}

/**
 * Serves the data of the page as JSON, for all users and without an API key:
 *
 * - `balance` and `startingCredits` of the API key's user, `speed` (`null`: jobs are completed at once), `now`,
 *   `baseUrl`
 * - `jobs`, the newest 200: `id`, `kind`, `status` (the current one, also if it is not synced), `credits`, `createdAt`,
 *   `model`, `prompt` (the requested text, at most 120 characters), `outputs` (`name`, `url`, `mediaType`), `error`
 * - `uploads` and `posts`, the newest 50 of each, as in the API
 */
function handleState(context: Context, call: Call): Answer {
  requireLocal(call);
  const { books, library, speed, startingCredits } = context;
  const now = context.now();
  return answerJson(
    200,
    {
      success: true,
      baseUrl: `${call.origin}/api/v1`,
      balance: books.balance(mainUser),
      // If a user adds credits, the new balance counts as the start, so that the spent credits are not negative.
      startingCredits: Math.max(startingCredits, books.balance(mainUser)),
      speed: Number.isFinite(speed) ? speed : null,
      now: describeTime(now),
      jobs: books
        .list(() => true)
        .slice(0, mostJobs)
        .map((job) => describeJob(context, job, call.origin)),
      uploads: library
        .list()
        .slice(0, mostOthers)
        .map((asset) => describeUpload(asset, call.origin)),
      posts: books.posts
        .slice(-mostOthers)
        .reverse()
        .map((entry) => describePost(entry, now)),
    },
    { 'cache-control': 'no-store' },
  );
}

function describeJob(context: Context, job: Job, origin: string): JsonObject {
  const view = viewJob(job, lifeOf(job, context.now(), context), origin);
  const { id, model, credits, life, body, files } = view;
  const { prompt, text, title, videoUrl } = body;
  const words = [prompt, text, title, videoUrl].find((value) => typeof value === 'string') ?? '';
  return {
    id,
    kind: job.kind.name,
    status: life.status,
    credits,
    createdAt: describeTime(life.createdAtMs),
    model,
    prompt: [...String(words)].slice(0, longestPrompt).join(''),
    outputs: life.status === 'COMPLETED' ? files.map(({ name, url, mediaType }) => ({ name, url, mediaType })) : [],
    error: describeFailure(life),
  };
}

/**
 * Refuses the page to a client on another machine or with a host name that is not a loopback name, because the page
 * requires no API key.
 */
function requireLocal(call: Call): void {
  if (call.isLocal && isLoopbackUrl(call.origin)) return;
  const message = 'Only clients on this machine may open this page, with an address such as http://127.0.0.1:4010/.';
  throw new Refusal({ status: 403, code: 'not_local', message });
}

function pageHtml(): Promise<string> {
  return readFile(new URL('./assets/page.html', import.meta.url), 'utf8');
}
