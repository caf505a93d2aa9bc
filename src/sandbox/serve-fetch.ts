import { setTimeout as wait } from 'node:timers/promises';
import { type Answer, type Call, largestBodyBytes, type Reply } from './wire.ts';

/** The service without a socket: a reset rejects, a hang never settles (unless the request is aborted). */
export async function serveFetch(request: Request, serve: (call: Call) => Promise<Reply>): Promise<Response> {
  const url = new URL(request.url);
  const body = Buffer.from(await request.arrayBuffer());
  const reply = await serve({
    method: request.method,
    path: url.pathname,
    origin: `${url.protocol}//${request.headers.get('host') ?? url.host}`,
    header: (name) => request.headers.get(name) ?? undefined,
    body: body.length > largestBodyBytes ? 'too large' : body,
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

function toResponse(answer: Answer, method: string): Response {
  const bodiless = method === 'HEAD' || answer.status === 204 || answer.status === 304;
  return new Response(bodiless ? null : bodyOf(answer), { status: answer.status, headers: answer.headers });
}

function bodyOf(answer: Answer): Uint8Array<ArrayBuffer> | ReadableStream {
  const bytes = new Uint8Array(answer.body);
  const { delivery } = answer;
  switch (delivery.type) {
    case 'whole':
      return bytes;
    case 'cut':
      return new ReadableStream({
        start(controller) {
          controller.enqueue(bytes.subarray(0, delivery.bytes));
        },
        pull(controller) {
          controller.error(new TypeError('terminated: the connection was closed before the body ended'));
        },
      });
    case 'paced':
      return ReadableStream.from(paceBytes(bytes, delivery.bytesPerSecond));
    default:
      return unknownReply(delivery);
  }
}

/** The bytes in ten pieces a second. */
export async function* paceBytes(bytes: Uint8Array, bytesPerSecond: number): AsyncGenerator<Uint8Array> {
  const pieceBytes = Math.max(1, Math.round(bytesPerSecond / 10));
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    yield bytes.subarray(from, from + pieceBytes);
    if (from + pieceBytes < bytes.length) await wait((pieceBytes / bytesPerSecond) * 1000);
  }
}

function unknownReply(reply: never): never {
  throw new Error(`internal error: unknown reply ${JSON.stringify(reply)}`);
}
