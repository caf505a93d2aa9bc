import { kinds } from '../../kinds/index.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { mayBeCharged } from '../../lock/sends.ts';
import type { Row } from '../plan.generated.ts';

export function isPost(kind: string): boolean {
  return kinds[kind]?.act === 'post';
}

export function isAskedAbout({ reason, beside }: Pick<Row, 'reason' | 'beside'>): boolean {
  return reason.code === 'post-lost' && beside !== undefined;
}

/** Returns the posts of an address that are or may be published, newest first, including forgotten ones. */
export function sendsOf({ kind, purchases }: StepRecord): Purchase[] {
  // The address may have had another kind before. Earlier purchases in old locks do not state their kind.
  // I24
  return purchases.filter(
    (one, index) =>
      hasLeft(one) && !hasFiles(one) && (isPost(one.kind ?? kind) || (index > 0 && one.kind === undefined)),
  );
}

function hasLeft(purchase: Purchase): boolean {
  return purchase.jobId !== undefined || mayBeCharged(purchase);
}

function hasFiles({ outputs, url }: Purchase): boolean {
  return (outputs !== undefined && outputs.length > 0) || url !== undefined;
}

/** Makes a finder for the address under which exactly this request was posted, including forgotten posts. */
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
