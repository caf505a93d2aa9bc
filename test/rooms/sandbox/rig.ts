import { expect } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/index.ts';
import { ApiDocument, type WrittenDocument } from '../../rig/api-document.ts';

export const apiKey = 'sandbox_live_local';
export const jsonHeaders = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };

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

/** Where jobs of a kind are created, and where they are asked for. */
export const paths = {
  image: { create: 'image-generations/create', status: 'image/status' },
  influencer: { create: 'influencer-studio/create', status: 'image/status' },
  thumbnail: { create: 'thumbnails/create', status: 'image/status' },
  music: { create: 'music-generations/create', status: 'music/status' },
  voiceover: { create: 'voiceovers/create', status: 'voiceovers/status' },
  video: { create: 'videos/create', status: 'video/status' },
  clipping: { create: 'clippings/create', status: 'clippings/status' },
} as const;

export type KindName = keyof typeof paths;

/** A body that each kind accepts. */
export const goodBodies: Record<KindName, Record<string, unknown>> = {
  image: { prompt: 'a lamp', resolution: '1k' },
  influencer: { prompt: 'a presenter' },
  thumbnail: { title: 'How lamps are made' },
  music: { prompt: 'calm', model: 'song-7.5' },
  voiceover: { text: 'A lamp like no other.', voice_id: 'Alice' },
  video: { prompt: 'a slow push in' },
  clipping: { videoUrl: 'https://cdn.example.com/talk.mp4' },
};

export const kindNames = Object.keys(paths) as KindName[];

export interface Rig {
  readonly sandbox: Sandbox;
  /** The clock of the jobs, in ms. */
  readonly clock: { now: number };
  /** Every answer is held against the OpenAPI document, unless faults are scripted. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  create(kind: KindName, body: unknown, options?: CallOptions): Promise<Answer>;
  createImage(body: object, options?: CallOptions): Promise<Answer>;
  createMusic(body: object, options?: CallOptions): Promise<Answer>;
  /** Creates a job and gives its id; throws when it was not accepted. */
  jobId(kind: KindName, body: object): Promise<string>;
  imageId(body: object): Promise<string>;
  musicId(body: object): Promise<string>;
  status(kind: KindName, id: string): Promise<Record<string, unknown>>;
  /** The bytes of the output of a job. */
  output(kind: KindName, id: string): Promise<Buffer>;
  outputUrl(kind: KindName, id: string): Promise<string>;
}

/** The OpenAPI document that the sandbox serves. */
export async function readDocument() {
  const sandbox = createSandbox();
  const answer = await sandbox.fetch(new Request('http://sandbox.test/api/v1/openapi.json'));
  await sandbox.close();
  return (await answer.json()) as WrittenDocument;
}

let served: Promise<ApiDocument> | undefined;

/** A sandbox without a socket, with a clock that stands still. */
export function openRig(options: SandboxOptions = {}): Rig {
  const clock = { now: Date.UTC(2030, 0, 1) };
  const created = createSandbox({ now: () => clock.now, ...options });
  let isHonest = options.faults === undefined;
  const sandbox: Sandbox = {
    ...created,
    addFaults(faults) {
      isHonest = false;
      created.addFaults(faults);
    },
  };

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
    const answer = { status: response.status, headers: response.headers, body: parse(text), text };
    if (isHonest && answer.status !== 503) {
      served ??= readDocument().then((document) => new ApiDocument(document));
      const operation = (await served).find(method, path.split('?')[0] ?? '');
      const problems = operation === undefined ? [] : (await served).problemsOfAnswer(operation, answer);
      expect(problems, `${method} ${path}: ${text.slice(0, 500)}`).toEqual([]);
    }
    return answer;
  };

  const create: Rig['create'] = (kind, body, more) => call('POST', `/api/v1/${paths[kind].create}`, { body, ...more });
  const status: Rig['status'] = async (kind, id) =>
    dataOf((await call('GET', `/api/v1/${paths[kind].status}/${id}`)).body);
  const outputUrl: Rig['outputUrl'] = async (kind, id) => String((await status(kind, id)).outputUrl);
  const jobId: Rig['jobId'] = async (kind, body) => idOf(await create(kind, body));

  return {
    sandbox,
    clock,
    call,
    create,
    createImage: (body, more) => create('image', body, more),
    createMusic: (body, more) => create('music', body, more),
    jobId,
    imageId: (body) => jobId('image', body),
    musicId: (body) => jobId('music', body),
    status,
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

/** The job's id, wherever the answer to its create has it. */
export function idOf(answer: Answer): string {
  const generation = answer.body.generation as { id?: unknown } | undefined;
  const { jobId, id } = dataOf(answer.body);
  const found = generation?.id ?? jobId ?? id;
  if (typeof found !== 'string') throw new Error(`no job: ${answer.status} ${answer.text}`);
  return found;
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}
