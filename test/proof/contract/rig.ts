import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { ApiDocument, type Operation } from '../../rig/api-document.ts';

export const documentPath = fileURLToPath(new URL('service.openapi.json', import.meta.url));

export const apiKey = 'sandbox_live_local';
const creditsOfEach = 400;
export const createsPerMinute = 60;

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** What is wrong by the document, in the request or in the answer. */
  readonly violations: readonly string[];
}

export interface CallOptions {
  /** For the braces of the path, and for the query. */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Instead of the API key. Empty: no Authorization header. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Rig {
  readonly sandbox: Sandbox;
  readonly clock: { now: number };
  /** For a client, ending in `/api/v1`. A violation is a status that no service gives. */
  readonly baseUrl: string;
  call(operationId: string, options?: CallOptions): Promise<Answer>;
  /** The same, and there must be no violation; `status` is what must come back. */
  expect(operationId: string, status: number, options?: CallOptions): Promise<Answer>;
  /** Sends a create request whose path and method the documentation does not name, so the document lacks it, too. */
  create(path: string, body: object): Promise<Answer>;
  /** `operation status` of every answer that came through without a violation. */
  readonly seen: Set<string>;
  readonly operations: readonly Operation[];
  close(): Promise<void>;
}

/**
 * The sandbox, whose requests and answers are held against the documented contract. Users are made by their tokens; each has
 * the same credits and its own rate limit. A request that the document forbids never arrives.
 */
export async function openRig(): Promise<Rig> {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const sandbox = createSandbox({
    credits: creditsOfEach,
    now: () => clock.now,
    failRate: 0.4,
  });
  sandbox.limitCreates({ creates: createsPerMinute, perMs: 60_000 });
  const contract = new ApiDocument(JSON.parse(readFileSync(documentPath, 'utf8')));
  const seen = new Set<string>();

  const pass = async (request: Request): Promise<{ status: number; text: string; violations: string[] }> => {
    const text = request.method === 'GET' ? '' : await request.clone().text();
    const operation = contract.find(request.method, new URL(request.url).pathname);
    const forbidden = operation === undefined ? [] : contract.problemsOfRequest(operation, request, text);
    if (forbidden.length > 0) return { status: 599, text: '{}', violations: forbidden };
    const response = await sandbox.fetch(request);
    const answer = { status: response.status, text: await response.text() };
    const violations = operation === undefined ? [] : contract.problemsOfAnswer(operation, answer);
    if (operation !== undefined && violations.length === 0) seen.add(`${operation.id} ${answer.status}`);
    return { ...answer, violations };
  };
  const server = createServer(async (incoming, outgoing) => {
    const url = `http://${incoming.headers.host}${incoming.url}`;
    const { authorization = '', 'idempotency-key': key, 'content-type': type } = incoming.headers;
    const headers = {
      authorization,
      ...(key && { 'idempotency-key': String(key) }),
      ...(type && { 'content-type': type }),
    };
    const { method = 'GET' } = incoming;
    const body = method === 'GET' ? null : await text(incoming);
    const { status, text: said, violations } = await pass(new Request(url, { method, headers, body }));
    outgoing.writeHead(violations.length > 0 ? 599 : status, { 'content-type': 'application/json' }).end(said);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const send = async (method: string, path: string, { body, token = apiKey, headers = {} }: CallOptions) => {
    const { status, text, violations } = await pass(
      new Request(origin + path, {
        method,
        headers: {
          ...(token !== '' && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    return { status, body: JSON.parse(text) as Answer['body'], violations };
  };
  const call: Rig['call'] = (operationId, options = {}) => {
    const operation = contract.operations.find(({ id }) => id === operationId);
    if (operation === undefined) throw new Error(`the document has no operation ${operationId}`);
    return send(operation.method, fillPath(operation.path, options.parameters ?? {}), options);
  };
  return {
    sandbox,
    clock,
    baseUrl: `${origin}/api/v1`,
    call,
    async expect(operationId, status, options) {
      const answer = await call(operationId, options);
      expect(answer.violations, operationId).toEqual([]);
      expect(answer.status, `${operationId}: ${JSON.stringify(answer.body)}`).toBe(status);
      return answer;
    },
    async create(path, body) {
      const answer = await send('POST', `/api/v1${path}`, { body });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer;
    },
    seen,
    operations: contract.operations,
    async close() {
      server.closeAllConnections();
      server.close();
      await sandbox.close();
    },
  };
}

function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  const names = new Set<string>();
  const filled = path.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => {
    names.add(name);
    return encodeURIComponent(parameters[name] ?? 'none');
  });
  const query = new URLSearchParams(Object.entries(parameters).filter(([name]) => !names.has(name)));
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** A good body where the operation needs one. */
export function bodyFor(operation: string): { body?: object } {
  const bodies: Readonly<Record<string, object>> = {
    createImage: { prompt: 'x' },
    createMusic: { prompt: 'x', lyrics: 'la' },
    createVideo: { prompt: 'x' },
    createVoiceover: { text: 'x', voice_id: 'Aria' },
    importUpload: { base64: 'aGVsbG8=', fileName: 'a.txt' },
    signUpload: { fileName: 'a.txt' },
    completeUpload: { blobName: 'x' },
    createPost: { accountIds: ['x'] },
  };
  const body = bodies[operation];
  return body === undefined ? {} : { body };
}

/** The text at this path of an answer, as in `generation.id`. */
export function textAt(answer: Answer, path: string): string {
  const value = path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], answer.body);
  if (typeof value !== 'string') throw new Error(`no ${path} in ${JSON.stringify(answer.body)}`);
  return value;
}
