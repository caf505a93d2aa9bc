import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { paceBytes } from './serve-fetch.ts';
import { type Answer, type Call, largestBodyBytes, type Reply } from './wire.ts';

export interface Listener {
  /** Ends in `/api/v1`. */
  readonly url: string;
  readonly port: number;
  /** Closes the port and every connection. */
  close(): Promise<void>;
}

/** Rejects when the port is taken. Port 0 takes a free one. */
export async function listenHttp(
  serve: (call: Call) => Promise<Reply>,
  options: { readonly port: number; readonly host: string },
): Promise<Listener> {
  const server = createServer((request, response) => {
    // A caller that goes away in the middle is its own business.
    response.on('error', () => undefined);
    handle(serve, request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('internal error: the server has no port');
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${address.port}/api/v1`,
    port: address.port,
    close: () => closeServer(server),
  };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function handle(
  serve: (call: Call) => Promise<Reply>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  if (body === 'gone') return;
  const reply = await serve({
    method: request.method ?? 'GET',
    path: (request.url ?? '/').split('?', 1)[0] ?? '/',
    origin: `http://${request.headers.host ?? 'localhost'}`,
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    body,
  });
  switch (reply.type) {
    case 'reset':
      request.socket.resetAndDestroy();
      return;
    case 'hang':
      if (request.socket.destroyed) reply.abandoned();
      else request.socket.once('close', reply.abandoned);
      return;
    case 'answer':
      await send(response, reply, request.method === 'HEAD');
      return;
    default:
      unknownReply(reply);
  }
}

/** What is larger than the cap is read to its end but not kept: a caller reads no answer before it has sent its body. */
async function readBody(request: IncomingMessage): Promise<Call['body'] | 'gone'> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= largestBodyBytes) chunks.push(chunk);
    }
  } catch {
    return 'gone';
  }
  return size > largestBodyBytes ? 'too large' : Buffer.concat(chunks);
}

async function send(response: ServerResponse, answer: Answer, headOnly: boolean): Promise<void> {
  response.writeHead(answer.status, { ...answer.headers });
  if (headOnly) {
    response.end();
    return;
  }
  const { delivery } = answer;
  switch (delivery.type) {
    case 'whole':
      response.end(answer.body);
      return;
    case 'cut':
      response.write(answer.body.subarray(0, delivery.bytes), () => response.socket?.destroy());
      return;
    case 'paced':
      for await (const piece of paceBytes(answer.body, delivery.bytesPerSecond)) {
        if (response.destroyed) return;
        response.write(piece);
      }
      response.end();
      return;
    default:
      unknownReply(delivery);
  }
}

function unknownReply(reply: never): never {
  throw new Error(`internal error: unknown reply ${JSON.stringify(reply)}`);
}
