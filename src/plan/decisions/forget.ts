import { call, way } from '../../ground/advice.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { creditsOf, nameOfJob, type Ruling, refuse } from './ruling.ts';

/**
 * Makes the purchases of an address count as never made. IDs and charges stay on record, because a budget still counts
 * them. A create request without an answer is never forgotten, because it may have been charged. A running job is paid
 * but not collected, so forgetting it requires `force`.
 */
export function forgetRecord(
  record: StepRecord,
  context: {
    /** `null`: unknown. Omitted when the step is no longer in the manifest, because it is not bought again. */
    price?: number | null;
    isPinnedByTask?: boolean;
    force: boolean;
  },
): Ruling {
  const { address, purchases } = record;
  const counted = countedPurchases(record);
  if (counted.length === 0) return { is: 'unchanged', address, text: 'is forgotten already' };
  const isOrphan = context.price === undefined;
  const isPinned = counted.some(({ fingerprint }) => fingerprint === pinnedFingerprint(record));
  if (!isOrphan && (context.isPinnedByTask === true || isPinned)) {
    return refuse(
      address,
      'is pinned, and what is pinned is not given up',
      context.isPinnedByTask === true
        ? 'take the pin off first: `pin: true` of its task in the manifest'
        : way('take the pin off first', call('pin', address, '--undo')),
    );
  }
  if (counted.some(isOpenSend)) {
    return refuse(
      address,
      'has a create whose answer was lost: nobody knows yet whether it was paid',
      way('run apply, which asks for it again, and then forget it; what stays unknown', call('resolve', address)),
    );
  }
  const running = counted.filter(isJob).find(({ state }) => state === 'running');
  if (running !== undefined && !context.force) {
    return refuse(
      address,
      `${nameOfJob(running)} is running: it is paid, and its output is not here yet`,
      'run apply to collect it first; --force gives it up',
    );
  }
  const isOut = isPost(record.kind) && sendsOf(record).length > 0;
  const next = isOut ? describePosted(isOrphan) : describeCost(context.price);
  const text = `${describePaid(counted)}${next}`;
  return { is: 'recorded', address, text, records: [{ ...record, purchases: purchases.map(asForgotten) }] };
}

/** Identifies a single purchase, so that purchases made at this address on another branch are not forgotten with it. */
export function asForgotten(purchase: Purchase): Purchase {
  return purchase.writtenOff ? purchase : { ...purchase, forgotten: true };
}

function describePaid(counted: readonly Purchase[]): string {
  const jobs = new Map(
    counted.flatMap((purchase) => (purchase.jobId === undefined ? [] : [[purchase.jobId, purchase]])),
  );
  if (jobs.size === 0) return 'what was refused';
  const credits = [...jobs.values()].reduce((sum, one) => sum + (one.credits ?? 0), 0);
  return `${jobs.size === 1 ? '1 job' : `${jobs.size} jobs`} of ${creditsOf(credits)}; the budget still counts them`;
}

function describePosted(isOrphan: boolean): string {
  if (isOrphan) return '. The published post stays. New posts to its accounts no longer wait for it';
  return '. What is online stays, and is not posted again under this address';
}

function describeCost(price: number | null | undefined): string {
  return price === undefined ? '' : `. To make it again costs ${creditsOf(price)}`;
}
