import type pg from 'pg';
import { CampaignError } from '../../contract/failure.ts';
import { showEngine } from './engine-url.ts';

/** Time in ms that a pooler has to find a server connection for a second session; after it, sharing is not proven. */
const patienceMs = 3000;
/** Number of queries from each session. A pooler reuses the server connection that was used last. */
const looks = 4;

/**
 * Throws MB3702 when a pooler shares server connections between transactions of different sessions, because LISTEN
 * and session settings such as timeouts would apply to another session.
 */
export async function refuseSharedSessions(
  client: pg.ClientBase,
  { url, open }: { url: string; open(): Promise<pg.Client> },
): Promise<void> {
  const own = await serverOf(client);
  // Poolers give sessions process ids of their own; equal ids mean that there is no pooler.
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

/** Whether two sessions share a server connection, or one session uses several. */
async function areShared(one: pg.ClientBase, other: pg.ClientBase): Promise<boolean> {
  const own = await serverOf(one);
  for (let look = 0; look < looks; look += 1) {
    const theirs = await withinMs(serverOf(other), patienceMs);
    // The pooler has no connection for the second session as long as the first one keeps its own.
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
