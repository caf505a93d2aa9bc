import { setMaxListeners } from 'node:events';
import type pg from 'pg';
import { CampaignError } from '../../contract/failure.ts';
import { loadPackage } from '../load-packages.ts';
import { Listening } from './listening.ts';
import {
  checkEngineUrl,
  connectionString,
  hasNoRoom,
  isClash,
  isUnreachable,
  refusalOf,
  showEngine,
  unusable,
} from './server-errors.ts';

export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * PostgreSQL connection pool that survives outages. Calls are repeated until the server answers, so statements must be
 * idempotent. Calls reject after a permanent error, and after an abort of `signal`.
 */
export interface Database extends Sql {
  /** Calls `work` in a transaction, and calls `work` again if the server's answer to COMMIT was lost. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  persist<T>(act: () => Promise<T>): Promise<T>;
  ask(text: string, values?: unknown[]): Promise<unknown>;
  /**
   * Calls `on` with each payload, and with `undefined` after each connect, because notifications may have been missed.
   * Returns a function that removes the listener.
   */
  listen(channel: string, on: (payload: string | undefined) => void): () => void;
  /** Start of the current outage by `performance.now()`. Undefined while the server answers. */
  readonly unreachableSince: number | undefined;
  close(): Promise<void>;
}

interface DatabaseOptions {
  name: string;
  signal?: AbortSignal;
  most?: number;
  onUnreachable?(error: Error): void;
  onBack?(): void;
}

const statementMs = 60_000;
/**
 * Settings of each connection, for durable commits. A process that is suspended in a transaction loses its row locks.
 * The settings are set by SQL, because poolers accept few startup parameters.
 */
const ownSettings = `SELECT set_config('default_transaction_isolation', 'read committed', false);
  SELECT set_config('statement_timeout', '${statementMs}', false);
  SELECT set_config('idle_in_transaction_session_timeout', '10000', false);
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
const roomMs = 2000;
const closingMs = 3000;
const pauses = [50, 100, 250, 500, 1000, 2000];

export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  checkEngineUrl(url);
  const { default: driver } = await loadPackage('pg', () => import('pg'));
  const database = new PostgresDatabase(driver, url, options);
  try {
    await database.reach();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

class PostgresDatabase implements Database {
  readonly #driver: typeof pg;
  readonly #config: pg.PoolConfig;
  readonly #url: string;
  readonly #options: DatabaseOptions;
  readonly #pool: pg.Pool;
  readonly #closing = new AbortController();
  readonly #listening: Listening;
  #unreachableSince: number | undefined;

  constructor(driver: typeof pg, url: string, options: DatabaseOptions) {
    this.#driver = driver;
    this.#url = url;
    this.#options = options;
    this.#config = {
      connectionString: connectionString(url),
      application_name: options.name,
      max: options.most ?? 8,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      // A query needs a time limit, because a connection that was lost without a reset never answers.
      query_timeout: statementMs,
      onConnect: async (client) => void (await client.query(ownSettings)),
    };
    this.#pool = new driver.Pool(this.#config);
    this.#listening = new Listening({
      open: () => this.#connect(),
      pause: (tries) => this.#pause(tries),
      quote: (channel) => driver.escapeIdentifier(channel),
      signal: this.#closing.signal,
    });
    // Disables Node's warning about many listeners: each waiting call adds a listener.
    setMaxListeners(0, this.#closing.signal);
    // Ignores errors of idle connections. A connection in use reports its error to its caller.
    this.#pool.on('error', () => {});
    options.signal?.addEventListener('abort', () => this.#closing.abort(), { once: true });
    if (options.signal?.aborted) this.#closing.abort();
  }

  get unreachableSince(): number | undefined {
    return this.#unreachableSince;
  }

  /** Executes the first statement. Tries to connect only once: throws at once if the server does not answer. */
  async reach(): Promise<void> {
    const since = performance.now();
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#tryToReach();
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (!hasNoRoom(error) || performance.now() - since > roomMs) throw unusable(error, this.#url);
        await this.#pause(tries);
      }
    }
  }

  async #tryToReach(): Promise<void> {
    const client = await this.#pool.connect();
    let broken = true;
    try {
      await refuseSharedSessions(client, { url: this.#url, open: () => this.#connect() });
      broken = false;
    } finally {
      client.release(broken);
    }
  }

  async #connect(): Promise<pg.Client> {
    const client = new this.#driver.Client(this.#config);
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(ownSettings);
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.persist(async () => (await this.#pool.query(text, [...values])).rows as Row[]);
  }

  ask(text: string, values?: unknown[]): Promise<unknown> {
    return this.#pool.query(text, values);
  }

  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return this.persist(async () => {
      const client = await this.#pool.connect();
      let broken: Error | undefined;
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      try {
        await client.query('BEGIN');
        const done = await work({ query: async (text, values = []) => (await client.query(text, [...values])).rows });
        // The server answers the COMMIT of a failed transaction with ROLLBACK.
        if ((await client.query('COMMIT')).command !== 'COMMIT')
          throw new Error('internal error: a failed transaction');
        return done;
      } catch (error) {
        if (error instanceof Error && isUnreachable(error)) broken ??= error;
        if (broken !== undefined) throw error;
        await client.query('ROLLBACK').catch((failed: Error) => {
          broken ??= failed;
        });
        throw error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    });
  }

  listen(channel: string, on: (payload: string | undefined) => void): () => void {
    return this.#listening.listen(channel, on);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await withinMs(this.#listening.closed(), closingMs);
    if (!this.#pool.ending) await withinMs(this.#pool.end(), closingMs);
  }

  async persist<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      if (this.#closing.signal.aborted) throw new Error('the database is closed');
      try {
        const done = await act();
        if (this.#unreachableSince !== undefined) {
          this.#unreachableSince = undefined;
          this.#options.onBack?.();
        }
        return done;
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (!(isUnreachable(error) || isClash(error))) throw refusalOf(error, this.#url) ?? error;
        if (isUnreachable(error) && tries > 0) this.#note(error as Error);
        await this.#pause(tries);
      }
    }
  }

  #note(error: Error): void {
    if (this.#unreachableSince !== undefined) return;
    this.#unreachableSince = performance.now();
    this.#options.onUnreachable?.(error);
  }

  #pause(tries: number): Promise<void> {
    const ms = pauses[Math.min(tries, pauses.length - 1)] ?? 0;
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms * (0.5 + Math.random() / 2));
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

const patienceMs = 3000;
const looks = 4;

/** Throws MB3702 if a pooler shares server connections between sessions: LISTEN and settings then fail. */
async function refuseSharedSessions(
  client: pg.ClientBase,
  { url, open }: { url: string; open(): Promise<pg.Client> },
): Promise<void> {
  const own = await serverOf(client);
  // If a pooler is used, the process id of the session differs from that of the server process.
  if ('processID' in client && client.processID === own) return;
  const other = await open();
  try {
    if (!(await areShared(client, other))) return;
  } finally {
    void other.end().catch(() => {});
  }
  throw new CampaignError({
    code: 'MB3702',
    message: `the engine ${showEngine(url)} is a pooler that shares the server's connections between transactions`,
    hint: 'set pool_mode=session in the line of this database under [databases] of PgBouncer, or connect to the PostgreSQL server directly',
  });
}

async function areShared(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const own = await serverOf(one);
  for (let look = 0; look < looks; look += 1) {
    const theirs = await withinMs(serverOf(other), patienceMs);
    // No answer: the pooler has no second server connection, so the first session keeps its own.
    if (theirs === undefined) return false;
    if (theirs === own || (await serverOf(one)) !== own) return true;
  }
  return false;
}

async function serverOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

async function withinMs<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
