import { openBoss } from '../../cluster/database/boss.ts';
import { type Database, openDatabase } from '../../cluster/database/database.ts';
import { grant, hasTables, migrate } from '../../cluster/database/schema.ts';
import { isMissing, showEngine } from '../../cluster/database/server-errors.ts';
import { readEngineState, type Shown } from '../../cluster/engine-state.ts';
import { readLimit } from '../../cluster/leader/account-spending.ts';
import { readAllLines } from '../../cluster/leader/rows.ts';
import type { Engine } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/runs/run-record.ts';
import { abandon, actOn, findOpenRun, readRun } from '../../cluster/runs/runs.ts';
import { accountOf } from '../../cluster/seal.ts';
import { type StartWorkerOptions, startWorker } from '../../cluster/worker/start-worker.ts';
import { systemClock } from '../../contract/clock.ts';
import type { EngineState } from '../../contract/engine-state.ts';
import type { SpendingLeft } from '../../contract/spending.ts';
import { type EngineNote, readEngineNote, removeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Lock } from '../../lock/record.ts';
import { accountDigest, requireAccess } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { currentUser } from '../person.ts';
import { holdGuard, requireLock } from '../read-lock.ts';
import { engineOf } from './engine-address.ts';
import { MirroredLock } from './mirrored-lock.ts';
import { lockOfRun } from './record-of-run.ts';

interface RunOnEngine {
  run: RunRecord;
  lock: Lock;
  limit: SpendingLeft | undefined;
  shown: string;
}

export function inspectRun(url: string, campaign: OpenCampaign, name: string): Promise<RunOnEngine | undefined> {
  return withRun(url, campaign, name, async (run, { database, account, shown }) => {
    const limit = await readLimit(database, account);
    return { run, lock: await lockOfRun(database, run.id), limit, shown };
  });
}

export type RunAct = 'cancel' | 'pause' | 'resume';

/** Cancels, pauses or resumes a campaign's run. `isDone`: whether the run's state changed. Undefined without a run. */
export function actOnRun(
  url: string,
  campaign: OpenCampaign,
  { name, act }: { name: string; act: RunAct },
): Promise<{ run: RunRecord; isDone: boolean; shown: string } | undefined> {
  return withRun(url, campaign, name, async (run, { database, shown }) => ({
    run,
    shown,
    isDone: await actOn(database, run.id, { act, by: currentUser() }),
  }));
}

async function withRun<Answer>(
  url: string,
  { environment, paths, notify }: OpenCampaign,
  name: string,
  act: (run: RunRecord, engine: Pick<Engine, 'database' | 'account' | 'shown'>) => Promise<Answer>,
): Promise<Answer | undefined> {
  const account = accountOf(requireAccess(environment));
  const database = await openDatabase(url, {
    ...{ name: 'mediabatch', most: 1 },
    onUnreachable: ({ message }) => notify({ is: 'notice', text: `the engine does not answer: ${message}` }),
    onBack: () => notify({ is: 'notice', text: 'the engine answers again' }),
  });
  try {
    if (!(await hasTables(database))) return undefined;
    const note = readEngineNote(paths.lock);
    const noted = note && (await readRun(database, note.run));
    // The run that this clone submitted may have ended, and another clone may have submitted a new run.
    const run = noted?.state === 'open' ? noted : ((await findOpenRun(database, account, name)) ?? noted);
    return run && (await act(run, { database, account, shown: showEngine(url) }));
  } finally {
    await database.close();
  }
}

export async function inspectEngine(engine: string, shown?: Shown): Promise<EngineState> {
  const db = await openDatabase(engine, { name: 'mediabatch workers', most: 1 });
  try {
    if (!(await hasTables(db))) return { runs: [], accounts: [], workers: [] };
    return await readEngineState(db, shown);
  } finally {
    await db.close();
  }
}

export async function migrateEngine(engine: string, grantTo: string | undefined) {
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
  const accountOf = (send: string) => accountDigest(send, false, options.access);
  await startWorker({ ...options, accountOf, clock: systemClock });
}

type EndedRun = { is: 'over' } | { is: 'unknown' } | { is: 'open' } | { is: 'not asked'; why: unknown };

interface Request {
  force: boolean;
  env: NodeJS.ProcessEnv;
}

/** Ends a run on an engine, copies its jobs to the local lock and unlocks it. Can be repeated if interrupted. */
export async function abandonRun(campaign: OpenCampaign, note: EngineNote, request: Request): Promise<EndedRun> {
  const { paths, notify } = campaign;
  const guard = await holdGuard(paths.lock, 0, notify, { forEngine: true });
  try {
    const found = await askEngine(campaign, note, request);
    const staysClaimed = found.is === 'open' || (found.is === 'not asked' && !request.force); // I45 (asked)
    if (!staysClaimed) await removeEngineNote(paths.lock);
    return found;
  } finally {
    await guard.release();
  }
}

async function askEngine(campaign: OpenCampaign, note: EngineNote, { force, env }: Request): Promise<EndedRun> {
  // The engine note does not contain the password of the database, but the environment may.
  const named = engineOf(undefined, env);
  const url = named !== undefined && showEngine(named) === note.engine ? named : note.engine;
  const { notify } = campaign;
  let database: Database | undefined;
  try {
    database = await openDatabase(url, {
      name: 'mediabatch-unlock',
      most: 1,
      onUnreachable: ({ message }) =>
        notify({ is: 'notice', text: `the engine does not answer: ${message}; unlock waits for the engine` }),
    });
    return await endOnEngine(database, note.run, { campaign, force });
  } catch (why) {
    if (isMissing(why)) return { is: 'unknown' };
    if (database !== undefined) throw why;
    return { is: 'not asked', why };
  } finally {
    await database?.close();
  }
}

async function endOnEngine(
  database: Database,
  run: string,
  { campaign, force }: { campaign: OpenCampaign; force: boolean },
): Promise<EndedRun> {
  const record = await readRun(database, run);
  if (record === undefined) return { is: 'unknown' };
  if (record.state === 'open' && !force) return { is: 'open' };
  await abandon(database, run, `given up by ${currentUser()}`);
  const mirror = await MirroredLock.open(campaign, await requireLock(campaign, campaign.service));
  // The run has ended, so its lock lines are complete.
  await mirror.add(await readAllLines(database, run)).finally(() => mirror.close());
  return { is: 'over' };
}
