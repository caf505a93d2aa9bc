import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { onTestFinished } from 'vitest';

/** Serves requests on loopback until the test ends. Resolves with the origin. */
export function serveHere(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  onTestFinished(() => server.closeAllConnections());
  return listenHere(server);
}

/** Has a server listen on loopback until the test ends. Resolves with the origin. */
export async function listenHere(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
