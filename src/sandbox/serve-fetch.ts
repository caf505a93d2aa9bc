import { cutPieces, pacePieces, readPieces } from './pieces.ts';
import { type Answer, type Body, type Call, largestBodyBytes, type Reply } from './wire.ts';

/** The service without a socket: a reset rejects, a hang never settles (unless the request is aborted). */
export async function serveFetch(request: Request, serve: (call: Call) => Promise<Reply>): Promise<Response> {
  const url = new URL(request.url);
  const reply = await serve({
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    origin: `${url.protocol}//${request.headers.get('host') ?? url.host}`,
    header: (name) => request.headers.get(name) ?? undefined,
    isLocal: true,
    body: await readBody(request),
  });
  switch (reply.type) {
    case 'reset':
      throw new TypeError('fetch failed: the connection was reset');
    case 'hang':
      return new Promise((_resolve, reject) => {
        const leave = () => {
          reply.abandoned();
          reject(request.signal.reason);
        };
        if (request.signal.aborted) leave();
        else request.signal.addEventListener('abort', leave, { once: true });
      });
    case 'answer':
      return toResponse(reply, request.method);
    default:
      return unknownReply(reply);
  }
}

async function readBody(request: Request): Promise<Body> {
  if (request.method === 'PUT') return { type: 'stream', chunks: request.body ?? readPieces(nothing) };
  const bytes = Buffer.from(await request.arrayBuffer());
  return bytes.length > largestBodyBytes ? { type: 'too large' } : { type: 'whole', bytes };
}

const nothing = { type: 'bytes', bytes: Buffer.alloc(0) } as const;

function toResponse(answer: Answer, method: string): Response {
  const bodiless = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  return new Response(bodiless ? null : bodyOf(answer), { status: answer.status, headers: answer.headers });
}

function bodyOf({ body, delivery }: Answer): Uint8Array<ArrayBuffer> | ReadableStream {
  switch (delivery.type) {
    case 'whole':
      return body.type === 'bytes' ? new Uint8Array(body.bytes) : ReadableStream.from(readPieces(body));
    case 'cut':
      return ReadableStream.from(breakOff(cutPieces(readPieces(body), delivery.bytes)));
    case 'paced':
      return ReadableStream.from(pacePieces(readPieces(body), delivery.bytesPerSecond));
    default:
      return unknownReply(delivery);
  }
}

async function* breakOff(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* pieces;
  throw new TypeError('terminated: the connection was closed before the body ended');
}

function unknownReply(reply: never): never {
  throw new Error(`internal error: unknown reply ${JSON.stringify(reply)}`);
}
