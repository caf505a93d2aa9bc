import type { Lock } from '../lock/record.ts';

/** The purchase that gave an output. A job with several outputs was paid once. */
export interface PaidOutput {
  address: string;
  /** Path as recorded, relative to the output folder. */
  path: string;
  jobId?: string;
  /** Absent: the lock does not say. */
  credits?: number;
}

/** Every output on record, by SHA-256 (hex); of several with the same bytes, one is named. */
export function findPaidOutputs(lock: Lock): Map<string, PaidOutput> {
  const paid = new Map<string, PaidOutput>();
  for (const record of lock.steps.values()) {
    for (const { jobId, credits, outputs = [] } of record.purchases) {
      for (const { path, sha256 } of outputs) {
        if (paid.has(sha256)) continue;
        const charge = { ...(jobId !== undefined && { jobId }), ...(credits !== undefined && { credits }) };
        paid.set(sha256, { address: record.address, path, ...charge });
      }
    }
  }
  return paid;
}

/** The part of it that a list of files shows. */
export function chargeOf(
  paid: Pick<PaidOutput, 'jobId' | 'credits'> | undefined,
): Pick<PaidOutput, 'jobId' | 'credits'> {
  const { jobId, credits } = paid ?? {};
  return { ...(credits !== undefined && { credits }), ...(jobId !== undefined && { jobId }) };
}
