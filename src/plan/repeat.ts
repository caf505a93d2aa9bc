import type { Purchase } from '../lock/record.ts';

/** Number of a purchase among those of its fingerprint, from 1, for the idempotency key. A refusal bought nothing. */
export function repeatOf(purchases: Purchase[], purchase: Pick<Purchase, 'fingerprint' | 'generation'>): number {
  const generations = purchases
    .filter(
      ({ fingerprint, generation, state }) =>
        fingerprint === purchase.fingerprint && generation < purchase.generation && state !== 'refused',
    )
    .map(({ generation }) => generation);
  return new Set(generations).size + 1;
}

/** Returns the purchase after all those on record for a step. Refused ones do not count. */
export function nextPurchase(purchases: Purchase[], fingerprint: string): { generation: number; repeat: number } {
  const made = purchases.filter(({ state }) => state !== 'refused');
  const generation = 1 + made.reduce((most, purchase) => Math.max(most, purchase.generation), 0);
  return { generation, repeat: repeatOf(purchases, { fingerprint, generation }) };
}
