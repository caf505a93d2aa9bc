import type { Lock } from './record.ts';

/**
 * Credits charged for the jobs in the lock, unknown charges as 0. A job that several steps share is counted once; one id for
 * two different requests is two charges, because services number the jobs of each kind by themselves, or err.
 */
export function spentCredits(lock: Lock): number {
  const charged = new Map<string, number>();
  for (const { purchases } of lock.steps.values()) {
    for (const { fingerprint, jobId, credits } of purchases) {
      if (jobId === undefined || credits === undefined) continue;
      const job = `${fingerprint} ${jobId}`;
      charged.set(job, Math.max(credits, charged.get(job) ?? 0));
    }
  }
  let sum = 0;
  for (const credits of charged.values()) sum += credits;
  return sum;
}
