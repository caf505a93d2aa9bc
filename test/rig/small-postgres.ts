import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startPostgres } from './postgres-server.ts';

export interface SmallServer {
  url: string;
  stop(): Promise<void>;
  /** Where it was. */
  startAgain(): Promise<void>;
}

/** A server of a test's own, with room for five connections of roles without rights. */
export async function smallServer(): Promise<SmallServer> {
  const folder = mkdtempSync(join(tmpdir(), 'mediabatch-small-'));
  // As root the server runs as another user.
  chmodSync(folder, 0o755);
  const settings = { max_connections: '8', superuser_reserved_connections: '3', fsync: 'off', autovacuum: 'off' };
  const start = (given: { port?: string }) => startPostgres(join(folder, 'engine'), { ...settings, ...given });
  let server = await start({});
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const { url } = server;
  return {
    url,
    stop: () => server.stop(),
    async startAgain() {
      server = await start({ port: new URL(url).port });
    },
  };
}
