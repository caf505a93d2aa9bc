import { basename, join } from 'node:path';
import type { UploadAnswer } from '../contract/answer.ts';
import { ServiceError } from '../contract/errors.ts';
import type { UploadOrder } from '../contract/ports.ts';
import type { Library } from './library.ts';

/** Brings an order's file into the media library. Every answer of the service becomes an answer here. */
export async function uploadOrder(
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
