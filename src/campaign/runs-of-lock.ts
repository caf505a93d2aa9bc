import { basename } from 'node:path';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { isMap, type JsonMap } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import type { CampaignPaths } from './paths.ts';

type RunOf = Readonly<{ lock?: Json; campaign?: Json }>;

/**
 * Yields earlier runs on a lock, newest first, each with the lines of its history. Campaigns of one folder share the
 * histories; a run whose first line is damaged may belong to any of them. `isMeant`: which runs of other locks to
 * include.
 */
export async function* runsOfLock(
  { state, runs, lock }: CampaignPaths,
  isMeant: (run: RunOf) => boolean = () => false,
): AsyncGenerator<{ id: string; lines: readonly JsonMap[] }> {
  const history = new RunHistory(state, runs);
  for (const { id } of await history.list()) {
    // Only the ends of another campaign's history are read.
    const header = mapsOf(await history.readEnds(id)).find(({ mediabatch }) => mediabatch === 'run');
    if (header !== undefined && header.lock !== basename(lock) && !isMeant(header)) continue;
    yield { id, lines: mapsOf(await history.read(id)) };
  }
}

function mapsOf(lines: readonly Json[] = []): JsonMap[] {
  return lines.filter((line) => isMap(line));
}

/** Limit of runs that are searched for the end of a job whose file was not saved. */
const runsToRead = 3;

/**
 * Returns the jobs that the lock records as running although a run has seen them finish, with the newest error of the
 * step. The lock does not record this, because finding it out again is free. Empty if there is no history.
 */
export async function findFinishedJobs(paths: CampaignPaths, lock: Lock): Promise<Map<string, string | undefined>> {
  const running = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (purchase.state === 'running' && purchase.jobId !== undefined) running.add(purchase.jobId);
    }
  }
  const finished = new Map<string, string | undefined>();
  if (running.size === 0) return finished;
  let read = 0;
  for await (const { lines } of runsOfLock(paths)) {
    const jobOf = new Map<Json | undefined, string>();
    for (const { event, address, jobId, error } of lines) {
      if (event === 'job-completed' && typeof jobId === 'string' && running.has(jobId)) jobOf.set(address, jobId);
      const job = event === 'step-finished' ? jobOf.get(address) : undefined;
      if (job !== undefined && typeof error === 'string') finished.set(job, finished.get(job) ?? error);
    }
    for (const job of jobOf.values()) if (!finished.has(job)) finished.set(job, undefined);
    read += 1;
    if (read === runsToRead) break;
  }
  return finished;
}
