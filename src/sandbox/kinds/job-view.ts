import type { JsonObject } from '../wire.ts';

type JobStatus = 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED';

export interface Life {
  readonly status: JobStatus;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface JobView {
  readonly id: string;
  readonly recordId: string;
  readonly user: string;
  readonly body: JsonObject;
  readonly model: string;
  readonly credits: number;
  readonly life: Life;
  readonly files: readonly FileView[];
}

interface FileView {
  readonly name: string;
  readonly mediaType: string;
  readonly url: string;
  readonly assetId: string;
}

export function describeProgress(job: JobView): JsonObject {
  const { status, createdAtMs, updatedAtMs } = job.life;
  return {
    id: job.id,
    status,
    error: describeFailure(job.life),
    createdAt: describeTime(createdAtMs),
    updatedAt: describeTime(updatedAtMs),
  };
}

export function describeFailure({ status }: Life): string | null {
  return status === 'FAILED' ? 'The sandbox failed this job because of its fail rate.' : null;
}

export function describeEnd(job: JobView): JsonObject {
  const { status, updatedAtMs } = job.life;
  return status === 'COMPLETED' || status === 'FAILED' ? { completedAt: describeTime(updatedAtMs) } : {};
}

export function describeLink(name: string, job: JobView, place = 0): JsonObject {
  const file = job.files[place];
  return job.life.status === 'COMPLETED' && file !== undefined ? { [name]: file.url } : {};
}

export function describeAsset(name: string, job: JobView, place = 0): JsonObject {
  const file = job.files[place];
  if (job.life.status !== 'COMPLETED' || file === undefined) return {};
  return { [name]: { id: file.assetId, url: file.url, mimeType: file.mediaType } };
}

export function describeTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
