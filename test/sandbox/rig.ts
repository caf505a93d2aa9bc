import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/index.ts';

export const apiKey = 'sandbox_live_local';

/** A token that looks like a JWT with these claims. */
export function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2lnbmF0dXJl`;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
  readonly text: string;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Instead of the API key. Empty: no Authorization header. */
  readonly token?: string;
  readonly key?: string;
}

export interface Rig {
  readonly sandbox: Sandbox;
  /** The clock of the jobs, in ms. */
  readonly clock: { now: number };
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  createImage(body: object, options?: CallOptions): Promise<Answer>;
  createMusic(body: object, options?: CallOptions): Promise<Answer>;
  /** Creates a job and gives its id; throws when it was not accepted. */
  imageId(body: object): Promise<string>;
  musicId(body: object): Promise<string>;
  /** The bytes of the output of a job. */
  output(kind: 'image' | 'music', id: string): Promise<Buffer>;
  outputUrl(kind: 'image' | 'music', id: string): Promise<string>;
}

/** A sandbox without a socket, with a clock that stands still. */
export function openRig(options: SandboxOptions = {}): Rig {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const sandbox = createSandbox({ now: () => clock.now, ...options });

  const call: Rig['call'] = async (method, path, { body, headers = {}, token = apiKey, key } = {}) => {
    const request = new Request(`http://sandbox.test${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const response = await sandbox.fetch(request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parse(text), text };
  };

  const createImage: Rig['createImage'] = (body, more) =>
    call('POST', '/api/v1/image-generations/create', { body, ...more });
  const createMusic: Rig['createMusic'] = (body, more) =>
    call('POST', '/api/v1/music-generations/create', { body, ...more });

  const outputUrl: Rig['outputUrl'] = async (kind, id) => {
    const { body } = await call('GET', `/api/v1/${kind}/status/${id}`);
    return String(dataOf(body).outputUrl);
  };

  return {
    sandbox,
    clock,
    call,
    createImage,
    createMusic,
    imageId: async (body) => idOf(await createImage(body)),
    musicId: async (body) => idOf(await createMusic(body)),
    outputUrl,
    output: async (kind, id) => {
      const response = await sandbox.fetch(new Request(await outputUrl(kind, id)));
      return Buffer.from(await response.arrayBuffer());
    },
  };
}

export function dataOf(body: Record<string, unknown>): Record<string, unknown> {
  return (body.data ?? {}) as Record<string, unknown>;
}

export function idOf(answer: Answer): string {
  const generation = answer.body.generation as { id?: unknown } | undefined;
  if (typeof generation?.id !== 'string') throw new Error(`no job: ${answer.status} ${answer.text}`);
  return generation.id;
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
