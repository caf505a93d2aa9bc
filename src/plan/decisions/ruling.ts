import type { Advice } from '../../ground/advice.ts';
import { mostRevision } from '../../lock/decisions.ts';
import type { Job, StepRecord } from '../../lock/record.ts';

/** Result of a user's decision about one step. `text` is printed after the step's address. */
export type Ruling =
  /** `records`: records to merge into the lock. */
  | {
      is: 'recorded';
      address: string;
      text: string;
      records: StepRecord[];
      /** The verdict, if it is not the command's own: a file given to `pick` can also reject. */
      as?: 'reject';
    }
  /** The same decision is on record already. */
  | { is: 'unchanged'; address: string; text: string }
  | { is: 'refused'; address: string; text: string; hint: Advice };

export function refuse(address: string, text: string, hint: Advice): Ruling {
  return { is: 'refused', address, text, hint };
}

/**
 * Refuses a decision if the one before it has the highest revision, because each needs a higher one. Returns
 * `undefined` if a higher revision exists.
 */
export function refuseAtLast(address: string, before: { revision: number } | undefined): Ruling | undefined {
  if (before === undefined || before.revision < mostRevision) return undefined;
  const text = `can no longer be decided: the last decision has revision ${before.revision} in the lock, which is the maximum`;
  return refuse(address, text, 'nobody decides that often: lower that number in the lock by hand');
}

/** Describes a job with its ID and charge, if known, for example `job abc (5 credits)`. */
export function nameOfJob({ jobId, credits }: Job): string {
  return credits === undefined ? `job ${jobId}` : `job ${jobId} (${creditsOf(credits)})`;
}

/** `null`: the amount is unknown. */
export function creditsOf(credits: number | null): string {
  if (credits === null) return 'an unknown number of credits';
  return credits === 1 ? '1 credit' : `${credits} credits`;
}
