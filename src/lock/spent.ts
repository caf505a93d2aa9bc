import type { Lock } from './record.ts';

/** Credits charged for the jobs in the lock: each job id once, however many steps share it; unknown charges as 0. */
export function spentCredits(lock: Lock): number {
  const charged = new Map<string, number>();
  for (const { purchases } of lock.steps.values()) {
    for (const { jobId, credits } of purchases) {
      if (jobId !== undefined && credits !== undefined) charged.set(jobId, Math.max(credits, charged.get(jobId) ?? 0));
    }
  }
  let sum = 0;
  for (const credits of charged.values()) sum += credits;
  return sum;
}
