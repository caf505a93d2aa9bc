import { basename } from 'node:path';
import { RunHistory } from '../disk/state/run-history.ts';
import { isMap } from '../ground/values.ts';
import type { CampaignPaths } from './paths.ts';

/** Names the run that a job was bought in, by the address and the id that it had there; undefined when nobody knows. */
export type RunOf = (job: { address: string; id: string }) => string | undefined;

/**
 * Reads what earlier runs on this lock noted. Only the last ones are kept, on this machine: of a job from elsewhere, or
 * from long ago, nothing is known.
 */
export async function indexRunsByJob({ state, runs, lock }: CampaignPaths): Promise<RunOf> {
  const history = new RunHistory(state, runs);
  const byJob = new Map<string, Map<string, string>>();
  for (const { id: run } of (await history.list()).reverse()) {
    for (const line of (await history.read(run)) ?? []) {
      if (!isMap(line)) continue;
      // Campaigns of one folder share it.
      if (line.mediabatch === 'run' && line.lock !== basename(lock)) break;
      const { event, jobId, address } = line;
      if (event !== 'job-created' || typeof jobId !== 'string' || typeof address !== 'string') continue;
      const known = byJob.get(jobId);
      if (known === undefined) byJob.set(jobId, new Map([[address, run]]));
      else if (!known.has(address)) known.set(address, run);
    }
  }
  return ({ address, id }) => {
    const known = byJob.get(id);
    // A step that was renamed has the job under another address; one id of two kinds is two jobs.
    return known?.get(address) ?? (known?.size === 1 ? [...known.values()][0] : undefined);
  };
}
