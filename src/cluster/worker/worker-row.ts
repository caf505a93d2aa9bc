import { hostname } from 'node:os';
import type { Clock } from '../../contract/clock.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import type { Database } from '../database/database.ts';
import { protocol as ownProtocol } from '../protocol.ts';

export interface Registered {
  db: Database;
  clock: Clock;
  id: string;
  account: string;
  version: string;
  store?: string | undefined;
  files: number;
  limits?: SpendingLimits | undefined;
  /** Defaults to that of this version. */
  protocol?: number;
}

const beatMs = 5000;
/**
 * Heartbeat interval while no run of the account is open, in ms. Longer because there may be hundreds of such workers.
 */
const quietBeatMs = 10_000;
/** Time after the last heartbeat when a worker's row is ignored, and deleted by other workers. */
export const forgottenAfter = '1 hour';

/**
 * Sends heartbeats to this worker's row until the signal is aborted. Removes the row then if the server is available.
 */
export async function register(
  options: Registered,
  { signal, isQuiet }: { signal: AbortSignal; isQuiet(): boolean },
): Promise<void> {
  const { db, clock, id, limits } = options;
  await db.query(`DELETE FROM mediabatch.worker WHERE beat < now() - interval '${forgottenAfter}'`);
  while (!signal.aborted) {
    await beat(options, limits === undefined ? {} : { limits: { ...limits } });
    await clock.sleep(spread(clock, isQuiet() ? quietBeatMs : beatMs), signal);
  }
  if (db.awaySince === undefined) await db.query('DELETE FROM mediabatch.worker WHERE id = $1', [id]);
}

/** Shortens a period by up to a quarter at random, so that periodic work of many workers does not coincide. */
export function spread(clock: Clock, ms: number): number {
  return ms * (0.75 + clock.random() / 4);
}

async function beat({ db, id, account, protocol = ownProtocol, ...facts }: Registered, doing: Json): Promise<void> {
  const { store = null, files, version } = facts;
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, store, files, version, doing, beat)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())
     ON CONFLICT (id) DO UPDATE SET beat = now(), doing = excluded.doing`,
    [id, account, hostname(), process.pid, protocol, store, files, version, JSON.stringify(doing)],
  );
}
