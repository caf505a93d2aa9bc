import type { CampaignPaths } from './paths.ts';
import { runsOfLock } from './runs-of-lock.ts';

/** Names the run that a job was bought in, by the address and the id that it had there; undefined when nobody knows. */
export type RunOf = (job: { address: string; id: string }) => string | undefined;

/**
 * Reads what earlier runs on this lock noted. Only the last ones are kept, on this machine: of a job from elsewhere, or
 * from long ago, nothing is known.
 */
export async function indexRunsByJob(paths: CampaignPaths): Promise<RunOf> {
  const byJob = new Map<string, Map<string, string>>();
  for await (const { id: run, lines } of runsOfLock(paths)) {
    for (const { event, jobId, address } of lines) {
      if (event !== 'job-created' || typeof jobId !== 'string' || typeof address !== 'string') continue;
      const known = byJob.get(jobId) ?? new Map<string, string>();
      byJob.set(jobId, known);
      // Of two runs that saw it made, the earlier one counts.
      known.set(address, run);
    }
  }
  return ({ address, id }) => {
    const known = byJob.get(id);
    // A step that was renamed has the job under another address; one id of two kinds is two jobs.
    return known?.get(address) ?? (known?.size === 1 ? [...known.values()][0] : undefined);
  };
}
