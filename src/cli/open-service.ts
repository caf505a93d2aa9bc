import { basename, join } from 'node:path';
import type { Clock, Ports, UploadOrder } from '../run/ports.ts';
import type { UploadAnswer } from '../service/answer.ts';
import type { CreateRoutes } from '../service/create.ts';
import { createLibrary, type Library, ServiceError } from '../service/library.ts';
import type { Durations } from '../service/polling/durations.ts';
import { createService } from '../service/service.ts';
import type { Access } from './environment.ts';

export interface ServiceSettings {
  clock: Clock;
  pollInterval: 'auto' | number;
  /** What is known of how long jobs take; grows with the run. */
  durations?: Durations;
  requestTimeoutMs: number;
  createTimeoutMs: number;
  patienceMs: number;
  /** Files to upload are relative to it. */
  folder: string;
  createRoutes: CreateRoutes;
}

export type RunService = Ports['service'] & { close(): Promise<void> };

/** The service as a run needs it: creates, status and downloads, and the media library for uploads. */
export function openRunService(access: Access, settings: ServiceSettings): RunService {
  const { clock, requestTimeoutMs, createTimeoutMs, patienceMs, pollInterval, createRoutes } = settings;
  const client = createService({
    ...access,
    clock,
    ...(pollInterval !== 'auto' && { pollIntervalMs: pollInterval }),
    ...(settings.durations !== undefined && { durations: settings.durations }),
    requestTimeoutMs,
    createTimeoutMs,
    patienceMs,
    createRoutes,
  });
  let library: Library | undefined;
  return {
    replays: (kind) => client.replays(kind),
    clockAheadMs: (asked) => client.clockAheadMs(asked),
    create: (call) => client.create(call),
    newestJob: (kind) => client.newestJob(kind),
    walkJobs: (kind, fences) => client.walkJobs(kind, fences),
    watch: (job, options) => client.watch(job, options),
    open: (url, signal) => client.open(url, signal),
    async upload(order, signal) {
      library ??= createLibrary({ ...access, clock, requestTimeoutMs });
      return upload(library, order, { folder: settings.folder, signal });
    },
    async close() {
      await Promise.all([client.close(), library?.close()]);
    },
  };
}

async function upload(
  library: Library,
  order: UploadOrder,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<UploadAnswer> {
  try {
    const asset =
      'url' in order
        ? await library.uploadUrl(order.url, order.fileName, signal)
        : await library.upload(
            { ...order, path: join(folder, order.path), fileName: order.fileName ?? basename(order.path) },
            signal,
          );
    return { is: 'uploaded', assetId: asset.id, url: asset.url };
  } catch (error) {
    if (signal.aborted) return { is: 'failed', why: 'interrupted', message: 'interrupted' };
    if (!(error instanceof ServiceError)) throw error;
    switch (error.why) {
      case 'auth':
      case 'unreachable':
      case 'refused':
        return { is: 'failed', why: error.why, message: error.message };
      case 'unusable':
        return { is: 'failed', why: 'refused', message: error.message };
      default:
        return error.why satisfies never;
    }
  }
}
