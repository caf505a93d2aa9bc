import { kinds } from '../kinds/index.ts';
import { isOpenCreate } from '../lock/open-create.ts';
import type { Lock, Purchase, StepRecord } from '../lock/record.ts';

/** Whether steps of this kind go public, which cannot be taken back. */
export function isPost(kind: string): boolean {
  return kinds[kind]?.act === 'post';
}

/** What left for an address and is out, or may be, forgotten or not. Newest first; empty: nothing ever was posted. */
export function sendsOf({ kind, purchases }: StepRecord): Purchase[] {
  // An address may have had another kind before. Only the newest purchase is surely of the record's kind.
  return purchases.filter((one, index) => hasLeft(one) && !hasFiles(one) && (index > 0 || isPost(kind)));
}

function hasLeft(purchase: Purchase): boolean {
  return purchase.jobId !== undefined || isOpenCreate(purchase);
}

/** What made a file was no post. */
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
