import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadPackage } from './load-packages.ts';
import { startPostgres } from './postgres-server.ts';

/** A PostgreSQL of one's own in the state folder. */
export interface EmbeddedEngine {
  url: string;
  /** Stops it, if it was started here. */
  close(): Promise<void>;
}

/**
 * The engine in `folder`, for `--engine embedded`: started, unless another process of this machine has. It ends with the
 * process that started it, and what it knows stays.
 */
export async function openEmbedded(folder: string): Promise<EmbeddedEngine> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, 'address');
  const running = readAddress(note);
  if (running !== undefined && (await answers(running))) return { url: running, close: async () => {} };
  const server = await startPostgres(folder);
  writeFileSync(note, `${server.url}\n`, { mode: 0o600 });
  return {
    url: server.url,
    async close() {
      rmSync(note, { force: true });
      await server.stop();
    },
  };
}

function readAddress(note: string): string | undefined {
  try {
    return readFileSync(note, 'utf8').trim();
  } catch {
    return undefined;
  }
}

async function answers(url: string): Promise<boolean> {
  const { default: driver } = await loadPackage('pg', () => import('pg'));
  const client = new driver.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
