import { createServer, type Server as HttpServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Serves requests on loopback until the test ends. Resolves with the origin. */
export function serveHere(handle: RequestListener): Promise<string> {
  return listenHere(createServer(handle));
}

/** Has a server listen on loopback until the test ends, and its HTTP connections with it. Resolves with the origin. */
export async function listenHere(server: Server | HttpServer): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
