import type { Advice } from '../../ground/advice.ts';
import { mostRevision } from '../../lock/decisions.ts';
import type { Job, StepRecord } from '../../lock/record.ts';

/** Result of a user decision about one step. `text` follows the step's address. */
export type Ruling =
  /** `records`: records to join into the lock. */
  | {
      is: 'recorded';
      address: string;
      text: string;
      records: StepRecord[];
      /** The verdict, where it is not what the command is called: files of `pick` reject, too. */
      as?: 'reject';
    }
  /** The same decision was made before. */
  | { is: 'unchanged'; address: string; text: string }
  | { is: 'refused'; address: string; text: string; hint: Advice };

export function refuse(address: string, text: string, hint: Advice): Ruling {
  return { is: 'refused', address, text, hint };
}

/** A decision takes a higher revision than the one before it. `undefined`: there is one. */
export function refuseAtLast(address: string, before: { revision: number } | undefined): Ruling | undefined {
  if (before === undefined || before.revision < mostRevision) return undefined;
  const text = `can no longer be decided: the last decision has revision ${before.revision} in the lock, which is the maximum`;
  return refuse(address, text, 'nobody decides that often: lower that number in the lock by hand');
}

/** Names a job as far as it is known: `job abc (5 credits)`. */
export function nameOfJob({ jobId, credits }: Job): string {
  return credits === undefined ? `job ${jobId}` : `job ${jobId} (${creditsOf(credits)})`;
}

/** `null`: unknown. */
export function creditsOf(credits: number | null): string {
  if (credits === null) return 'an unknown number of credits';
  return credits === 1 ? '1 credit' : `${credits} credits`;
}
