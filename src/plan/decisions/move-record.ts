import type { Step } from '../../graph/graph.ts';
import { call, way } from '../../ground/advice.ts';
import { countedPurchases, pinnedFingerprint } from '../../lock/decisions.ts';
import type { StepRecord } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { describeChanges, findChanges } from '../compare/changes.ts';
import { isPost } from '../posts/post-record.ts';
import { findKept } from '../situation/apply-decisions.ts';
import { asForgotten } from './forget.ts';
import { creditsOf, type Ruling, refuse } from './ruling.ts';

/**
 * Moves the record of an address to a step whose row key and input changed at the same time, so that no match connects
 * them. All purchases move, and the old address counts as never bought.
 */
export function moveRecord(
  old: StepRecord,
  to: { step: Step; record?: StepRecord; price: number | null; oldStep?: Step },
): Ruling {
  const { step, record, price } = to;
  const { address } = step;
  const counted = countedPurchases(old);
  const why = whyNot(old, to);
  if (why !== undefined) return why;
  // A purchase that returns to an address gets a new generation, so that it does not count as forgotten there.
  const shift = (record?.purchases ?? []).reduce((most, one) => Math.max(most, one.generation), 0);
  const purchases = old.purchases.map((one) => ({ ...one, generation: one.generation + shift }));
  const decided = old.decisions === undefined ? {} : { decisions: old.decisions };
  const moved: StepRecord = { address, kind: old.kind, purchases, ...decided };
  const left: StepRecord = { ...old, purchases: old.purchases.map(asForgotten) };
  const jobs = new Set(counted.flatMap(({ jobId }) => jobId ?? []));
  const credits = counted.reduce((sum, one) => sum + (one.credits ?? 0), 0);
  const what = `has what was bought as ${old.address}: ${jobs.size === 1 ? '1 job' : `${jobs.size} jobs`}, ${creditsOf(credits)}`;
  const text = `${what}${describeInput(old, step, price)}${describeOld(to.oldStep)}`;
  return { is: 'recorded', address, text, records: [moved, left] };
}

function whyNot(
  old: StepRecord,
  { step, record, oldStep }: { step: Step; record?: StepRecord; oldStep?: Step },
): Ruling | undefined {
  const { address } = step;
  const counted = countedPurchases(old);
  if (old.address === address)
    return refuse(address, 'is the same address', 'name the address on record, then the new one');
  if (old.kind !== step.kind) {
    return refuse(
      address,
      `is of kind ${step.kind}, and ${old.address} was bought as ${old.kind}`,
      'only what is of one kind can be moved',
    );
  }
  if (counted.some(isOpenSend)) {
    return refuse(
      address,
      `cannot take over ${old.address}: the answer to its create was lost`,
      way('decide about it first', call('resolve', old.address)),
    );
  }
  if (!counted.some(({ jobId }) => jobId !== undefined)) {
    return refuse(
      address,
      `has nothing to take over: nothing was bought for ${old.address}`,
      way('to see the orphans of the lock', call('status')),
    );
  }
  const own = record === undefined ? undefined : countedPurchases(record).find(({ state }) => state !== 'refused');
  if (own !== undefined) {
    const what = own.jobId === undefined ? 'a create whose answer was lost' : `job ${own.jobId} of its own`;
    return refuse(
      address,
      `has ${what}`,
      way('decide which one counts; to make room, while its id stays on record', call('forget', address)),
    );
  }
  if (oldStep !== undefined && findKept(counted, oldStep.fingerprint) !== undefined) {
    return refuse(
      address,
      `cannot take over ${old.address}: the manifest still has it, and asks for exactly what it has`,
      'change the manifest first; exchanged keys are found without a move',
    );
  }
  return undefined;
}

function describeOld(step: Step | undefined): string {
  if (step === undefined) return '';
  const counts = isPost(step.kind) ? 'is not posted again' : 'counts as not bought';
  return `; ${step.address}, still in the manifest, ${counts}`;
}

function describeInput(old: StepRecord, step: Step, price: number | null): string {
  const kept = findKept(countedPurchases(old));
  if (kept === undefined || kept.fingerprint === step.fingerprint) return '';
  if (pinnedFingerprint(old) === kept.fingerprint) return '; its input is another one now, and it stays pinned';
  const change =
    kept.request === undefined ? 'its input changed' : describeChanges(findChanges(kept.request, step).changes);
  if (isPost(step.kind)) return `; ${change}; what is online stays as it is`;
  return `; ${change}, so the next apply would redo it for ${creditsOf(price)}: \`accept\` or \`pin\` keeps it`;
}
