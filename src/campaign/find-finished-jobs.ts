import { RunHistory } from '../disk/state/run-history.ts';
import { isMap } from '../ground/values.ts';
import type { Lock } from '../lock/record.ts';
import type { CampaignPaths } from './paths.ts';

/** Runs that may have seen the end of a job whose file they did not save. */
const runsToRead = 3;

/**
 * Ids of jobs of the lock that are on record as running, and that a run has seen finish. The lock is not told of that: it
 * costs nothing to find out again. Empty where no history is kept.
 */
export async function findFinishedJobs({ state, runs }: CampaignPaths, lock: Lock): Promise<Set<string>> {
  const running = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (purchase.state === 'running' && purchase.jobId !== undefined) running.add(purchase.jobId);
    }
  }
  const finished = new Set<string>();
  if (running.size === 0) return finished;
  const history = new RunHistory(state, runs);
  for (const { id } of (await history.list()).slice(0, runsToRead)) {
    for (const line of (await history.read(id)) ?? []) {
      if (!isMap(line) || line.event !== 'job-completed' || typeof line.jobId !== 'string') continue;
      if (running.has(line.jobId)) finished.add(line.jobId);
    }
  }
  return finished;
}
