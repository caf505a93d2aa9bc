import type { StepRecord } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import type { Price, Retries } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import { nextPurchase } from './key.ts';
import { classifyFailure } from './refusals.ts';

export type RetryAnswer =
  | { is: 'none' }
  | { is: 'used-up'; why: string }
  | { is: 'again'; made: number; attempts: number };

/** Returns whether `retry:` allows a step whose job failed to be bought again. */
export function findRetry({ step, record, purchase }: Match): RetryAnswer {
  const { retry } = step;
  if (retry === undefined) return { is: 'none' };
  if (classifyFailure(purchase?.error) === 'prompt') {
    return { is: 'used-up', why: 'the prompt was refused, and `retry` does not buy the same one again' };
  }
  const { made, spent } = countPurchases({ step, record });
  if (made >= retry.attempts) return { is: 'used-up', why: `all ${retry.attempts} attempts of \`retry\` were made` };
  if (retry.credits !== undefined && spent + Math.max(1, purchase?.credits ?? 0) > retry.credits) {
    return { is: 'used-up', why: `the ${retry.credits} credits of \`retry\` do not reach for another` };
  }
  return { is: 'again', made, attempts: retry.attempts };
}

/** Returns the purchases that may follow if the job of an order fails. */
export function retriesAfter(
  { step, record }: Match,
  bought: { generation: number; repeat: number; jobIsKnown: boolean },
): Retries | undefined {
  const { retry } = step;
  if (retry === undefined) return undefined;
  const { made, spent } = countPurchases({ step, record });
  const left = retry.attempts - made - (bought.jobIsKnown ? 0 : 1);
  if (left <= 0) return undefined;
  const next = nextPurchase(record?.purchases ?? [], step.fingerprint);
  return {
    left,
    credits: retry.credits === undefined ? null : Math.max(0, retry.credits - spent),
    generation: bought.jobIsKnown ? next.generation : Math.max(next.generation, bought.generation + 1),
    repeat: bought.jobIsKnown ? next.repeat : Math.max(next.repeat, bought.repeat + 1),
  };
}

/** Returns the maximum additional cost of the retries; `null`: unknown. */
export function costOfRetries(retries: Retries, price: Pick<Price, 'credits'>): number | null {
  if (price.credits === null) return retries.credits;
  const all = retries.left * price.credits;
  return retries.credits === null ? all : Math.min(all, retries.credits);
}

/** Counts the jobs of this exact request so far, and sums the charges of all but the first. */
function countPurchases({ step, record }: { step: Match['step']; record: StepRecord | undefined }): {
  made: number;
  spent: number;
} {
  const jobs = (record?.purchases ?? []).filter(isJob).filter(({ fingerprint }) => fingerprint === step.fingerprint);
  const oldestFirst = [...jobs].sort((a, b) => a.generation - b.generation);
  return { made: jobs.length, spent: oldestFirst.slice(1).reduce((sum, { credits }) => sum + (credits ?? 0), 0) };
}
