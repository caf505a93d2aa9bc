import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CampaignError } from '../contract/failure.ts';
import { loadPackage } from './load-packages.ts';
import { FolderInUseError, type PostgresServer, startPostgres } from './postgres-server.ts';

/** A PostgreSQL of one's own in the state folder. */
export interface EmbeddedEngine {
  url: string;
  /** Stops it, if it was started here. */
  close(): Promise<void>;
}

/** A server that its owner left behind needs a moment to stop, and one that starts to answer. */
const patienceMs = 30_000;
const pauseMs = 200;

/**
 * The engine in `folder`, for `--engine embedded`: started, unless another process of this machine has. It ends with the
 * process that started it, and what it knows stays.
 */
export async function openEmbedded(folder: string): Promise<EmbeddedEngine> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, 'address');
  const since = performance.now();
  let server: PostgresServer | undefined;
  while (server === undefined) {
    const running = readAddress(note);
    if (running !== undefined && (await answers(running))) return { url: running, close: async () => {} };
    try {
      server = await startPostgres(folder);
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      if (performance.now() - since > patienceMs) throw inUse(folder, error);
      await wait(pauseMs);
    }
  }
  const { url, stop } = server;
  writeFileSync(note, `${url}\n`, { mode: 0o600 });
  return {
    url,
    async close() {
      rmSync(note, { force: true });
      await stop();
    },
  };
}

function inUse(folder: string, { message }: Error): CampaignError {
  const pid = /PID (\d+)/.exec(message)?.[1];
  return new CampaignError({
    code: 'MB3706',
    message: `another process${pid === undefined ? '' : ` (${pid})`} holds the embedded PostgreSQL in ${folder}, which does not answer`,
    hint: 'end that process, or wait until it has ended',
  });
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
