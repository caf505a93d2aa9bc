import { hostname } from 'node:os';
import type { Clock } from '../../contract/clock.ts';
import type { SpendingLimits } from '../../contract/spending.ts';
import type { Json } from '../../ground/json.ts';
import type { Database } from '../database/database.ts';
import { protocol as ownProtocol } from '../protocol.ts';

/** A worker, as other processes see it. */
export interface Registered {
  db: Database;
  clock: Clock;
  /** Unique to this process. */
  id: string;
  account: string;
  version: string;
  store?: string | undefined;
  /** Files at once. */
  files: number;
  limits?: SpendingLimits | undefined;
  /** Default: that of this version. */
  protocol?: number;
}

/** Time between two signs of life of a worker, in ms. */
const beatMs = 5000;
/** The same while no run of its account is open: there may be hundreds of them. */
const quietBeatMs = 10_000;
/** A worker that was silent for so long is forgotten by the others. */
export const forgottenAfter = '1 hour';

/** Keeps this worker's row up to date until the signal is aborted, and removes it then if the server is there. */
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

/** A time up to a quarter shorter: what a worker does by the clock would want a connection each if it came at once. */
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
