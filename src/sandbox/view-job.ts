import type { Job } from './books.ts';
import { digest } from './digest.ts';
import type { JobView, Life } from './kinds/job-view.ts';
import { outputArea } from './own-url.ts';

/** Combines a job and its state for answers. `origin`: scheme and host in the caller's URL, with which links start. */
export function viewJob(job: Job, life: Life, origin: string): JobView {
  const { entry, recordId, token } = job;
  return {
    id: entry.id,
    recordId,
    user: entry.user,
    body: entry.body,
    model: modelOf(job),
    credits: entry.credits,
    life,
    files: job.files.map(({ name, mediaType }) => ({
      name,
      mediaType,
      url: `${origin}${outputArea}/${token}/${name}`,
      assetId: digest('asset', entry.id, name).slice(0, 24),
    })),
  };
}

/** Returns the model that runs; in a rehearsal, the requested model of the simulated service. */
export function modelOf({ kind, body, entry }: Job): string {
  const { model } = kind.settle(body);
  return body.model === entry.body.model ? model : String(entry.body.model);
}

/** Returns the job as in the answer to its create request; replays get the same. */
export function viewCreated(job: Job, origin: string): JobView {
  const createdAtMs = Date.parse(job.entry.at);
  return viewJob(job, { status: 'QUEUED', createdAtMs, updatedAtMs: createdAtMs }, origin);
}
