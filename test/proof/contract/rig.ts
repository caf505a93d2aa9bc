import { expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { listOperations, type Operation, readDocument } from './document.ts';
import { type ContractProxy, findViolations, startProxy } from './prism.ts';

export const apiKey = 'sandbox_live_local';
export const creditsOfEach = 400;
export const createsPerMinute = 60;

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** What the proxy found wrong, in the request or in the answer. */
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
  /** Of the proxy, ending in `/api/v1`. */
  readonly baseUrl: string;
  /** Of the sandbox itself, for what the document cannot name. Links in answers lead there too. */
  readonly directUrl: string;
  /** Through the proxy. */
  call(operationId: string, options?: CallOptions): Promise<Answer>;
  /** The same, and there must be no violation; `status` is what must come back. */
  expect(operationId: string, status: number, options?: CallOptions): Promise<Answer>;
  /** `operation status` of every answer that came through without a violation. */
  readonly seen: Set<string>;
  readonly operations: readonly Operation[];
  close(): Promise<void>;
}

/**
 * The sandbox behind the proxy. Users are made by their tokens; each has the same credits and its own rate limit.
 *
 * Where prism and the documentation part: a request that breaks the document never arrives, and prism answers it in its
 * own words – 422 where 400 is documented, and a 401 of another shape when the credential is missing altogether. So a
 * documented 400 or 401 is asked for with a request that the document allows: a blank prompt, a key that is wrong.
 */
export async function openRig(): Promise<Rig> {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const sandbox = createSandbox({
    credits: creditsOfEach,
    now: () => clock.now,
    failRate: 0.4,
    rateLimit: { creates: createsPerMinute, perMs: 60_000 },
  });
  const listener = await sandbox.listen();
  const document = readDocument();
  const operations = listOperations(document);
  let proxy: ContractProxy;
  try {
    proxy = await startProxy(document, new URL(listener.url).origin);
  } catch (error) {
    await listener.close();
    throw error;
  }
  const seen = new Set<string>();

  const call: Rig['call'] = async (operationId, { parameters = {}, body, token = apiKey, headers = {} } = {}) => {
    const operation = operations.find(({ id }) => id === operationId);
    if (operation === undefined) throw new Error(`the document has no operation ${operationId}`);
    const response = await fetch(proxy.origin + fillPath(operation.path, parameters), {
      method: operation.method.toUpperCase(),
      headers: {
        ...(token !== '' && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const violations = findViolations({ status: response.status, headers: response.headers, text });
    if (violations.length === 0) seen.add(`${operationId} ${response.status}`);
    return { status: response.status, body: JSON.parse(text) as Answer['body'], violations };
  };

  return {
    sandbox,
    clock,
    baseUrl: `${proxy.origin}/api/v1`,
    directUrl: listener.url,
    call,
    async expect(operationId, status, options) {
      const answer = await call(operationId, options);
      expect(answer.violations, operationId).toEqual([]);
      expect(answer.status, `${operationId}: ${JSON.stringify(answer.body)}`).toBe(status);
      return answer;
    },
    seen,
    operations,
    async close() {
      proxy.close();
      await listener.close();
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

/** A token that looks like a JWT of this user. */
export function tokenOf(user: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ sub: user })}.c2lnbmF0dXJl`;
}

/** The text at this path of an answer, as in `generation.id`. */
export function textAt(answer: Answer, path: string): string {
  const value = path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], answer.body);
  if (typeof value !== 'string') throw new Error(`no ${path} in ${JSON.stringify(answer.body)}`);
  return value;
}
