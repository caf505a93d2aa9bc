import type { Job } from './books.ts';
import { digest } from './digest.ts';
import type { JobView, Life } from './kinds/job-view.ts';
import { outputArea } from './own-url.ts';

/** `origin`: scheme and host as the caller sees them; links start with it. */
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

/** The model that does the work, or the one of a rehearsed service by its own name. */
export function modelOf({ kind, body, entry }: Job): string {
  const { model } = kind.settle(body);
  return body.model === entry.body.model ? model : String(entry.body.model);
}

/** The job as the answer to its create shows it, then and at every replay. */
export function viewCreated(job: Job, origin: string): JobView {
  const createdAtMs = Date.parse(job.entry.at);
  return viewJob(job, { status: 'QUEUED', createdAtMs, updatedAtMs: createdAtMs }, origin);
}
