import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { createSandbox, type Sandbox } from '../../../src/sandbox/index.ts';
import { freePort } from '../../rig/free-port.ts';

export const apiKey = 'sandbox_live_local';
const creditsOfEach = 400;
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

/** What the tests read of the OpenAPI document. */
export interface Document {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly [part: string]: unknown;
}

type Method = 'get' | 'post' | 'delete';

type PathItem = { readonly servers?: readonly { readonly url: string }[] } & {
  readonly [method in Method]?: { readonly operationId: string; readonly responses: Readonly<Record<string, unknown>> };
};

export interface Operation {
  readonly id: string;
  readonly method: Method;
  /** From the root of the host, as in `/api/v1/image/status/{id}`. */
  readonly path: string;
  /** Keys of its responses: `2XX`, `401`, `default`, … */
  readonly statuses: readonly string[];
}

export const documentPath = fileURLToPath(new URL('service.openapi.json', import.meta.url));

/**
 * The document with its server's path in front of every path: prism serves what stands in `paths` and leaves the path
 * of `servers` away, so that `/api/v1` would be missing and `/api-docs/openapi.json` would be sought below it.
 */
export function readDocument(): Document {
  const document = JSON.parse(readFileSync(documentPath, 'utf8')) as Document;
  const paths = Object.entries(document.paths).map(([path, item]) => [
    item.servers?.[0]?.url === '/' ? path : `/api/v1${path}`,
    item,
  ]);
  return { ...document, paths: Object.fromEntries(paths) as Document['paths'] };
}

export function listOperations(document: Document): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (['get', 'post', 'delete'] as const).flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      return [{ id: operation.operationId, method, path, statuses: Object.keys(operation.responses) }];
    }),
  );
}

interface ContractProxy {
  /** Scheme, host and port. */
  readonly origin: string;
  close(): void;
}

/** `prism proxy --errors`: what breaks the document, request or response, is answered with a problem instead. */
async function startProxy(document: Document, upstream: string): Promise<ContractProxy> {
  const bin = process.env.MEDIABATCH_PRISM;
  if (bin === undefined || bin === '') {
    throw new Error(
      'The contract test needs prism. Install it anywhere, as in "npm i --prefix /tmp/prism --ignore-scripts @stoplight/prism-cli@5.14.2", and set MEDIABATCH_PRISM=/tmp/prism/node_modules/.bin/prism.',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-contract-'));
  const file = join(folder, 'service.openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const port = await freePort();
  const child = spawn(bin, ['proxy', '--errors', '--host', '127.0.0.1', '--port', port, file, upstream], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const close = () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      said += chunk;
      if (said.includes('Prism is listening')) resolve();
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    child.once('error', (error) => reject(new Error(`${bin} could not be started: ${error.message}`)));
    child.once('exit', (code) => reject(new Error(`prism ended with ${code}:\n${said}`)));
  }).catch((error: unknown) => {
    close();
    throw error;
  });
  return { origin: `http://127.0.0.1:${port}`, close };
}

/**
 * What prism found wrong; empty when nothing. Errors come as a problem of its own in place of the answer, warnings –
 * such as a status that the document does not name – in a header.
 */
export function findViolations(answer: { status: number; headers: Headers; text: string }): string[] {
  const warnings = answer.headers.get('sl-violations');
  const isProblem =
    (answer.headers.get('content-type') ?? '').includes('problem+json') && answer.text.includes('stoplight.io/prism');
  return [...(warnings === null ? [] : [warnings]), ...(isProblem ? [`${answer.status} ${answer.text}`] : [])];
}
