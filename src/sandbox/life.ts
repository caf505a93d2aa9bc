import type { Job } from './books.ts';
import type { JsonObject } from './wire.ts';

export type JobStatus = 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED';

export interface Life {
  readonly status: JobStatus;
  readonly createdAtMs: number;
  /** When the present status was reached. */
  readonly updatedAtMs: number;
}

/** Where a job stands. Computed from the clock, so nothing ticks and nothing is lost with the process. */
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

/** The job as the status call shows it. */
export function describeJob(job: Job, life: Life, outputUrl: string): JsonObject {
  const updatedAt = new Date(life.updatedAtMs).toISOString();
  const view: JsonObject = { id: job.entry.id, status: life.status };
  if (life.status === 'COMPLETED') view.outputUrl = outputUrl;
  view.error = life.status === 'FAILED' ? 'The sandbox let this job fail, as its fail rate asks.' : null;
  view.createdAt = new Date(life.createdAtMs).toISOString();
  view.updatedAt = updatedAt;
  if (life.status === 'COMPLETED' || life.status === 'FAILED') view.completedAt = updatedAt;
  return view;
}

/** A number from 0 to below 1, the same for the same seed and place. */
function lot(seed: string, place: number): number {
  return Number.parseInt(seed.slice(place * 8, place * 8 + 8), 16) / 2 ** 32;
}
