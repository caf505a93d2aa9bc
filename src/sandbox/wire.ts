export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json;
}

export interface Call {
  readonly method: string;
  /** Percent-encoded path of the URL without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Scheme and host of the URL, for example `http://127.0.0.1:4010`. */
  readonly origin: string;
  readonly header: (name: string) => string | undefined;
  readonly isLocal: boolean;
  readonly body: Body;
}

/**
 * `too large`: more than 10 MB. `stream`: body of a PUT, which can be read only once, and throws if the connection
 * breaks.
 */
export type Body =
  | { readonly type: 'whole'; readonly bytes: Buffer }
  | { readonly type: 'too large' }
  | { readonly type: 'stream'; readonly chunks: AsyncIterable<Uint8Array> };

export type Reply = Answer | { readonly type: 'reset' } | Hang;

export interface Answer {
  readonly type: 'answer';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Content;
  readonly delivery: Delivery;
}

/** Body of an answer. `file`: `size` bytes of a file from offset `first`, streamed from disk. */
export type Content =
  | { readonly type: 'bytes'; readonly bytes: Buffer }
  | { readonly type: 'file'; readonly path: string; readonly first: number; readonly size: number };

/** How the sandbox sends the body. `cut`: announces the whole length, sends `bytes` bytes and closes the connection. */
type Delivery =
  | { readonly type: 'whole' }
  | { readonly type: 'cut'; readonly bytes: number }
  | { readonly type: 'paced'; readonly bytesPerSecond: number };

/** The request gets no answer. `abandoned` is called when the client closes the connection. */
interface Hang {
  readonly type: 'hang';
  readonly abandoned: () => void;
}

export const largestBodyBytes = 10 * 1024 * 1024;

export function answerContent(status: number, headers: Readonly<Record<string, string>>, body: Content): Answer {
  const size = body.type === 'bytes' ? body.bytes.length : body.size;
  return {
    type: 'answer',
    status,
    headers: { ...headers, 'content-length': String(size) },
    body,
    delivery: { type: 'whole' },
  };
}

export function answerBytes(status: number, headers: Readonly<Record<string, string>>, bytes: Buffer): Answer {
  return answerContent(status, headers, { type: 'bytes', bytes });
}

export function answerJson(status: number, body: Json, headers: Readonly<Record<string, string>> = {}): Answer {
  const bytes = Buffer.from(JSON.stringify(body));
  return answerBytes(status, { 'content-type': 'application/json; charset=utf-8', ...headers }, bytes);
}

const errorNames: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Payload Too Large',
  416: 'Range Not Satisfiable',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function answerProblem(problem: Problem): Answer {
  const error = errorNames[problem.status] ?? 'Error';
  return answerJson(
    problem.status,
    { success: false, error, code: problem.code, message: problem.message },
    problem.headers,
  );
}

export class Refusal extends Error {
  readonly answer: Answer;

  constructor(problem: Problem) {
    super(problem.message);
    this.answer = answerProblem(problem);
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function stableJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const parts = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${stableJson(value[name] ?? null)}`);
  return `{${parts.join(',')}}`;
}
