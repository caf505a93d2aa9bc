import type pg from 'pg';
import { CampaignError } from '../../contract/failure.ts';
import { showEngine } from './engine-url.ts';

/** Time that a pooler may take to find a server for a second session, in ms: without one nothing is proven. */
const patienceMs = 3000;
/** Looks from either session. A pooler gives out the connection that was used last. */
const looks = 4;

/**
 * Throws MB3702 when a pooler gives the server's connections to others between two transactions: what is set for a session,
 * LISTEN and time limits hold for somebody else then. `client`: an open connection.
 */
export async function refuseSharedSessions(
  client: pg.ClientBase,
  { url, open }: { url: string; open(): Promise<pg.Client> },
): Promise<void> {
  const own = await serverOf(client);
  // Poolers give each session a number of their own. It is the server's where none is between.
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
    hint: 'PgBouncer: pool_mode = session for this database (pool_mode=session in its line under [databases]); or name the server itself',
  });
}

/** Whether two sessions are served by the same connection, or one of them by several. */
async function areShared(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const own = await serverOf(one);
  for (let look = 0; look < looks; look += 1) {
    const theirs = await withinMs(serverOf(other), patienceMs);
    // It is given no connection as long as the first one holds its own.
    if (theirs === undefined) return false;
    if (theirs === own || (await serverOf(one)) !== own) return true;
  }
  return false;
}

async function serverOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

/** Returns the result of the work, or `undefined` after `ms`; the work then continues in the background. */
export async function withinMs<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
