import type { JsonObject } from '../wire.ts';

export type JobStatus = 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED';

export interface Life {
  readonly status: JobStatus;
  readonly createdAtMs: number;
  /** When the present status was reached. */
  readonly updatedAtMs: number;
}

export interface JobView {
  readonly id: string;
  /** Id of the record that the job stands in, for kinds whose records have ids of their own. */
  readonly recordId: string;
  readonly user: string;
  readonly body: JsonObject;
  /** The model that does the work; aliases are resolved. */
  readonly model: string;
  readonly credits: number;
  readonly life: Life;
  /** Its files, in order, whether they can be had yet or not. */
  readonly files: readonly FileView[];
}

export interface FileView {
  readonly name: string;
  readonly mediaType: string;
  readonly url: string;
  /** Id of the asset, where an answer shows one. */
  readonly assetId: string;
}

/** The fields that every view of a job begins with: `id`, `status`, `error`, `createdAt`, `updatedAt`. */
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
  return status === 'FAILED' ? 'The sandbox let this job fail, as its fail rate asks.' : null;
}

/** `completedAt`, once there is one. */
export function describeEnd(job: JobView): JsonObject {
  const { status, updatedAtMs } = job.life;
  return status === 'COMPLETED' || status === 'FAILED' ? { completedAt: describeTime(updatedAtMs) } : {};
}

/** The file's URL under this name, once there is one. */
export function describeLink(name: string, job: JobView, place = 0): JsonObject {
  const file = job.files[place];
  return job.life.status === 'COMPLETED' && file !== undefined ? { [name]: file.url } : {};
}

/** The file as an asset under this name, once there is one. */
export function describeAsset(name: string, job: JobView, place = 0): JsonObject {
  const file = job.files[place];
  if (job.life.status !== 'COMPLETED' || file === undefined) return {};
  return { [name]: { id: file.assetId, url: file.url, mimeType: file.mediaType } };
}

export function describeTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
