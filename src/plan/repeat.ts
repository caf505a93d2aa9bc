import type { Purchase } from '../lock/record.ts';

/** Which purchase of its fingerprint this is, from 1: what the idempotency key counts. A refusal bought nothing. */
export function repeatOf(purchases: Purchase[], purchase: Pick<Purchase, 'fingerprint' | 'generation'>): number {
  const generations = purchases
    .filter(
      ({ fingerprint, generation, state }) =>
        fingerprint === purchase.fingerprint && generation < purchase.generation && state !== 'refused',
    )
    .map(({ generation }) => generation);
  return new Set(generations).size + 1;
}

/** The purchase after all that are on record for a step. What was only refused was none. */
export function nextPurchase(purchases: Purchase[], fingerprint: string): { generation: number; repeat: number } {
  const made = purchases.filter(({ state }) => state !== 'refused');
  const generation = 1 + made.reduce((most, purchase) => Math.max(most, purchase.generation), 0);
  return { generation, repeat: repeatOf(purchases, { fingerprint, generation }) };
}
