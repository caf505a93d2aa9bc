import type { Job } from './books.ts';
import { digest, lot } from './digest.ts';
import type { JobView, Life } from './kinds/job-view.ts';
import { outputArea } from './own-url.ts';

export function lifeOf(job: Job, now: number, options: { speed: number; failRate: number }): Life {
  const { least, most } = job.kind.durationMs;
  const createdAtMs = Date.parse(job.entry.at);
  const durationMs = (least + (most - least) * lot(job.seed, 0)) / options.speed;
  const startedAtMs = Math.floor(createdAtMs + durationMs * (0.15 + 0.2 * lot(job.seed, 1)));
  const endedAtMs = Math.floor(createdAtMs + durationMs);
  if (now >= endedAtMs) {
    const status = lot(job.seed, 2) < options.failRate ? 'FAILED' : 'COMPLETED';
    return { status, createdAtMs, updatedAtMs: endedAtMs };
  }
  if (now >= startedAtMs) return { status: 'PROCESSING', createdAtMs, updatedAtMs: startedAtMs };
  return { status: 'QUEUED', createdAtMs, updatedAtMs: createdAtMs };
}

interface Clockwork {
  readonly books: { syncedAt(job: Job): number | undefined; recordSync(job: Job, now: number): void };
  readonly speed: number;
  readonly failRate: number;
  readonly now: () => number;
}

/** Returns the current state of a job or, with progress `when asked`, its state at the last status request. */
export function shownLife(job: Job, clockwork: Clockwork): Life {
  if (job.kind.status.progress === 'by the clock') return lifeOf(job, clockwork.now(), clockwork);
  const syncedAtMs = clockwork.books.syncedAt(job);
  if (syncedAtMs !== undefined) return lifeOf(job, syncedAtMs, clockwork);
  const createdAtMs = Date.parse(job.entry.at);
  return { status: 'QUEUED', createdAtMs, updatedAtMs: createdAtMs };
}

export function syncLife(job: Job, clockwork: Clockwork): Life {
  if (job.kind.status.progress === 'when asked') {
    const now = clockwork.now();
    const life = lifeOf(job, now, clockwork);
    if (life.status !== shownLife(job, clockwork).status) clockwork.books.recordSync(job, now);
  }
  return shownLife(job, clockwork);
}

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

/** Returns the name of the model that makes the job. In a rehearsal, returns the requested name unchanged. */
export function modelOf({ kind, body, entry }: Job): string {
  const { model } = kind.settle(body);
  return body.model === entry.body.model ? model : String(entry.body.model);
}

export function viewCreated(job: Job, origin: string): JobView {
  const createdAtMs = Date.parse(job.entry.at);
  return viewJob(job, { status: 'QUEUED', createdAtMs, updatedAtMs: createdAtMs }, origin);
}
