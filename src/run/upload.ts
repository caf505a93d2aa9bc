import type { Ports, UploadOrder } from '../contract/ports.ts';
import type { Json } from '../ground/json.ts';
import { mapOf } from '../ground/values.ts';
import type { StepOrder } from '../plan/plan.ts';
import { fillRequest } from './references.ts';
import { recordOutputs } from './save.ts';
import { type StepEnd, stopFor } from './step-end.ts';

/**
 * Uploads a file to the media library. Uploads are free, so no intent is recorded: if the answer is lost, the file is
 * uploaded again. The public URL is recorded, because no other call returns it.
 */
export async function uploadFile(order: StepOrder, ports: Ports): Promise<StepEnd> {
  const { ledger, signal } = ports;
  if (order.jobId !== undefined) return { outcome: 'done', credits: 0 };
  const shared = order.sharesJobOf === undefined ? undefined : await ledger.jobOf(order.sharesJobOf, order.fingerprint);
  if (shared?.url !== undefined) {
    await recordOutputs(order, ports, { jobId: shared.jobId, outputs: [], how: 'downloaded', url: shared.url });
    return { outcome: 'done', credits: 0 };
  }
  if (signal.aborted) return { outcome: 'left', credits: 0 };
  // Uploads are free, but not needed once buying has stopped: the API key was refused, or the account is empty.
  const begin = await ledger.begin(order);
  if (begin.do === 'stop') return { outcome: 'left', credits: 0 };
  const filled = await fillRequest(order, ports, new Set());
  if (!('body' in filled)) {
    ledger.release(order);
    return filled;
  }
  const answer = await ports.service.upload(uploadOrder(order, filled.body), signal);
  ledger.release(order);
  if (answer.is === 'uploaded') {
    const { assetId, url } = answer;
    await recordOutputs(order, ports, { jobId: assetId, outputs: [], how: 'downloaded', url });
    ports.emit({ event: 'file-uploaded', address: order.address, assetId, bytes: order.file?.bytes ?? null });
    return { outcome: 'done', credits: 0 };
  }
  switch (answer.why) {
    case 'changed':
    case 'refused':
      return { outcome: 'refused', credits: 0, error: answer.message };
    case 'auth':
    case 'unreachable':
      stopFor({ because: answer.why, error: answer.message }, ports);
      return { outcome: 'left', credits: 0, error: answer.message };
    case 'interrupted':
      return { outcome: 'left', credits: 0 };
    default:
      return answer.why satisfies never;
  }
}

/** Upload parameters of an order. `filled`: the request, with the link of another step if it refers to one. */
function uploadOrder({ file, address }: StepOrder, filled: Json): UploadOrder {
  const { fileName, contentType, url } = mapOf(filled);
  const named = {
    ...(typeof fileName === 'string' && { fileName }),
    ...(typeof contentType === 'string' && { contentType }),
  };
  if (file !== undefined) return { ...file, ...named };
  if (typeof url === 'string') return { url, ...named };
  throw new Error(`internal error: ${address} has nothing to upload`);
}
