import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { isLoopbackAddress } from './own-url.ts';
import { cutPieces, pacePieces, readPieces } from './pieces.ts';
import { type Answer, type Body, type Call, largestBodyBytes, type Reply } from './wire.ts';

export interface Listener {
  /** URL of the API. Ends in `/api/v1`. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** Listens for HTTP requests. Port 0 means a free port. Rejects if the port is in use. */
export async function listenHttp(
  serve: (call: Call) => Promise<Reply>,
  options: { readonly port: number; readonly host: string },
): Promise<Listener> {
  const server = createServer((request, response) => {
    // Errors of a connection are ignored, because the client may close it at any time.
    response.on('error', () => undefined);
    handle(serve, request, response).catch(() => request.socket.destroy());
  });
  // Requests have no timeout, because a large upload may take long.
  server.requestTimeout = 0;
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
  const [path = '/', ...query] = (request.url ?? '/').split('?');
  const reply = await serve({
    method: request.method ?? 'GET',
    path,
    query: new URLSearchParams(query.join('?')),
    origin: `http://${request.headers.host ?? 'localhost'}`,
    header: (name) => {
      const value = request.headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    isLocal: isLoopbackAddress(request.socket.remoteAddress ?? ''),
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
      await readToEnd(request);
      await send(response, reply, request.method === 'HEAD');
      return;
    default:
      reply satisfies never;
  }
}

/** Reads a request body to its end, even if it is too large: clients read the answer only after they sent the body. */
async function readBody(request: IncomingMessage): Promise<Body | 'gone'> {
  // If the handler stops reading the body early, the connection stays open for the answer.
  if (request.method === 'PUT') return { type: 'stream', chunks: request.iterator({ destroyOnReturn: false }) };
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
  return size > largestBodyBytes ? { type: 'too large' } : { type: 'whole', bytes: Buffer.concat(chunks) };
}

async function readToEnd(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  await new Promise<void>((resolve) => {
    request.once('close', resolve);
    request.once('end', resolve);
    request.once('error', () => resolve());
    request.resume();
  });
}

async function send(response: ServerResponse, answer: Answer, headOnly: boolean): Promise<void> {
  response.writeHead(answer.status, { ...answer.headers });
  const { body, delivery } = answer;
  if (headOnly || (delivery.type === 'whole' && body.type === 'bytes')) {
    response.end(headOnly || body.type === 'file' ? undefined : body.bytes);
    return;
  }
  switch (delivery.type) {
    case 'whole':
      await write(response, readPieces(body));
      response.end();
      return;
    case 'cut':
      await write(response, cutPieces(readPieces(body), delivery.bytes));
      response.socket?.destroy();
      return;
    case 'paced':
      await write(response, pacePieces(readPieces(body), delivery.bytesPerSecond));
      response.end();
      return;
    default:
      delivery satisfies never;
  }
}

/** Writes each piece of an answer after the previous piece was flushed. Stops if the client closed the connection. */
async function write(response: ServerResponse, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of pieces) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('close', done);
        resolve();
      };
      response.once('close', done);
      response.write(piece, done);
    });
  }
}
