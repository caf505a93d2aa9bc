import type { Sql } from '../../cluster/database/database.ts';
import type { EngineToSee } from '../../cluster/open-engine.ts';
import type { RunRecord } from '../../cluster/runs/run-record.ts';
import type { SpendingLeft } from '../../contract/spending.ts';
import { readEngineNote } from '../../disk/lock/engine-note.ts';
import { readLock } from '../../lock/read.ts';
import { type Lock, lockVersion } from '../../lock/record.ts';
import { writeHeader } from '../../lock/write.ts';
import { requireAccess } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { whoIsHere } from '../person.ts';

interface RunOnEngine {
  run: RunRecord;
  lock: Lock;
  /** Limit of its workers with the smallest remainder. */
  limit: SpendingLeft | undefined;
  /** Address of the engine without credentials. */
  shown: string;
}

/** Reads the run that this clone has submitted, or else the open run of another clone. Undefined if there is none. */
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
    const { cancelRun, pauseRun, resumeRun } = await import('../../cluster/runs/runs.ts');
    const acts = { cancel: cancelRun, pause: pauseRun, resume: resumeRun };
    return { run, shown, isDone: await acts[act](database, run.id, whoIsHere()) };
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
  const { readAllLines } = await import('../../cluster/head/lines.ts');
  const texts = [writeHeader({ version: lockVersion }), ...(await readAllLines(database, run))];
  return readLock(`the lock of run ${run}`, Buffer.from(texts.join('')), { isOnlyRead: true }).lock;
}
