import { isFreelyRepeated } from '../kinds/index.ts';
import type { Job, Lock, OpenSend, Purchase, StepRecord } from './record.ts';

/** Returns whether a purchase is a create request without a known answer, which may have been charged. */
export function mayBeCharged(purchase: Purchase): purchase is OpenSend {
  return purchase.state === 'intent' || purchase.state === 'unresolved';
}

export type AwaitedSend = OpenSend & { writtenOff?: never };

/** Returns whether a purchase is an unresolved create request, which waits for its answer or a user's decision. */
export function isOpenSend(purchase: Purchase): purchase is AwaitedSend {
  return mayBeCharged(purchase) && purchase.writtenOff !== true;
}

export function isJob(purchase: Purchase): purchase is Job {
  return purchase.state !== 'refused' && !mayBeCharged(purchase);
}

/**
 * Lists each unresolved create request of a lock once. While a step is being renamed, the lock may have a request at
 * two addresses; the result then names the one that is in `addresses`.
 */
export function openSends(lock: Lock, addresses: ReadonlySet<string>) {
  const settled = new Set([...closedSends(lock), ...writtenOffSends(lock)]);
  const found = new Map<string, { record: StepRecord; purchase: AwaitedSend }>();
  for (const record of lock.steps.values()) {
    for (const purchase of record.purchases) {
      if (!isOpenSend(purchase)) continue;
      const id = purchase.send;
      const known = found.get(id);
      if (settled.has(id) || (known !== undefined && !addresses.has(record.address))) continue;
      found.set(id, { record, purchase });
    }
  }
  return [...found.values()];
}

export function hasOpenSends(lock: Lock): boolean {
  return openSends(lock, new Set()).length > 0;
}

/** Returns the IDs of create requests that, by the record of any step, were answered or never sent. */
export function closedSends(lock: Lock): ReadonlySet<string> {
  const closed = new Set<string>();
  for (const { closes, decisions } of lock.steps.values()) {
    for (const id of closes ?? []) closed.add(id);
    for (const id of decisions?.sends ?? []) closed.add(id);
  }
  return closed;
}

export function writtenOffSends(lock: Lock): ReadonlySet<string> {
  const writtenOff = new Set<string>();
  for (const { purchases } of lock.steps.values()) {
    for (const purchase of purchases) {
      if (mayBeCharged(purchase) && purchase.writtenOff) writtenOff.add(purchase.send);
    }
  }
  return writtenOff;
}

/** Counts jobs and unresolved create requests, but not uploads and refused requests, which are free. */
export function countJobs({ steps }: Lock): number {
  let count = 0;
  for (const { kind, purchases } of steps.values()) {
    if (isFreelyRepeated(kind)) continue;
    for (const { state } of purchases) if (state !== 'refused') count += 1;
  }
  return count;
}

/**
 * Returns the credits charged for the jobs in the lock. An unknown charge counts as 0. A job shared by several steps
 * counts once. A job ID of two different requests counts twice, because services may number the jobs of each kind.
 */
export function spentCredits(lock: Lock): number {
  let sum = 0;
  for (const credits of chargesByJob(lock).values()) sum += credits;
  return sum;
}

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

/** Returns a name for the charge of a job, which is the same for every step that shares the job. */
export function chargeName({ fingerprint, jobId }: Pick<Job, 'fingerprint' | 'jobId'>): string {
  return `${fingerprint} ${jobId}`;
}
