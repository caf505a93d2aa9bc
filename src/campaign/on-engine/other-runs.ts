import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord } from '../../cluster/runs/run-record.ts';
import { readEngineNote, removeEngineNote, writeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Graph } from '../../graph/graph.ts';
import type { Lock } from '../../lock/record.ts';
import { closedSends, isOpenSend } from '../../lock/sends.ts';
import type { ApplyGraphOptions } from '../apply-options.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { requireLock } from '../read-lock.ts';
import { sealOf } from './engine-helpers.ts';
import { isOfGraph, refuseNamesake } from './engine-refusals.ts';
import { lockOfRun } from './engine-run.ts';

/** Limit of ended runs that are examined, latest first. */
const mostNamesakes = 10;

/**
 * Finds the latest ended run of this campaign on the engine with purchases that this lock lacks. Its submitter
 * detached before the end, and that clone may no longer exist.
 */
export async function findUnseenRun(
  { database, account }: Engine,
  campaign: OpenCampaign,
  graph: Pick<Graph, 'name' | 'steps'>,
): Promise<RunRecord | undefined> {
  const [{ lastEndedRuns }, { readHeader }, seal] = await Promise.all([
    import('../../cluster/runs/runs.ts'),
    import('../../cluster/runs/header.ts'),
    sealOf(campaign),
  ]);
  const ended = await lastEndedRuns(database, { account, campaign: graph.name, most: mostNamesakes });
  let lock: Lock | undefined;
  for (const run of ended) {
    if (!isOfGraph(await readHeader(database, seal, run), graph)) continue;
    // Notices about the lock are shown when it is read for the run.
    lock ??= (await requireLock({ ...campaign, tell: () => {} }, campaign.service, { serviceMoved: true })).lock;
    // A newer run of another clone may lack the purchases of an older one.
    if (hasNews(await lockOfRun(database, run.id), lock)) return run;
  }
  return undefined;
}

/** Whether one lock has a purchase that another does not know, whatever its state there. */
export function hasNews(lock: Lock, known: Lock): boolean {
  const purchases = [...known.steps.values()].flatMap((record) => record.purchases);
  const [jobs, keys] = [new Set(purchases.map(({ jobId }) => jobId)), new Set(purchases.map(({ key }) => key))];
  const closed = closedSends(known);
  return [...lock.steps.values()].some((record) =>
    record.purchases.some((purchase) => {
      if (purchase.jobId !== undefined) return !jobs.has(purchase.jobId);
      // An answered send is recorded as a job with the same idempotency key.
      return isOpenSend(purchase) && !keys.has(purchase.key) && !closed.has(purchase.send);
    }),
  );
}

export async function headerOf(
  { engine, campaign }: Pick<Where, 'engine' | 'campaign'>,
  run: RunRecord,
): Promise<RunHeader> {
  const [{ readHeader }, { requireOwnProtocol }] = await Promise.all([
    import('../../cluster/runs/header.ts'),
    import('../../cluster/runs/runs.ts'),
  ]);
  requireOwnProtocol(run);
  return readHeader(engine.database, await sealOf(campaign), run);
}

interface Where {
  engine: Engine;
  campaign: OpenCampaign;
  options: Pick<ApplyGraphOptions, 'check' | 'lockTimeoutMs'>;
}

/** Throws if the run that was submitted first belongs to another campaign of the same name. */
export async function refuseAnother({ engine, campaign, options }: Where, id: string): Promise<void> {
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const run = await readRun(engine.database, id);
  if (run === undefined) return;
  try {
    const { graph } = await options.check();
    refuseNamesake(await headerOf({ engine, campaign }, run), graph, { run, engine });
  } catch (error) {
    await removeEngineNote(campaign.paths.lock);
    throw error;
  }
}

/**
 * Removes the note of a submission that did not reach the engine. The caller holds the lock, so no submission is in
 * progress.
 */
export async function forgetSubmit({ engine, campaign, options }: Where, run: string): Promise<void> {
  const { paths, tell } = campaign;
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const guard = await holdGuard(paths.lock, options.lockTimeoutMs ?? 0, tell, { forEngine: true });
  try {
    const isStill = readEngineNote(paths.lock)?.run === run;
    if (isStill && (await readRun(engine.database, run)) === undefined) await removeEngineNote(paths.lock);
  } finally {
    await guard.release();
  }
}

/** Writes the note of the run next to the lock. `submitted`: whether the engine has the run. */
export async function noteRun(
  { engine, campaign }: Pick<Where, 'engine' | 'campaign'>,
  run: string,
  { submitted, since }: { submitted: boolean; since: Date },
): Promise<void> {
  const { account, shown } = engine;
  await writeEngineNote(campaign.paths.lock, { run, account, engine: shown, since: since.toISOString(), submitted });
}
