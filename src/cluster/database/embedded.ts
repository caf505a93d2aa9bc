import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '../../contract/clock.ts';
import { CampaignError } from '../../contract/failure.ts';
import { loadPackage } from '../load-packages.ts';
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
/** Between two looks whether another process's server is still there. */
const lookMs = 1000;

/**
 * The engine in `folder`, for `--engine embedded`: started, unless another process of this machine has. It ends with the
 * process that started it; another one that uses it goes on with it then. What it knows stays.
 */
export async function openEmbedded(folder: string): Promise<EmbeddedEngine> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const note = join(folder, 'address');
  const server = await startOrFind(folder, note);
  const url = typeof server === 'string' ? server : server.url;
  const keeper = new Keeper({ folder, note, url }, typeof server === 'string' ? undefined : server);
  return { url, close: () => keeper.close() };
}

/** Address of the server that a process of this machine runs on `folder`; undefined: none does. */
export async function findEmbedded(folder: string): Promise<string | undefined> {
  const running = readAddress(join(folder, 'address'));
  return running !== undefined && (await answers(running)) ? running : undefined;
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

/**
 * Starts a server again, where it was, when it has ended, because whoever uses it waits: one of this process that
 * somebody has killed, and one of another process that has ended before this one.
 */
class Keeper {
  readonly #place: { folder: string; note: string; url: string };
  /** Undefined: it is another process's. */
  #server: PostgresServer | undefined;
  readonly #closing = new AbortController();
  readonly #kept: Promise<void>;

  constructor(place: { folder: string; note: string; url: string }, server: PostgresServer | undefined) {
    this.#place = place;
    if (server !== undefined) this.#own(server);
    this.#kept = this.#keep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#stop();
    await this.#kept;
  }

  async #stop(): Promise<void> {
    if (this.#server === undefined) return;
    rmSync(this.#place.note, { force: true });
    await this.#server.stop();
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    const { folder, url } = this.#place;
    while (!signal.aborted) {
      if (this.#server !== undefined) await this.#server.ended;
      await systemClock.sleep(this.#server === undefined ? lookMs : pauseMs, signal);
      if (signal.aborted) return;
      if (this.#server === undefined && (await answers(url))) continue;
      try {
        const server = await startPostgres(folder, { port: new URL(url).port });
        this.#own(server);
      } catch (error) {
        if (error instanceof FolderInUseError) continue;
        // Those who wait for it say so; started anew, it says why.
        return;
      }
      // It was closed meanwhile, when there was no server to stop.
      if (signal.aborted) await this.#stop();
    }
  }

  #own(server: PostgresServer): void {
    this.#server = server;
    writeFileSync(this.#place.note, `${server.url}\n`, { mode: 0o600 });
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
