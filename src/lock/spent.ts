import type { Lock, Purchase } from './record.ts';

/**
 * Sums the credits charged for the jobs in the lock, unknown charges as 0. A job shared by several steps counts once;
 * one id for two different requests is two charges, because services number jobs per kind, or make mistakes.
 */
export function spentCredits(lock: Lock): number {
  let sum = 0;
  for (const credits of chargesByJob(lock).values()) sum += credits;
  return sum;
}

/** Known charges, by `chargeName`. */
export function chargesByJob(lock: Lock): ReadonlyMap<string, number> {
  const charged = new Map<string, number>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      const { jobId, credits } = purchase;
      if (jobId === undefined || credits === undefined) continue;
      const job = chargeName(purchase);
      charged.set(job, Math.max(credits, charged.get(job) ?? 0));
    }
  }
  return charged;
}

/** Names the charge of a job, equal wherever it is recorded. */
export function chargeName({ fingerprint, jobId }: Pick<Purchase, 'fingerprint' | 'jobId'>): string {
  return `${fingerprint} ${jobId}`;
}
