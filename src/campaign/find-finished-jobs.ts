import type { Lock } from '../lock/record.ts';
import type { CampaignPaths } from './paths.ts';
import { runsOfLock } from './runs-of-lock.ts';

/** Runs that may have seen the end of a job whose file they did not save. */
const runsToRead = 3;

/**
 * Ids of jobs of the lock that are on record as running, and that a run has seen finish. The lock is not told of that: it
 * costs nothing to find out again. Empty where no history is kept.
 */
export async function findFinishedJobs(paths: CampaignPaths, lock: Lock): Promise<Set<string>> {
  const running = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (purchase.state === 'running' && purchase.jobId !== undefined) running.add(purchase.jobId);
    }
  }
  const finished = new Set<string>();
  if (running.size === 0) return finished;
  let read = 0;
  for await (const { lines } of runsOfLock(paths)) {
    for (const { event, jobId } of lines) {
      if (event === 'job-completed' && typeof jobId === 'string' && running.has(jobId)) finished.add(jobId);
    }
    read += 1;
    if (read === runsToRead) break;
  }
  return finished;
}
