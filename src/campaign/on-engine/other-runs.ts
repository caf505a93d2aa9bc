import type { Engine } from '../../cluster/open-engine.ts';
import type { RunHeader, RunRecord } from '../../cluster/runs/run-record.ts';
import type { Seal } from '../../cluster/seal.ts';
import { readEngineNote, readSeenOnEngine, removeEngineNote, writeEngineNote } from '../../disk/lock/engine-note.ts';
import type { Graph } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { joinLocks } from '../../lock/join.ts';
import type { Lock } from '../../lock/record.ts';
import { closedSends, isOpenSend } from '../../lock/sends.ts';
import { writeLines } from '../../lock/write.ts';
import type { ApplyTerms } from '../carrier.ts';
import { requireAccess } from '../environment.ts';
import { holdGuard } from '../hold-guard.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { requireLock } from '../read-lock.ts';
import { lockOfRun } from './engine-run.ts';
import { isOfGraph, refuseNamesake } from './submit-plan.ts';

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

/** Returns whether a lock has a purchase that another lacks, whatever its state there. */
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
  options: Pick<ApplyTerms, 'lockTimeoutMs'>;
  graph: Graph;
}

/** Throws if the run that was submitted first belongs to another campaign of the same name. */
export async function refuseAnother({ engine, campaign, graph }: Where, id: string): Promise<void> {
  const { readRun } = await import('../../cluster/runs/runs.ts');
  const run = await readRun(engine.database, id);
  if (run === undefined) return;
  try {
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
export async function forgetSubmit({ engine, campaign, options }: Omit<Where, 'graph'>, run: string): Promise<void> {
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

/** Returns the cipher for a campaign's runs on an engine. Workers decrypt them with the same API key. */
export async function sealOf({ environment }: Pick<OpenCampaign, 'environment'>): Promise<Seal> {
  const { makeSeal } = await import('../../cluster/seal.ts');
  return makeSeal(requireAccess(environment).token);
}

type Run = Pick<RunRecord, 'id' | 'error' | 'server'>;

/**
 * Sends the purchases that only the local lock has to an open run. The engine lacks them if its database was restored
 * from an older copy, or if they came here by git. A run that was put aside after an error gets all lines, and is tried
 * again.
 */
export async function giveBackLost(
  { engine, campaign }: { engine: Pick<Engine, 'database' | 'shown'>; campaign: Pick<OpenCampaign, 'paths' | 'tell'> },
  run: Run,
  lock: Lock,
): Promise<void> {
  const { database, shown } = engine;
  const record = await lockOfRun(database, run.id);
  const found = await compareRecord(database, run, { path: campaign.paths.lock, known: () => joinLocks(lock, record) });
  if (found.is === 'as it was' && run.error === null && !hasNews(lock, record)) return; // I46 (given)
  const { giveBack } = await import('../../cluster/runs/runs.ts');
  const [, ...lines] = writeLines(lock);
  await giveBack(database, { id: run.id, server: found.server }, lines);
  campaign.tell({ is: 'notice', ...wordsFor(found.is, { shown, isAside: run.error !== null }) });
}

type Found = 'as it was' | 'an older copy, and known here' | 'an older copy';

/**
 * Compares a run's record with what this client has seen of it. `server`: database server to note as one that has the
 * complete record.
 */
async function compareRecord(
  database: Engine['database'],
  { id, server }: Run,
  { path, known }: { path: string; known(): Lock },
): Promise<{ is: Found; server: string | null }> {
  const [{ isSameServer, whichServer }, { countLines }, { countJobs }] = await Promise.all([
    import('../../cluster/database/which-server.ts'),
    import('../../cluster/head/lines.ts'),
    import('../../cluster/store/run-mark.ts'),
  ]);
  const now = await whichServer(database);
  const last = readSeenOnEngine(path);
  const seen = last?.run === id ? last : undefined;
  const isMoved = !isSameServer(server, now);
  const isShort = seen !== undefined && (await countLines(database, id, seen.epoch)) < seen.lines; // I46 (seen)
  if (!isMoved && !isShort) return { is: 'as it was', server };
  // A client that first saw the run after the copy was restored has no more lines than the copy.
  const isKnown = seen !== undefined && isSameServer(server, seen.server) && countJobs(known()) >= seen.jobs; // I46 (vouched)
  if (isKnown) return { is: 'an older copy, and known here', server: now };
  return { is: 'an older copy', server: isMoved ? server : null };
}

function wordsFor(found: Found, { shown, isAside }: { shown: string; isAside: boolean }) {
  if (found === 'an older copy') {
    return {
      text: `${shown} has an older copy of this run, or another server took over, and this lock may not have all its records: its workers buy nothing more for it unless its store shows that nothing is missing`,
      hint: [
        'to restore missing records, apply in the clone that watched the run',
        way('to list purchases that no lock contains', call('list jobs', '--unknown')),
      ],
    };
  }
  const why = isAside ? 'had put the run aside' : 'did not have all purchases';
  return { text: `${shown} ${why}: it received the records of this lock, and its workers continue from there` };
}
