import { kinds } from '../../kinds/index.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { mayBeCharged } from '../../lock/sends.ts';
import type { Row } from '../plan.generated.ts';

/** Tells whether steps of this kind are published, which cannot be undone. */
export function isPost(kind: string): boolean {
  return kinds[kind]?.act === 'post';
}

/** Tells whether a post waits for a person to say whether it is one that is out. */
export function isAskedAbout({ reason, beside }: Pick<Row, 'reason' | 'beside'>): boolean {
  return reason.code === 'post-lost' && beside !== undefined;
}

/** Returns what left for an address and is out, or may be, forgotten or not. Newest first; empty: never posted. */
export function sendsOf({ kind, purchases }: StepRecord): Purchase[] {
  // An address may have had another kind before. An earlier purchase of an old lock does not say which.
  // I24
  return purchases.filter(
    (one, index) =>
      hasLeft(one) && !hasFiles(one) && (isPost(one.kind ?? kind) || (index > 0 && one.kind === undefined)),
  );
}

function hasLeft(purchase: Purchase): boolean {
  return purchase.jobId !== undefined || mayBeCharged(purchase);
}

/** Recognizes a purchase that made a file, which is never a post. */
function hasFiles({ outputs, url }: Purchase): boolean {
  return (outputs !== undefined && outputs.length > 0) || url !== undefined;
}

/** Finds the address under which this very request was posted, forgotten or not. */
export function findPosted(lock: Lock): (fingerprint: string) => string | undefined {
  let posted: Map<string, string> | undefined;
  const collect = () => {
    const found = new Map<string, string>();
    for (const record of lock.steps.values()) {
      for (const { fingerprint, jobId } of sendsOf(record)) {
        if (jobId !== undefined) found.set(fingerprint, record.address);
      }
    }
    return found;
  };
  return (fingerprint) => {
    posted ??= collect();
    return posted.get(fingerprint);
  };
}
