import { isOpenCreate } from '../lock/open-create.ts';
import type { LockLine, Purchase, StepRecord } from '../lock/record.ts';
import { idempotencyKey } from './key.ts';
import { nextPurchase } from './repeat.ts';

/** What a person has found out about a create whose answer was lost. */
export type Finding =
  /** It was charged, and this is its job. */
  | { is: 'job'; jobId: string; credits?: number; recordId?: string }
  /** It never reached the service: nothing was charged. */
  | { is: 'not-spent' }
  /** Nobody knows, and it is to be bought (perhaps once more). */
  | { is: 'spend-again' };

/** The create of this step that nobody knows the outcome of; the newest, should there be several. */
export function findOpenPurchase(record: StepRecord | undefined): Purchase | undefined {
  return record?.purchases.find(isOpenCreate);
}

/** The line that records the finding. Nothing that may have been paid for leaves the lock. */
export function resolvePurchase(
  record: StepRecord,
  open: Purchase,
  decided: { campaign: string; finding: Finding },
): LockLine {
  const { address, kind } = record;
  const { fingerprint, generation, attempt, key, request, take } = open;
  const same = { address, kind, fingerprint, ...(request && { request }), ...(take !== undefined && { take }) };
  const { campaign, finding } = decided;
  switch (finding.is) {
    case 'job':
      return {
        ...same,
        generation,
        attempt,
        key,
        state: 'running',
        jobId: finding.jobId,
        ...(finding.credits !== undefined && { credits: finding.credits }),
        ...(finding.recordId !== undefined && { recordId: finding.recordId }),
      };
    case 'not-spent':
      return { ...same, generation, attempt, key, state: 'refused', error: 'decided: it was not charged' };
    case 'spend-again': {
      // The doubtful purchase stays as it is; the next create is another purchase, under another key.
      const next = nextPurchase(record.purchases, fingerprint);
      return {
        ...same,
        generation: next.generation,
        attempt: next.attempt,
        key: idempotencyKey({ campaign, fingerprint, repeat: next.repeat, attempt: next.attempt }),
        state: 'refused',
        error: 'decided: buy it again',
      };
    }
    default:
      return finding satisfies never;
  }
}
