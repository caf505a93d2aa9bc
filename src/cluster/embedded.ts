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
  const server = await startOrFind(folder, note);
  if (typeof server === 'string') return { url: server, close: async () => {} };
  writeFileSync(note, `${server.url}\n`, { mode: 0o600 });
  const keeper = new Keeper(folder, server);
  return {
    url: server.url,
    async close() {
      rmSync(note, { force: true });
      await keeper.close();
    },
  };
}

/** A server of this process, or the address of another's. */
async function startOrFind(folder: string, note: string): Promise<PostgresServer | string> {
  const since = performance.now();
  for (;;) {
    const running = readAddress(note);
    if (running !== undefined && (await answers(running))) return running;
    try {
      return await startPostgres(folder);
    } catch (error) {
      if (!(error instanceof FolderInUseError)) throw error;
      if (performance.now() - since > patienceMs) throw inUse(folder, error);
      await wait(pauseMs);
    }
  }
}

/** A server that somebody has killed is started again where it was: whoever uses it waits for it. */
class Keeper {
  readonly #folder: string;
  readonly #port: string;
  #server: PostgresServer;
  #isClosed = false;
  readonly #kept: Promise<void>;

  constructor(folder: string, server: PostgresServer) {
    this.#folder = folder;
    this.#server = server;
    this.#port = new URL(server.url).port;
    this.#kept = this.#keep();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#server.stop();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    await this.#server.ended;
    while (!this.#isClosed) {
      await wait(pauseMs);
      try {
        this.#server = await startPostgres(this.#folder, { port: this.#port });
      } catch (error) {
        if (error instanceof FolderInUseError) continue;
        // Those who wait for it say so; started anew, it says why.
        return;
      }
      if (this.#isClosed) await this.#server.stop();
      await this.#server.ended;
    }
  }
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
