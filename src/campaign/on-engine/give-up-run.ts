import type { Database } from '../../cluster/database/database.ts';
import { type EngineNote, removeEngineNote } from '../../disk/lock/engine-note.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { whoIsHere } from '../person.ts';
import { requireLock } from '../read-lock.ts';
import { engineOf } from './engine-address.ts';
import { MirroredLock } from './mirrored-lock.ts';

export type GivenUp =
  /** The run is over on the engine, and all its lines are in the local lock. */
  | { is: 'over' }
  | { is: 'unknown' }
  /** The run continues on the engine, because `force` was not set. */
  | { is: 'open' }
  /** The engine cannot be reached, so the run may continue there. */
  | { is: 'not asked'; why: unknown };

interface Request {
  /** Ends a run that is in progress, and releases the lock even if the engine cannot be reached. */
  force: boolean;
  env: NodeJS.ProcessEnv;
}

/**
 * Gives up the run of a note: ends it on the engine, copies all its purchases into the local lock, and only then
 * releases the lock. After an interruption, the same call continues.
 */
export async function giveUpRun(campaign: OpenCampaign, note: EngineNote, request: Request): Promise<GivenUp> {
  const { paths, tell } = campaign;
  const guard = await holdGuard(paths.lock, 0, tell, { forEngine: true });
  try {
    const found = await askEngine(campaign, note, request);
    const staysClaimed = found.is === 'open' || (found.is === 'not asked' && !request.force); // I45 (asked)
    if (!staysClaimed) await removeEngineNote(paths.lock);
    return found;
  } finally {
    await guard.release();
  }
}

async function askEngine(campaign: OpenCampaign, note: EngineNote, { force, env }: Request): Promise<GivenUp> {
  let database: Database | undefined;
  try {
    const url = await urlOf(note, env);
    const { openDatabase } = await import('../../cluster/database/database.ts');
    database = await openDatabase(url, {
      name: 'mediabatch-unlock',
      most: 1,
      onAway: ({ message }) =>
        campaign.tell({ is: 'notice', text: `the engine is away: ${message}; unlock waits for it` }),
    });
    return await endThere(database, note.run, { campaign, force });
  } catch (why) {
    const { isGone } = await import('../../cluster/database/server-errors.ts');
    if (database !== undefined && !isGone(why)) throw why;
    return isGone(why) ? { is: 'unknown' } : { is: 'not asked', why };
  } finally {
    await database?.close();
  }
}

async function endThere(
  database: Database,
  run: string,
  { campaign, force }: { campaign: OpenCampaign; force: boolean },
): Promise<GivenUp> {
  const { giveUp, readRun } = await import('../../cluster/runs/runs.ts');
  const record = await readRun(database, run);
  if (record === undefined) return { is: 'unknown' };
  if (record.state === 'open' && !force) return { is: 'open' };
  await giveUp(database, run, `given up by ${whoIsHere()}`);
  const { readAllLines } = await import('../../cluster/head/lines.ts');
  const mirror = await MirroredLock.open(campaign, await requireLock(campaign, campaign.service));
  // The run is over, so these are its last lines.
  await mirror.add(await readAllLines(database, run)).finally(() => mirror.close());
  return { is: 'over' };
}

/** Returns the address with the password. The note does not contain the password, but the environment may. */
async function urlOf({ engine }: EngineNote, env: NodeJS.ProcessEnv): Promise<string> {
  const { showEngine } = await import('../../cluster/database/engine-url.ts');
  const named = engineOf(undefined, env);
  return named !== undefined && showEngine(named) === engine ? named : engine;
}
