import type { Purchase } from '../lock/record.ts';

/** Which purchase of its fingerprint this is, from 1: what the idempotency key counts. */
export function repeatOf(purchases: Purchase[], purchase: Pick<Purchase, 'fingerprint' | 'generation'>): number {
  const generations = purchases
    .filter(({ fingerprint, generation }) => fingerprint === purchase.fingerprint && generation < purchase.generation)
    .map(({ generation }) => generation);
  return new Set(generations).size + 1;
}

/** The purchase after all that are on record for a step. */
export function nextPurchase(
  purchases: Purchase[],
  fingerprint: string,
): { generation: number; repeat: number; attempt: number } {
  const generation = 1 + Math.max(0, ...purchases.map((purchase) => purchase.generation));
  return { generation, repeat: repeatOf(purchases, { fingerprint, generation }), attempt: 1 };
}
