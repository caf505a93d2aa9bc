import type { LockLine, OpenSend, StepRecord } from '../../lock/record.ts';
import { isPost } from '../posts/post-record.ts';

/** Error text of a create that a user resolved as not spent. */
export function decidedText(kind: string): string {
  return `decided: ${isPost(kind) ? 'it is not out' : 'it was not charged'}`;
}

/** A person's finding about a create whose answer was lost. */
export type Finding =
  /** It was charged, and this is its job. */
  | { is: 'job'; jobId: string; credits?: number; recordId?: string }
  /** It never reached the service: nothing was charged. */
  | { is: 'not-spent' }
  /** Nobody knows, and it is to be bought (perhaps once more). */
  | { is: 'spend-again' };

/**
 * Makes the line that records a finding about one open send, and about no other. It stays decided when a branch comes
 * back on which the send is still open. Nothing that may have been paid for leaves the lock.
 */
export function resolvePurchase(record: StepRecord, open: OpenSend, finding: Finding): LockLine {
  const { address } = record;
  const { fingerprint, generation, attempt, key, request, take } = open;
  const line = {
    address,
    kind: open.kind ?? record.kind,
    fingerprint,
    generation,
    attempt,
    key,
    ...(request && { request }),
    ...(take !== undefined && { take }),
  };
  const decisions = { sends: [open.send] };
  switch (finding.is) {
    case 'job':
      return {
        ...line,
        state: 'running',
        jobId: finding.jobId,
        ...(finding.credits !== undefined && { credits: finding.credits }),
        ...(finding.recordId !== undefined && { recordId: finding.recordId }),
        decisions,
      };
    case 'not-spent':
      return {
        ...line,
        state: 'refused',
        decided: true,
        error: decidedText(line.kind),
        decisions,
      };
    case 'spend-again':
      // It may have been charged, so its price stays held; the next create is another purchase, under another key.
      return { ...open, ...line, writtenOff: true };
    default:
      return finding satisfies never;
  }
}
