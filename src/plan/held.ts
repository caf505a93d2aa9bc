import type { Lock } from '../lock/record.ts';
import type { PriceOf } from './prices.ts';

export interface Held {
  credits: number;
  /** How many of them have a price that nobody knows. */
  unknownPrices: number;
}

/**
 * What may have been spent without our knowing how much: creates whose answer was lost, and jobs for which the service
 * did not say what it deducted. It counts against the budget until somebody knows.
 * `sentAgain`: keys of creates that are asked for again, and so reserve their price anew.
 */
export function heldCredits(lock: Lock, priceOf: PriceOf, sentAgain: ReadonlySet<string> = new Set()): Held {
  const held: Held = { credits: 0, unknownPrices: 0 };
  const seen = new Set<string>(sentAgain);
  for (const { kind, purchases } of lock.steps.values()) {
    for (const { state, key, jobId, credits: charged, request = purchases[0]?.request } of purchases) {
      const name = jobId ?? key;
      if (state === 'refused' || charged !== undefined || seen.has(name)) continue;
      seen.add(name);
      const credits = request === undefined ? null : priceOf(kind, request).credits;
      held.credits += credits ?? 0;
      held.unknownPrices += credits === null ? 1 : 0;
    }
  }
  return held;
}
