import type { LockFile } from '../disk/lock-file.ts';
import { joinInto, recordOf } from '../lock/join.ts';
import type { Lock, LockLine, Purchase } from '../lock/record.ts';
import { writeLine } from '../lock/write.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { FinishedJob } from '../run/ports.ts';

/** The lock in memory and on disk at once: a fact is durable first, then part of the fold. */
export class Journal {
  readonly lock: Lock;
  /** Whether anything was appended. */
  recorded = false;
  readonly #file: LockFile;
  readonly #keysByJob = new Map<string, string>();

  constructor(lock: Lock, file: LockFile) {
    this.lock = lock;
    this.#file = file;
    for (const { purchases } of lock.steps.values()) {
      for (const { jobId, key } of purchases) if (jobId !== undefined) this.#keysByJob.set(jobId, key);
    }
  }

  /** Resolves when the line is durable. */
  async append(order: StepOrder, facts: Partial<Purchase> & Pick<Purchase, 'state'>): Promise<void> {
    const line: LockLine = {
      address: order.address,
      kind: order.kind,
      fingerprint: order.fingerprint,
      generation: order.generation,
      attempt: order.attempt,
      key: order.key,
      ...facts,
      ...this.#historyOf(order),
    };
    this.recorded = true;
    try {
      await this.#file.append(writeLine(line));
    } catch (error) {
      // A job is there whether or not the disk says so: what is known here may still be saved when the lock is settled.
      if (line.jobId !== undefined) this.#fold(line);
      throw error;
    }
    this.#fold(line);
  }

  /** What is on record of this order's purchase, here or where it was bought. */
  purchasesOf(order: StepOrder): Purchase[] {
    const addresses = [order.address, ...(order.movedFrom === undefined ? [] : [order.movedFrom])];
    return addresses
      .flatMap((address) => this.lock.steps.get(address)?.purchases ?? [])
      .filter(
        ({ fingerprint, generation, attempt }) =>
          fingerprint === order.fingerprint && generation === order.generation && attempt === order.attempt,
      );
  }

  jobOf(address: string, fingerprint: string): FinishedJob | undefined {
    const record = this.lock.steps.get(address);
    const done = record?.purchases.find(
      (purchase) => purchase.state === 'done' && purchase.fingerprint === fingerprint,
    );
    if (record === undefined || done?.jobId === undefined) return undefined;
    const { jobId, url, outputs } = done;
    return { kind: record.kind, jobId, files: outputs?.length ?? 0, ...(url !== undefined && { url }) };
  }

  keyOfJob(jobId: string): string | undefined {
    return this.#keysByJob.get(jobId);
  }

  /** A step that was bought under another name takes everything on record there along. */
  #historyOf(order: StepOrder): { earlier?: Purchase[] } {
    const old = order.movedFrom === undefined ? undefined : this.lock.steps.get(order.movedFrom);
    return old === undefined ? {} : { earlier: old.purchases };
  }

  #fold(line: LockLine): void {
    if (line.jobId !== undefined) this.#keysByJob.set(line.jobId, line.key);
    joinInto(this.lock.steps, recordOf(line));
  }
}
