import type { Step } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import type { Purchase, StepRecord } from '../../lock/record.ts';
import { isJob, isOpenSend } from '../../lock/sends.ts';
import { describeChanges, findChanges } from '../compare/changes.ts';
import { isPost, sendsOf } from '../posts/post-record.ts';
import { findKept } from '../situation/decide-graph.ts';
import { creditsOf, nameOfJob, type Ruling, refuse, refuseOpenSend } from './ruling.ts';

/**
 * Marks the purchases of an address as forgotten. Their IDs and charges stay in the lock and count toward the budget.
 * Refuses an unresolved create request, because the request may have been charged. A running job is forgotten only with
 * `force`, because the job is paid and its output would be lost.
 */
export function forgetRecord(
  record: StepRecord,
  context: {
    /** Price of the step's next purchase; `null` if unknown. Omitted if the step is not in the manifest. */
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
    const undo = way('remove the pin first', call('pin', address, '--undo'));
    return refuse(address, 'is pinned', context.isPinnedByTask ? 'remove `pin: true` from its task first' : undo);
  }
  if (counted.some(isOpenSend)) return refuseOpenSend(address);
  const running = counted.filter(isJob).find(({ state }) => state === 'running');
  if (running !== undefined && !context.force) {
    return refuse(
      address,
      `has ${nameOfJob(running)}, which is running`,
      'run apply first, or give up the job with --force',
    );
  }
  const isOut = isPost(record.kind) && sendsOf(record).length > 0;
  const again = context.price === undefined ? '' : `. A redo of this step costs ${creditsOf(context.price)}`;
  const online = `. The published post stays online${isOrphan ? '' : ', and is not posted again under this address'}`;
  const text = `${describePaid(counted)}${isOut ? online : again}`;
  return { is: 'recorded', address, text, records: [{ ...record, purchases: purchases.map(asForgotten) }] };
}

export function asForgotten(purchase: Purchase): Purchase {
  return purchase.writtenOff ? purchase : { ...purchase, forgotten: true };
}

function describePaid(counted: readonly Purchase[]): string {
  return counted.some(isJob) ? `${sumOfJobs(counted)}; the budget still counts them` : 'a refused create request';
}

function sumOfJobs(counted: readonly Purchase[]): string {
  const charges = new Map(counted.filter(isJob).map(({ jobId, credits = 0 }) => [jobId, credits]));
  const sum = [...charges.values()].reduce((all, credits) => all + credits, 0);
  return `${charges.size === 1 ? '1 job' : `${charges.size} jobs`} of ${creditsOf(sum)}`;
}

export function moveRecord(
  old: StepRecord,
  to: { step: Step; record?: StepRecord; price: number | null; oldStep?: Step },
): Ruling {
  const { step, record, price } = to;
  const { address } = step;
  const counted = countedPurchases(old);
  const why = whyNot(old, to);
  if (why !== undefined) return why;
  // Each purchase gets a new generation number. If it returns to an earlier address, its old number is marked as
  // forgotten there.
  const shift = (record?.purchases ?? []).reduce((most, one) => Math.max(most, one.generation), 0);
  const purchases = old.purchases.map((one) => ({ ...one, generation: one.generation + shift }));
  const decided = old.decisions === undefined ? {} : { decisions: old.decisions };
  const moved: StepRecord = { address, kind: old.kind, purchases, ...decided };
  const left: StepRecord = { ...old, purchases: old.purchases.map(asForgotten) };
  const text = `now has the purchases of ${old.address}: ${sumOfJobs(counted)}${describeInput(old, step, price)}`;
  return { is: 'recorded', address, text, records: [moved, left] };
}

function whyNot(
  old: StepRecord,
  { step, record, oldStep }: { step: Step; record?: StepRecord; oldStep?: Step },
): Ruling | undefined {
  const { address } = step;
  const counted = countedPurchases(old);
  if (old.address === address)
    return refuse(address, 'is the same address', 'name the recorded address first, then the new address');
  if (old.kind !== step.kind) {
    return refuse(
      address,
      `is of kind ${step.kind}, not ${old.kind}`,
      'move a purchase only to a step of the same kind',
    );
  }
  if (counted.some(isOpenSend)) return refuseOpenSend(address, old.address);
  if (!counted.some(({ jobId }) => jobId !== undefined)) {
    const hint = way('to see the orphans of the lock', call('status'));
    return refuse(address, `has no purchase to take over: nothing was bought for ${old.address}`, hint);
  }
  const own = record === undefined ? undefined : countedPurchases(record).find(({ state }) => state !== 'refused');
  if (own !== undefined) {
    const what = own.jobId === undefined ? 'a create request whose answer was lost' : `job ${own.jobId} of its own`;
    return refuse(
      address,
      `has ${what}`,
      way('decide which job counts; to forget the job of this step (its id stays on record)', call('forget', address)),
    );
  }
  if (oldStep !== undefined && findKept(counted, oldStep.fingerprint) !== undefined) {
    return refuse(
      address,
      `cannot take over ${old.address}: the manifest still contains that step with the same request`,
      'change the manifest first. If only keys were swapped, no move is needed',
    );
  }
  return undefined;
}

function describeInput(old: StepRecord, step: Step, price: number | null): string {
  const kept = findKept(countedPurchases(old));
  if (kept === undefined || kept.fingerprint === step.fingerprint) return '';
  if (pinnedFingerprint(old) === kept.fingerprint) return '; its input changed, and the step stays pinned';
  const change =
    kept.request === undefined ? 'its input changed' : describeChanges(findChanges(kept.request, step).changes);
  if (isPost(step.kind)) return `; ${change}; the published post is not changed`;
  return `; ${change}, so the next apply would redo it for ${creditsOf(price)}: to keep the output, run \`accept\` or \`pin\``;
}
