import type { Database, Sql } from '../../cluster/database/database.ts';
import type { Shown } from '../../cluster/engine-state.ts';
import type { EngineToSee } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/runs/run-record.ts';
import type { StartWorkerOptions } from '../../cluster/worker/start-worker.ts';
import { systemClock } from '../../contract/clock.ts';
import type { EngineState } from '../../contract/engine-state.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { SpendingLeft } from '../../contract/spending.ts';
import { type EngineNote, readEngineNote, removeEngineNote } from '../../disk/lock/engine-note.ts';
import { readLock } from '../../lock/read.ts';
import { type Lock, lockVersion } from '../../lock/record.ts';
import { writeHeader } from '../../lock/write.ts';
import { accountDigest, requireAccess } from '../environment.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { whoIsHere } from '../person.ts';
import { requireLock } from '../read-lock.ts';
import { MirroredLock } from './mirrored-lock.ts';

interface RunOnEngine {
  run: RunRecord;
  lock: Lock;
  limit: SpendingLeft | undefined;
  shown: string;
}

export function lookAtRun(
  url: string,
  campaign: OpenCampaign,
  { name }: { name: string },
): Promise<RunOnEngine | undefined> {
  return withRun(url, campaign, name, async (run, { database, account, shown }) => {
    const { readLimit } = await import('../../cluster/head/account-spending.ts');
    const limit = await readLimit(database, account);
    return { run, lock: await lockOfRun(database, run.id), limit, shown };
  });
}

export type RunAct = 'cancel' | 'pause' | 'resume';

/**
 * Cancels the run (it buys nothing more; running jobs are collected), pauses it, or resumes it. `isDone`: false if
 * there was nothing to do. Undefined if there is no run.
 */
export function actOnRun(
  url: string,
  campaign: OpenCampaign,
  { name, act }: { name: string; act: RunAct },
): Promise<{ run: RunRecord; isDone: boolean; shown: string } | undefined> {
  return withRun(url, campaign, name, async (run, { database, shown }) => {
    const { actOn } = await import('../../cluster/runs/runs.ts');
    return { run, shown, isDone: await actOn(database, run.id, { act, by: whoIsHere() }) };
  });
}

async function withRun<Answer>(
  url: string,
  campaign: OpenCampaign,
  name: string,
  act: (run: RunRecord, engine: EngineToSee) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { openToSee } = await import('../../cluster/open-engine.ts');
  const { findOpenRun, readRun } = await import('../../cluster/runs/runs.ts');
  const { tell } = campaign;
  const engine = await openToSee(url, requireAccess(campaign.environment), {
    onAway: ({ message }) => tell({ is: 'notice', text: `the engine is away: ${message}` }),
    onBack: () => tell({ is: 'notice', text: 'the engine answers again' }),
  });
  if (engine === undefined) return undefined;
  try {
    const note = readEngineNote(campaign.paths.lock);
    const noted = note && (await readRun(engine.database, note.run));
    // The run that was submitted here may have ended, and another clone may have submitted one since.
    const run = noted?.state === 'open' ? noted : ((await findOpenRun(engine.database, engine.account, name)) ?? noted);
    return run && (await act(run, engine));
  } finally {
    await engine.close();
  }
}

export async function lockOfRun(database: Sql, run: string): Promise<Lock> {
  const { readAllLines } = await import('../../cluster/head/rows.ts');
  const texts = [writeHeader({ version: lockVersion }), ...(await readAllLines(database, run))];
  return readLock(`the lock of run ${run}`, Buffer.from(texts.join('')), { isOnlyRead: true }).lock;
}

/**
 * Returns the address of the engine: the given one, or `MEDIABATCH_ENGINE`. Never reads a `.env`, because a file in a
 * branch could name an engine. Throws MB3705 if the given address is empty, for example from a variable that is not
 * set.
 */
export function engineOf(given: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
  if (given?.trim() === '')
    throw new CampaignError({
      code: 'MB3705',
      message: '--engine is empty, and names no engine',
      hint: 'leave it out, or give the address of the database: postgres://user@host:5432/database',
    });
  return given ?? (env.MEDIABATCH_ENGINE?.trim() || undefined);
}

export function requireEngine(
  given: string | undefined,
  env: NodeJS.ProcessEnv,
  { cancels = false }: { cancels?: boolean } = {},
): string {
  const engine = engineOf(given, env);
  if (engine !== undefined) return engine;
  throw new CampaignError({
    code: 'MB3705',
    message: 'no engine is named: neither --engine nor MEDIABATCH_ENGINE is given',
    hint: cancels
      ? 'a local run ends with Ctrl-C in its terminal; for a run on an engine, set the address of its database: MEDIABATCH_ENGINE=postgres://user@host:5432/database'
      : 'give the address of the database: MEDIABATCH_ENGINE=postgres://user@host:5432/database',
  });
}

export async function lookAtEngine(engine: string, shown?: Shown): Promise<EngineState> {
  const [{ openDatabase }, { hasTables }, { readEngineState }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/engine-state.ts'),
  ]);
  const db = await openDatabase(engine, { name: 'mediabatch workers', most: 1 });
  try {
    if (!(await hasTables(db))) return { runs: [], accounts: [], workers: [] };
    return await readEngineState(db, shown);
  } finally {
    await db.close();
  }
}

export async function migrateEngine(engine: string, grantTo: string | undefined) {
  const [{ openDatabase }, { migrate, grant }, { openBoss }] = await Promise.all([
    import('../../cluster/database/database.ts'),
    import('../../cluster/database/schema.ts'),
    import('../../cluster/database/boss.ts'),
  ]);
  const db = await openDatabase(engine, { name: 'mediabatch engine migrate', most: 2 });
  try {
    const migrated = await migrate(db);
    const boss = await openBoss(db);
    await boss.stop({ graceful: false });
    if (grantTo !== undefined) await grant(db, grantTo);
    return migrated;
  } finally {
    await db.close();
  }
}

export async function workOnEngine(options: Omit<StartWorkerOptions, 'accountOf' | 'clock'>): Promise<void> {
  const { startWorker } = await import('../../cluster/worker/start-worker.ts');
  const accountOf = (send: string) => accountDigest(send, false, options.access);
  await startWorker({ ...options, accountOf, clock: systemClock });
}

type GivenUp =
  | { is: 'over' }
  | { is: 'unknown' }
  | { is: 'open' }
  /** The engine cannot be reached, so the run may continue there. */
  | { is: 'not asked'; why: unknown };

interface Request {
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
  const { readAllLines } = await import('../../cluster/head/rows.ts');
  const mirror = await MirroredLock.open(campaign, await requireLock(campaign, campaign.service));
  // The run is over, so these are its last lines.
  await mirror.add(await readAllLines(database, run)).finally(() => mirror.close());
  return { is: 'over' };
}

/** Returns the address with the password. The note does not contain the password, but the environment may. */
async function urlOf({ engine }: EngineNote, env: NodeJS.ProcessEnv): Promise<string> {
  const { showEngine } = await import('../../cluster/database/server-errors.ts');
  const named = engineOf(undefined, env);
  return named !== undefined && showEngine(named) === engine ? named : engine;
}
