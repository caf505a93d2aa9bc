import { countedPurchases } from '../lock/decisions.ts';
import type { Purchase, StepRecord } from '../lock/record.ts';
import { isOpenSend } from '../lock/sends.ts';

/**
 * Picks the purchase of this request that counts: the newest that is bought or running, else an open send, which is
 * asked about before anything is bought, else the newest failure, else the newest refusal.
 */
export function purchaseOf(record: StepRecord, fingerprint: string): Purchase | undefined {
  const same = countedPurchases(record).filter((purchase) => purchase.fingerprint === fingerprint);
  return (
    same.find(({ state }) => state === 'done' || state === 'running') ??
    same.find(isOpenSend) ??
    same.find(({ state }) => state !== 'refused') ??
    same[0]
  );
}
