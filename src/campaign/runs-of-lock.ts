import { basename } from 'node:path';
import { RunHistory } from '../disk/state/run-history.ts';
import type { Json } from '../ground/json.ts';
import { isMap, type JsonMap } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import type { CampaignPaths } from './paths.ts';

/** Limit of runs that are searched for the end of a job whose file was not saved. */
const runsToRead = 3;

/**
 * Returns the jobs that the lock records as running although a run has seen them finish, with the newest error of the
 * step. The lock does not record this, because finding it out again is free. Empty if there is no history. Campaigns of
 * one folder share the histories; a run whose first line is damaged may belong to any of them.
 */
export async function findFinishedJobs(paths: CampaignPaths, lock: Lock): Promise<Map<string, string | undefined>> {
  const bought = [...lock.steps.values()].flatMap(({ purchases }) => purchases);
  const running = new Set(bought.flatMap(({ state, jobId }) => (state === 'running' ? (jobId ?? []) : [])));
  const finished = new Map<string, string | undefined>();
  if (running.size === 0) return finished;
  const history = new RunHistory(paths.state, paths.runs);
  let read = 0;
  for (const { id } of await history.list()) {
    if (read === runsToRead) break;
    const lines = mapsOf(await history.read(id));
    const header = lines.find(({ mediabatch }) => mediabatch === 'run');
    if (header !== undefined && header.lock !== basename(paths.lock)) continue;
    const jobOf = new Map<Json | undefined, string>();
    for (const { event, address, jobId, error } of lines) {
      if (event === 'job-completed' && typeof jobId === 'string' && running.has(jobId)) jobOf.set(address, jobId);
      const job = event === 'step-finished' ? jobOf.get(address) : undefined;
      if (job !== undefined && typeof error === 'string') finished.set(job, finished.get(job) ?? error);
    }
    for (const job of jobOf.values()) if (!finished.has(job)) finished.set(job, undefined);
    read += 1;
  }
  return finished;
}

function mapsOf(lines: readonly Json[] = []): JsonMap[] {
  return lines.filter((line) => isMap(line));
}
