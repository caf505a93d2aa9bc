import { hash } from 'node:crypto';
import { canonicalJson } from '../../ground/json.ts';
import type { Purchase } from '../../lock/record.ts';
import { isJob } from '../../lock/sends.ts';
import { flatText } from '../../manifest/rows/rows.ts';
import type { Price, Retries } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';

/**
 * Derives the idempotency key of a create request: 44 ASCII characters; the service allows 128. The key depends only on
 * the purchase, so a second clone, or a run without the lock, derives the same key.
 *
 * `repeat` numbers the purchases of this fingerprint from 1. `repeat` increases only when a user buys the same request
 * again on purpose. `attempt` increases after a refusal, because the service may answer a repeated key with the stored
 * error. The service may later accept a refused key, so a run tries all keys in order from the first, and two clones
 * use the same key.
 */
export function idempotencyKey(purchase: {
  campaign: string;
  fingerprint: string;
  repeat: number;
  attempt: number;
}): string {
  // I5, I20
  const text = canonicalJson([1, purchase.campaign, purchase.fingerprint, purchase.repeat, purchase.attempt]);
  return flatText('mb1-', hash('sha256', text).slice(0, 40));
}

export function countRefused(
  purchases: readonly Purchase[],
  purchase: { campaign: string; fingerprint: string; repeat: number },
): number {
  const refused = new Set(purchases.flatMap(({ state, key }) => (state === 'refused' ? [key] : [])));
  if (refused.size === 0) return 0;
  let count = 0;
  while (refused.has(idempotencyKey({ ...purchase, attempt: count + 1 }))) count += 1;
  return count;
}

/** Returns the position of a purchase among the purchases of its fingerprint, from 1. Refusals do not count. */
export function repeatOf(purchases: Purchase[], purchase: Pick<Purchase, 'fingerprint' | 'generation'>): number {
  const generations = purchases
    .filter(
      ({ fingerprint, generation, state }) =>
        fingerprint === purchase.fingerprint && generation < purchase.generation && state !== 'refused',
    )
    .map(({ generation }) => generation);
  return new Set(generations).size + 1;
}

/** Returns generation and repeat number of the step's next purchase. Refusals do not count. */
export function nextPurchase(purchases: Purchase[], fingerprint: string): { generation: number; repeat: number } {
  const made = purchases.filter(({ state }) => state !== 'refused');
  const generation = 1 + made.reduce((most, purchase) => Math.max(most, purchase.generation), 0);
  return { generation, repeat: repeatOf(purchases, { fingerprint, generation }) };
}

export function retriesLeft({ step, record }: Match): Pick<Retries, 'left' | 'credits'> | undefined {
  const { retry } = step.rules ?? {};
  if (retry === undefined) return undefined;
  const jobs = (record?.purchases ?? []).filter(isJob).filter(({ fingerprint }) => fingerprint === step.fingerprint);
  // The first purchase is not a retry.
  const retried = jobs.toSorted((a, b) => a.generation - b.generation).slice(1);
  const spent = retried.reduce((sum, { credits }) => sum + (credits ?? 0), 0);
  return { left: retry.attempts - jobs.length, credits: retry.credits === undefined ? null : retry.credits - spent };
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

export function costOfRetries(retries: Retries, price: Pick<Price, 'credits'>): number | null {
  if (price.credits === null) return retries.credits;
  const all = retries.left * price.credits;
  return retries.credits === null ? all : Math.min(all, retries.credits);
}
