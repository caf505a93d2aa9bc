import type { StepRecord } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import type { Price, Retries } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import { nextPurchase } from './key.ts';

/** Returns what `retry:` leaves for a step; `undefined`: it has none. */
export function retriesLeft({ step, record }: Match): Pick<Retries, 'left' | 'credits'> | undefined {
  const { retry } = step;
  if (retry === undefined) return undefined;
  const { made, spent } = countPurchases({ step, record });
  return { left: retry.attempts - made, credits: retry.credits === undefined ? null : retry.credits - spent };
}

export function retriesAfter(
  match: Match,
  bought: { generation: number; repeat: number; jobIsKnown: boolean },
): Retries | undefined {
  const rest = retriesLeft(match);
  const left = (rest?.left ?? 0) - (bought.jobIsKnown ? 0 : 1);
  if (rest === undefined || left <= 0) return undefined;
  const next = nextPurchase(match.record?.purchases ?? [], match.step.fingerprint);
  return {
    left,
    credits: rest.credits === null ? null : Math.max(0, rest.credits),
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
