import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { listenHere } from '../../rig/listen.ts';

/** Until the test ends. Gives the port. */
export async function listen(server: Parameters<typeof listenHere>[0]): Promise<number> {
  return Number(new URL(await listenHere(server)).port);
}

export interface Seen {
  url: string;
  headers: IncomingMessage['headers'];
  /** The other end of the connection. */
  port: number | undefined;
}

/** A server that does with every request what it is told. */
export async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    seen.push({ url: request.url ?? '', headers: request.headers, port: request.socket.remotePort });
    request.resume().on('end', () => handle(request, response));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

/** A port on which every connection meets the same fate. */
export async function tcp(onSocket: (socket: Socket) => void): Promise<number> {
  return listen(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      onSocket(socket);
    }),
  );
}

/** A port that answers the first request of each connection with these very bytes; `end`: and closes it. */
export async function raw(bytes: string | Buffer, { end = false } = {}): Promise<number> {
  return tcp((socket) => {
    socket.once('data', () => {
      socket.write(bytes);
      if (end) socket.end();
    });
  });
}
