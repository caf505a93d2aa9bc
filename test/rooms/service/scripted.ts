import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { Library, ServiceError } from '../../../src/service/library.ts';
import { listenHere } from '../../rig/listen.ts';

export const key = 'acme_live_secret123456';

/** A request as the server saw it. */
export interface Call {
  method: string;
  /** Below the base, as in `GET /accounts`; others are seen from the root, as in `PUT //storage/x`. */
  name: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** Undefined when it is no JSON. */
  json: { [field: string]: unknown } | undefined;
  bytes: number;
  sha256: string;
}

/** A status with JSON; or anything else that a server may do. */
export type Reply =
  | { status?: number; headers?: { [name: string]: string }; json?: unknown; text?: string }
  | ((response: ServerResponse) => void);

export interface Scripted {
  /** Of the host, without a path. */
  origin: string;
  calls: Call[];
  names(): string[];
  /** Waits of the client, in ms. */
  pauses: number[];
  library: Library;
}

/** A server of this machine with a script, and a client of it on a clock of its own. */
export async function serveScript(answer: (call: Call, count: number) => Reply): Promise<Scripted> {
  const calls: Call[] = [];
  const pauses: number[] = [];
  const counts = new Map<string, number>();
  const server = createServer((request, response) => {
    const hash = createHash('sha256');
    const kept: Buffer[] = [];
    let bytes = 0;
    request.on('error', () => {});
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      hash.update(piece);
      if (request.method !== 'PUT') kept.push(piece);
    });
    request.on('end', () => {
      const url = new URL(request.url ?? '', 'http://x');
      const method = request.method ?? '';
      const isOfApi = url.pathname.startsWith('/api/v1/');
      const name = `${method} ${isOfApi ? url.pathname.slice('/api/v1'.length) : `/${url.pathname}`}`;
      const json = parseJson(Buffer.concat(kept).toString('utf8'));
      const { headers } = request;
      const call = { method, name, query: url.searchParams, headers, json, bytes, sha256: hash.digest('hex') };
      calls.push(call);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      send(response, answer(call, count));
    });
  });
  const origin = await listenHere(server);
  const clock = {
    random: () => 0.5,
    async sleep(ms: number) {
      pauses.push(ms);
    },
  };
  const library = new Library({ baseUrl: `${origin}/api/v1`, token: key, clock, requestTimeoutMs: 2000 });
  onTestFinished(() => library.close());
  return { origin, calls, names: () => calls.map(({ name }) => name), pauses, library };
}

/** What the service sends with an error. */
export function refusal(status: number, headers: { [name: string]: string } = {}): Reply {
  const json = { success: false, error: 'no', code: 'NO', message: `no, ${key} may not` };
  return { status, headers, json };
}

function send(response: ServerResponse, reply: Reply): void {
  if (typeof reply === 'function') {
    reply(response);
    return;
  }
  const { status = 200, headers = {}, json, text = JSON.stringify(json) } = reply;
  response.writeHead(status, headers).end(text);
}

function parseJson(text: string): Call['json'] {
  try {
    return JSON.parse(text) as Call['json'];
  } catch {
    return undefined;
  }
}

/** What a call to the service is refused with. */
export async function failure(work: Promise<unknown>): Promise<ServiceError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ServiceError)) throw new Error(`not refused: ${String(error)}`);
  return error;
}
