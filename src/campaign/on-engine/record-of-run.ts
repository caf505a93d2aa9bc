import type { Sql } from '../../cluster/database/database.ts';
import { countLines, readAllLines } from '../../cluster/leader/rows.ts';
import type { Engine } from '../../cluster/open-engine.ts';
import { type RunHeader, type RunRecord, readHeader } from '../../cluster/runs/run-record.ts';
import { lastEndedRuns, sendRecords } from '../../cluster/runs/runs.ts';
import { makeSeal } from '../../cluster/seal.ts';
import { countJobs, isSameServer, whichServer } from '../../cluster/store/run-mark.ts';
import { readSeenOnEngine, writeSeenOnEngine } from '../../disk/lock/engine-note.ts';
import type { Graph } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { joinLocks } from '../../lock/join.ts';
import { readLock } from '../../lock/read.ts';
import { type Lock, lockVersion, type StepRecord } from '../../lock/record.ts';
import { closedSends, isOpenSend } from '../../lock/sends.ts';
import { writeHeader, writeLines } from '../../lock/write.ts';
import { requireAccess } from '../environment.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { requireLock } from '../read-lock.ts';

export async function lockOfRun(database: Sql, run: string): Promise<Lock> {
  const texts = [writeHeader({ version: lockVersion }), ...(await readAllLines(database, run))];
  return readLock(`the lock of run ${run}`, Buffer.from(texts.join('')), { isOnlyRead: true }).lock;
}

export function isOfGraph({ outline }: RunHeader, { steps }: Pick<Graph, 'steps'>): boolean {
  const theirs = new Set(outline.addresses);
  return steps.some(({ address }) => theirs.has(address));
}

const mostNamesakes = 10;

export async function findUnseenRun(
  { database, account }: Pick<Engine, 'database' | 'account'>,
  campaign: OpenCampaign,
  graph: Pick<Graph, 'name' | 'steps'>,
): Promise<RunRecord | undefined> {
  const seal = makeSeal(requireAccess(campaign.environment).token);
  const ended = await lastEndedRuns(database, { account, campaign: graph.name, most: mostNamesakes });
  let lock: Lock | undefined;
  for (const run of ended) {
    if (!isOfGraph(await readHeader(database, seal, run), graph)) continue;
    // Notices about the lock are not shown here, but when the lock is read for the run.
    lock ??= (await requireLock({ ...campaign, notify: () => {} }, campaign.service, { serviceMoved: true })).lock;
    // If another clone submitted a newer run, this newer run may lack jobs of the older run.
    if (hasUnknownPurchases(await lockOfRun(database, run.id), lock)) return run;
  }
  return undefined;
}

/** Returns true if `lock` contains a job or an unresolved create request that is missing from `known`. */
export function hasUnknownPurchases(lock: Lock, known: Lock): boolean {
  const purchases = [...known.steps.values()].flatMap((record) => record.purchases);
  const [jobs, keys] = [new Set(purchases.map(({ jobId }) => jobId)), new Set(purchases.map(({ key }) => key))];
  const closed = closedSends(known);
  return [...lock.steps.values()].some((record) =>
    record.purchases.some((purchase) => {
      if (purchase.jobId !== undefined) return !jobs.has(purchase.jobId);
      // An answered create request is recorded as a job with the same idempotency key.
      return isOpenSend(purchase) && !keys.has(purchase.key) && !closed.has(purchase.send);
    }),
  );
}

/**
 * Adds jobs that only the local lock contains to an open run on the engine. The engine lacks these jobs if its database
 * was restored from a backup, or if git merged them into the lock. Also retries a deferred run.
 */
export async function sendMissingRecords(
  { database, shown }: Pick<Engine, 'database' | 'shown'>,
  run: Pick<RunRecord, 'id' | 'error' | 'server'>,
  { lock, path, notify }: { lock: Lock; path: string; notify: OpenCampaign['notify'] },
): Promise<void> {
  const record = await lockOfRun(database, run.id);
  const found = await compareRecord(database, run, { path, known: () => joinLocks(lock, record) });
  if (found.is === 'as it was' && run.error === null && !hasUnknownPurchases(lock, record)) return; // I46 (given)
  const [, ...lines] = writeLines(lock);
  await sendRecords(database, { id: run.id, server: found.server }, lines);
  if (found.is === 'an older copy') {
    const text = `${shown} has an older copy of this run, or another server replaced the database server, and this lock may lack records of the run. The workers buy nothing for the run unless its store proves that no record is missing`;
    const hint = [
      'to restore missing records, apply in the clone that watched the run',
      way('to list purchases that no lock contains', call('list jobs', '--unknown')),
    ];
    return notify({ is: 'notice', text, hint });
  }
  const why = run.error === null ? 'lacked purchases of the run' : 'had deferred the run';
  const text = `${shown} ${why}: this command sent the records of this lock to the engine, and the workers continue the run`;
  notify({ is: 'notice', text });
}

async function compareRecord(
  database: Sql,
  { id, server }: Pick<RunRecord, 'id' | 'server'>,
  { path, known }: { path: string; known(): Lock },
): Promise<{ is: 'as it was' | 'an older copy, and known here' | 'an older copy'; server: string | null }> {
  const now = await whichServer(database);
  const last = readSeenOnEngine(path);
  const seen = last?.run === id ? last : undefined;
  const isMoved = !isSameServer(server, now);
  const isShort = seen !== undefined && (await countLines(database, id, seen.epoch)) < seen.lines; // I46 (seen)
  if (!isMoved && !isShort) return { is: 'as it was', server };
  // A client that first watched the run after the restore of the database has read no lines that the database lacks.
  const isKnown = seen !== undefined && isSameServer(server, seen.server) && countJobs(known()) >= seen.jobs; // I46 (vouched)
  if (isKnown) return { is: 'an older copy, and known here', server: now };
  return { is: 'an older copy', server: isMoved ? server : null };
}

const gatherMs = 500;

interface Read {
  epoch: string;
  lines: number;
}

/** Stores next to the lock how much of the run's record this client has read. Ignores write errors. */
export async function keepSeen(
  database: Sql,
  path: string,
  { run, steps }: { run: string; steps(): ReadonlyMap<string, StepRecord> },
): Promise<{ note(read: Read): void; end(): Promise<void> }> {
  const server = await whichServer(database);
  let last: Read | undefined;
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const write = () => {
    timer = undefined;
    if (last === undefined) return;
    const seen = { run, server, ...last, jobs: countJobs({ steps: steps() }) };
    last = undefined;
    writing = writing.then(() => writeSeenOnEngine(path, seen)).catch(() => {});
  };
  return {
    note(read) {
      last = read;
      timer ??= setTimeout(write, gatherMs);
    },
    async end() {
      clearTimeout(timer);
      write();
      await writing;
    },
  };
}
