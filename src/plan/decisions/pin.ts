import { countedPurchases, mostRevision } from '../../lock/decisions.ts';
import type { Acceptance, Job, Output, Purchase, StepRecord } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { describeChanges, findChanges } from '../compare/changes.ts';
import { findKept } from '../situation/decide-graph.ts';
import type { Match } from '../situation/find-purchases.ts';
import { creditsOf, nameOfJob, type Ruling, refuse, refuseAtLast, refuseOpenSend } from './ruling.ts';

/**
 * Pins a step to its purchase. A pinned step is not redone if its input changes, and dependent steps use its output.
 */
export function pinStep(match: Match, price: number | null): Ruling {
  const { step, record } = match;
  const { address, decided } = step;
  if (decided?.pinned === 'manifest') {
    return { is: 'unchanged', address, text: `is pinned already by \`pin: true\` of task \`${step.task}\`` };
  }
  if (record?.decisions?.pin?.fingerprint !== undefined && decided?.pinned === 'lock') {
    return { is: 'unchanged', address, text: 'is pinned already' };
  }
  const found = findOwn(match);
  if ('is' in found) return found;
  const atLast = refuseAtLast(address, record?.decisions?.pin);
  if (atLast !== undefined) return atLast;
  const { purchase } = found;
  const wanted = decided?.wanted?.fingerprint ?? step.fingerprint;
  const isChanged = purchase.fingerprint !== wanted;
  const change = isChanged ? `; its input changed, and a redo would cost ${creditsOf(price)}` : '';
  const revision = (record?.decisions?.pin?.revision ?? 0) + 1;
  const pinned = { ...found.record, decisions: { pin: { fingerprint: purchase.fingerprint, revision } } };
  return { is: 'recorded', address, text: `keeps ${nameOfJob(purchase)}${change}`, records: [pinned] };
}

export function unpinStep({ step, record, purchase }: Match, price: number | null): Ruling {
  const { address, task, decided } = step;
  const pin = record?.decisions?.pin;
  if (record === undefined || pin?.fingerprint === undefined) {
    if (step.rules?.pin === true) {
      return refuse(address, 'is pinned by the manifest', `remove \`pin: true\` from task \`${task}\``);
    }
    return { is: 'unchanged', address, text: 'is not pinned' };
  }
  const atLast = refuseAtLast(address, pin);
  if (atLast !== undefined) return atLast;
  const { wanted } = decided ?? {};
  const isAccepted = record.decisions?.accepted?.some((one) => one.wanted === wanted?.fingerprint) === true;
  const isHeldBack = wanted !== undefined && purchase !== undefined && !isAccepted;
  const unpinned = { ...record, decisions: { pin: { revision: pin.revision + 1 } } };
  const still =
    step.rules?.pin === true
      ? `; \`pin: true\` of task \`${task}\` still pins the step`
      : isHeldBack
        ? `; its input changed, and the next apply redoes it for ${creditsOf(price)}`
        : '';
  return { is: 'recorded', address, text: `its pin in the lock is removed${still}`, records: [unpinned] };
}

export function findOwn(match: Match): { record: StepRecord; purchase: Job } | Ruling {
  const { step, record, movedFrom, sharesJobOf } = match;
  const { address } = step;
  if (movedFrom !== undefined) {
    return refuse(address, `was bought as ${movedFrom}`, 'run apply first, which moves the purchase for free');
  }
  const counted = record === undefined ? [] : countedPurchases(record);
  if (counted.some(isOpenSend)) return refuseOpenSend(address);
  const own = match.purchase;
  const isUsable = own?.state === 'done' || own?.state === 'running';
  const purchase = isUsable ? own : findKept(counted);
  if (record !== undefined && purchase !== undefined) return { record, purchase };
  if (sharesJobOf !== undefined) {
    return refuse(address, `shares the job of ${sharesJobOf}`, `name ${sharesJobOf} instead, or run apply first`);
  }
  return refuse(address, 'has no purchase', 'run apply first; a plan shows the cost');
}

export type SeenOutput =
  | { is: 'intact' }
  | { is: 'missing' }
  | { is: 'unusable'; why: string }
  /** The output file differs from its record in the lock. `output` has the digest, size and media type of the file. */
  | { is: 'edited'; output: Output };

/**
 * Returns the purchase whose output can be accepted. With `isAlone` (the user named only this step), the output of a
 * running job can be accepted in advance.
 */
export function findAcceptable(
  match: Match,
  { isAlone }: { isAlone: boolean },
): { record: StepRecord; purchase: Job } | Ruling {
  const found = findOwn(match);
  if ('is' in found) return found;
  const { purchase } = found;
  if (purchase.state === 'done') return found;
  const { address, fingerprint } = match.step;
  if (isAlone && purchase.fingerprint === fingerprint) return acceptAsIs(address, found);
  return refuse(address, `has no output yet: ${nameOfJob(purchase)} is running`, 'run apply first, which is free');
}

function acceptAsIs(address: string, { record, purchase }: { record: StepRecord; purchase: Job }): Ruling {
  const { fingerprint, jobId } = purchase;
  if (isAcceptedAsIs(record, purchase)) return { is: 'unchanged', address, text: 'is accepted already' };
  const accepted = { ...acceptanceOf(record, fingerprint, fingerprint), job: jobId };
  const text = `the file of ${nameOfJob(purchase)}: apply saves it for 0 credits, even if it is incomplete or has another type`;
  return { is: 'recorded', address, text, records: [{ ...record, decisions: { accepted: [accepted] } }] };
}

export function isAcceptedAsIs({ decisions }: StepRecord, { fingerprint, jobId }: Purchase): boolean {
  return decisions?.accepted?.some((one) => one.wanted === fingerprint && one.job === jobId) === true;
}

/**
 * Accepts the output of a step. Records edited files in their current state. Runs do not redo the step for its current
 * input. `seen`: files of the purchase, in order. `isUnfit`: the files do not meet `expect`.
 */
export function acceptOutput(
  match: Match,
  found: { record: StepRecord; purchase: Job },
  { seen, isUnfit }: { seen: readonly { path: string; file: SeenOutput }[]; isUnfit: boolean },
): Ruling {
  const { address } = match.step;
  const { record, purchase } = found;
  const missing = seen.find(({ file }) => file.is === 'missing');
  if (missing !== undefined) {
    return refuse(
      address,
      `${missing.path} does not exist`,
      'restore the file, or run apply, which downloads it for free',
    );
  }
  const accepted: string[] = [];
  for (const { path, file } of seen) {
    if (file.is === 'unusable')
      return refuse(
        address,
        `${path} ${file.why}`,
        'put a media file at this path, or run apply, which downloads the original',
      );
    if (file.is === 'edited') accepted.push(`${path} as it is now`);
  }
  if (isUnfit) accepted.push(`${seen.map(({ path }) => path).join(', ')}, although \`expect\` is not met`);
  const changed = acceptedPurchase(purchase, { seen, isUnfit });
  const acceptance = newAcceptance(match, record, purchase);
  const decisions = acceptance === undefined ? {} : { decisions: { accepted: [acceptance] } };
  if (acceptance !== undefined) accepted.push(describeInput(match, purchase));
  if (accepted.length === 0) {
    if (wantedFingerprint(match.step) !== purchase.fingerprint)
      return { is: 'unchanged', address, text: 'is accepted already' };
    return refuse(
      address,
      'nothing to accept, because the step is up to date',
      'use accept for files that were edited by hand or do not fit `expect`, and for steps that a plan would redo',
    );
  }
  const { decisions: _before, ...rest } = record;
  const purchases = record.purchases.map((one) => (one === purchase ? changed : one));
  return { is: 'recorded', address, text: accepted.join('; '), records: [{ ...rest, purchases, ...decisions }] };
}

function acceptedPurchase(
  purchase: Job,
  { seen, isUnfit }: { seen: readonly { file: SeenOutput }[]; isUnfit: boolean },
): Job {
  if (!isUnfit && !seen.some(({ file }) => file.is === 'edited')) return purchase;
  const outputs = (purchase.outputs ?? []).map((output, index) => {
    const file = seen[index]?.file;
    const kept = file?.is === 'edited' ? file.output : output;
    return isUnfit ? { ...kept, accepted: true as const } : kept;
  });
  return { ...purchase, outputs, revision: Math.min((purchase.revision ?? 0) + 1, mostRevision) };
}

function newAcceptance({ step }: Match, record: StepRecord, { fingerprint }: Job): Acceptance | undefined {
  if (step.decided?.accepted === true) return undefined;
  const wanted = wantedFingerprint(step);
  if (wanted === fingerprint) return undefined;
  const before = record.decisions?.accepted?.find((one) => one.wanted === wanted);
  return before?.fingerprint === fingerprint ? undefined : acceptanceOf(record, wanted, fingerprint);
}

function acceptanceOf(record: StepRecord, wanted: string, fingerprint: string): Acceptance {
  const before = record.decisions?.accepted?.find((one) => one.wanted === wanted);
  return { wanted, fingerprint, revision: Math.min((before?.revision ?? 0) + 1, mostRevision) };
}

function wantedFingerprint({ decided, fingerprint }: Match['step']): string {
  return decided?.wanted?.fingerprint ?? fingerprint;
}

function describeInput({ step, record }: Match, { request }: Job): string {
  const failed = record && countedPurchases(record).find(({ fingerprint }) => fingerprint === step.fingerprint);
  const instead = failed?.state === 'failed' ? ', whose job failed' : '';
  if (request === undefined) return `its output for the changed input${instead}`;
  const wanted = { ...step, paidRequest: step.decided?.wanted?.paidRequest ?? step.paidRequest };
  return `its output, although ${describeChanges(findChanges(request, wanted).changes)}${instead}`;
}
