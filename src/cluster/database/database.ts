import { setMaxListeners } from 'node:events';
import type pg from 'pg';
import { loadPackage } from '../load-packages.ts';
import { connectionString } from './engine-url.ts';
import { Listening } from './listening.ts';
import { refuseSharedSessions, withinMs } from './pooler.ts';
import { hasNoRoom, isAway, isClash, noRoomLeft, refusalOf, unusable } from './server-errors.ts';

export interface Sql {
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Postgres as a place that may be away for a while. Every call waits for it and is made again: a statement is to be
 * idempotent, or guarded. Rejects with what does not pass by itself, and when the database is closed or `signal` aborts.
 */
export interface Database extends Sql {
  /** All or nothing; `work` may be called again, and so may what has been committed, when the answer to that was lost. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Calls `act` until the server answers it: for calls of the queue. */
  persist<T>(act: () => Promise<T>): Promise<T>;
  /** Asks once, and gives the driver's own answer: for the queue, whose calls are made again as a whole. */
  ask(text: string, values?: unknown[]): Promise<unknown>;
  /** `on` receives each notification, and is called once after each new connection, because some may have been missed. */
  listen(channel: string, on: (payload: string | undefined) => void): Promise<{ close(): Promise<void> }>;
  /** Since when the server has been away, by `performance.now()`; `undefined`: it answers. */
  readonly awaySince: number | undefined;
  readonly connections: number;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Shown in `pg_stat_activity`. */
  name: string;
  signal?: AbortSignal;
  /** Connections at most. Default: 8. */
  most?: number;
  /** Leaves the last free connection of the server to others, such as `cancel`. */
  keepsOneFree?: boolean;
  /** Called once when the server goes away, with what was seen. */
  onAway?(error: Error): void;
  onBack?(): void;
}

/** Timeout of a statement, in ms. */
const statementMs = 60_000;
/**
 * Settings of each connection, whatever is set for this user or database: a fact is durable when its call resolves,
 * a transaction that waited for a row sees what was committed meanwhile, and a statement ends when its caller gives up: those
 * of abandoned connections do not pile up behind a lock. A process that freezes inside a transaction
 * does not hold its locks: another head would wait for it for ever. As statements, because poolers let few settings through
 * at a session's start.
 */
const ownSettings = `SELECT set_config('default_transaction_isolation', 'read committed', false);
  SELECT set_config('statement_timeout', '${statementMs}', false);
  SELECT set_config('idle_in_transaction_session_timeout', '10000', false);
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
/** Connections that the server still has for roles like this one. Everybody may read these numbers. */
const freePlaces = `SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true), '0')::int
    - (SELECT sum(numbackends) FROM pg_stat_database)::int AS free`;
/** Time in which a first connection waits for a place on a server that has none, in ms. */
const roomMs = 2000;
/** A server that is frozen does not answer goodbyes. */
const closingMs = 3000;
/** Pauses between attempts, in ms; the last one stays. */
const pauses = [50, 100, 250, 500, 1000, 2000];

export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
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
  #awaySince: number | undefined;

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
      // A connection whose other end is gone without a word is given up.
      query_timeout: statementMs,
      onConnect: (client) => this.#settle(client),
    };
    this.#pool = new driver.Pool(this.#config);
    this.#listening = new Listening({
      open: () => this.#connect(),
      persist: (act) => this.persist(act),
      pause: (tries) => this.#pause(tries),
      quote: (channel) => driver.escapeIdentifier(channel),
      signal: this.#closing.signal,
    });
    // Each call that waits for the server listens to it.
    setMaxListeners(0, this.#closing.signal);
    // Errors of idle connections. One in use reports its error to its caller.
    this.#pool.on('error', () => {});
    options.signal?.addEventListener('abort', () => this.#closing.abort(), { once: true });
    if (options.signal?.aborted) this.#closing.abort();
  }

  get connections(): number {
    return this.#pool.totalCount + (this.#listening.isConnected ? 1 : 0);
  }

  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** The first statement: reports a wrong address at once, and does not wait for a server that is away. */
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

  /** A connection outside the pool. */
  async #connect(): Promise<pg.Client> {
    const client = new this.#driver.Client(this.#config);
    client.on('error', () => {});
    try {
      await client.connect();
      await this.#settle(client);
      return client;
    } catch (error) {
      void client.end().catch(() => {});
      throw error;
    }
  }

  async #settle(client: pg.ClientBase): Promise<void> {
    await client.query(ownSettings);
    if (this.#options.keepsOneFree !== true) return;
    const { rows } = await client.query<{ free: number }>(freePlaces);
    if ((rows[0]?.free ?? 1) < 1) throw noRoomLeft();
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
        // A transaction that has failed answers with ROLLBACK.
        if ((await client.query('COMMIT')).command !== 'COMMIT')
          throw new Error('internal error: a failed transaction');
        return done;
      } catch (error) {
        if (error instanceof Error && isAway(error)) broken ??= error;
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

  async listen(channel: string, on: (payload: string | undefined) => void): Promise<{ close(): Promise<void> }> {
    const ear = await this.#listening.listen(channel, on);
    return { close: () => withinMs(ear.close(), closingMs) };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await withinMs(this.#listening.close(), closingMs);
    if (!this.#pool.ending) await withinMs(this.#pool.end(), closingMs);
  }

  async persist<T>(act: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      if (this.#closing.signal.aborted) throw new Error('the database is closed');
      try {
        const done = await act();
        if (this.#awaySince !== undefined) {
          this.#awaySince = undefined;
          this.#options.onBack?.();
        }
        return done;
      } catch (error) {
        if (this.#closing.signal.aborted) throw error;
        if (!(isAway(error) || isClash(error))) throw refusalOf(error, this.#url) ?? error;
        if (isAway(error) && tries > 0) this.#note(error as Error);
        await this.#pause(tries);
      }
    }
  }

  /** The first broken connection is not reported. */
  #note(error: Error): void {
    if (this.#awaySince !== undefined) return;
    this.#awaySince = performance.now();
    this.#options.onAway?.(error);
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
