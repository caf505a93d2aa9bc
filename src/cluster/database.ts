import { setMaxListeners } from 'node:events';
import type pg from 'pg';
import { CampaignError } from '../contract/failure.ts';
import { messageOf } from '../ground/values.ts';
import { isAway, isClash } from './away.ts';
import { showEngine } from './engine-url.ts';
import { loadPackage } from './load-packages.ts';

export interface Sql {
  /** Rows of one statement. */
  query<Row>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

/**
 * Postgres as a place that may be away for a while. Every call waits for it and is made again: a statement is to be
 * idempotent, or guarded. Rejects with what does not pass by itself, and when the database is closed or `signal` aborts.
 */
export interface Database extends Sql {
  /** All or nothing; `work` may be called again, and so may what has been committed, when the answer to that was lost. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  /** Calls `act` until the server answers it: for calls of the queue, which has connections of its own. */
  persist<T>(act: () => Promise<T>): Promise<T>;
  /** `on` hears each notification, and once after each new connection, because some may have been missed. */
  listen(channel: string, on: (payload: string | undefined) => void): Promise<{ close(): Promise<void> }>;
  /** Since when the server has been away, by `performance.now()`; `undefined`: it answers. */
  readonly awaySince: number | undefined;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Shown in `pg_stat_activity`. */
  name: string;
  signal?: AbortSignal;
  /** Connections at most. Default: 8. */
  most?: number;
  /** Called once when the server goes away, with what was seen. */
  onAway?(error: Error): void;
  onBack?(): void;
}

/** After this time nobody waits for a statement any more, in ms. */
const statementMs = 60_000;
/**
 * Settings of each connection, whatever is set for this user or database: a fact is durable when its call resolves,
 * whoever has waited for a row sees what was committed meanwhile, and a statement lasts as long as its answer is waited
 * for: those of connections that were given up do not pile up behind a lock.
 */
const ownSettings = `SELECT set_config('default_transaction_isolation', 'read committed', false);
  SELECT set_config('statement_timeout', '${statementMs}', false);
  SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`;
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
  readonly #listeners = new Set<{ close(): Promise<void> }>();
  #awaySince: number | undefined;

  constructor(driver: typeof pg, url: string, options: DatabaseOptions) {
    this.#driver = driver;
    this.#url = url;
    this.#options = options;
    this.#config = {
      connectionString: url,
      application_name: options.name,
      max: options.most ?? 8,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      // A process that freezes inside a transaction must not hold its locks: another head would wait for it for ever.
      idle_in_transaction_session_timeout: 10_000,
      // A connection whose other end is gone without a word is given up.
      query_timeout: statementMs,
      onConnect: (client) => client.query(ownSettings).then(() => {}),
    };
    this.#pool = new driver.Pool(this.#config);
    // Each call that waits for the server listens to it.
    setMaxListeners(0, this.#closing.signal);
    // Of connections that nobody uses at the moment; whoever uses one is told by its call.
    this.#pool.on('error', () => {});
    options.signal?.addEventListener('abort', () => this.#closing.abort(), { once: true });
    if (options.signal?.aborted) this.#closing.abort();
  }

  get awaySince(): number | undefined {
    return this.#awaySince;
  }

  /** The first statement: what is wrong with the address is told now, and a server that is away is not waited for. */
  async reach(): Promise<void> {
    try {
      await this.#pool.query('SELECT 1');
    } catch (error) {
      if (this.#closing.signal.aborted) throw error;
      const why = isPasswordMissing(error) ? 'it wants a password, and none is given' : messageOf(error);
      const message = `the engine ${showEngine(this.#url)} cannot be used: ${why}`;
      throw new CampaignError({ code: 'MB3702', message, hint: hintFor(error) }, { cause: error });
    }
  }

  query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.persist(async () => (await this.#pool.query(text, [...values])).rows as Row[]);
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
    let client: pg.Client | undefined;
    let isClosed = false;
    const connect = async () => {
      const next = new this.#driver.Client(this.#config);
      next.on('notification', ({ payload }) => on(payload));
      next.on('error', () => {});
      try {
        await next.connect();
        await next.query(`LISTEN ${this.#driver.escapeIdentifier(channel)}`);
      } catch (error) {
        void next.end().catch(() => {});
        throw error;
      }
      if (isClosed || this.#closing.signal.aborted) return void next.end().catch(() => {});
      client = next;
      // Only from here on: an attempt that fails ends, too.
      next.on('end', () => {
        if (!isClosed) void again();
      });
      on(undefined);
    };
    const again = async () => {
      client = undefined;
      for (let tries = 0; !isClosed && !this.#closing.signal.aborted; tries += 1) {
        await this.#pause(tries);
        try {
          if (!isClosed) await connect();
          return;
        } catch {}
      }
    };
    await this.persist(connect);
    const listener = {
      close: async () => {
        isClosed = true;
        this.#listeners.delete(listener);
        await withinMs(
          client?.end().catch(() => {}),
          closingMs,
        );
      },
    };
    this.#listeners.add(listener);
    return listener;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#listeners].map((one) => one.close()));
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
        if (this.#closing.signal.aborted || !(isAway(error) || isClash(error))) throw error;
        if (isAway(error) && tries > 0) this.#note(error as Error);
        await this.#pause(tries);
      }
    }
  }

  /** A connection that broke once is no news. */
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

async function withinMs(act: Promise<void> | undefined, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([act, late]).finally(() => clearTimeout(timer));
}

/** The client says it in words of its protocol, and without a code. */
function isPasswordMissing(error: unknown): boolean {
  return /client password must be a (non-empty )?string/.test(messageOf(error));
}

function hintFor(error: unknown): string {
  if (isPasswordMissing(error)) return 'put it into PGPASSWORD or into MEDIABATCH_ENGINE';
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case '28P01':
    case '28000':
      return 'user or password are not those of this server: put the password into PGPASSWORD or into MEDIABATCH_ENGINE';
    case '08P01':
      return 'that looks like a pooler: name the server itself, or a pooler that keeps sessions (not one for transactions)';
    case '3D000':
      return 'there is no such database: createdb makes one';
    case 'ENOTFOUND':
      return 'no host has this name';
    default:
      return 'check the address, and whether the server runs; nothing was sent';
  }
}
