import type { Job, Lock } from './record.ts';
import { isJob } from './sends.ts';

/**
 * Sums the credits charged for the jobs in the lock, with unknown charges as 0. A job shared by several steps counts
 * once. One job id for two different requests counts as two charges, because services may number jobs per kind, or make
 * mistakes.
 */
export function spentCredits(lock: Lock): number {
  let sum = 0;
  for (const credits of chargesByJob(lock).values()) sum += credits;
  return sum;
}

/** Known charges in credits, by `chargeName`. */
export function chargesByJob(lock: Lock): ReadonlyMap<string, number> {
  const charged = new Map<string, number>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (!isJob(purchase) || purchase.credits === undefined) continue;
      const job = chargeName(purchase);
      charged.set(job, Math.max(purchase.credits, charged.get(job) ?? 0));
    }
  }
  return charged;
}

/** Identifies the charge of a job; equal at every address that records the job. */
export function chargeName({ fingerprint, jobId }: Pick<Job, 'fingerprint' | 'jobId'>): string {
  return `${fingerprint} ${jobId}`;
}
