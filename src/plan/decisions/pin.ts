import { call, way } from '../../ground/advice.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Job, StepRecord } from '../../lock/record.ts';
import { isOpenSend } from '../../lock/sends.ts';
import { findKept } from '../situation/apply-decisions.ts';
import type { Match } from '../situation/find-purchases.ts';
import { creditsOf, nameOfJob, type Ruling, refuse, refuseAtLast } from './ruling.ts';

/** Pins a step to its purchase: when its input changes it is kept, and its dependents go on using the kept output. */
export function pinStep(match: Match, price: number | null): Ruling {
  const { step, record } = match;
  const { address, decided } = step;
  if (decided?.pinned === 'manifest') {
    return { is: 'unchanged', address, text: `\`pin: true\` of task \`${step.task}\` pins it already` };
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
  const change = isChanged ? `; its input changed, and to buy it again would cost ${creditsOf(price)}` : '';
  const revision = (record?.decisions?.pin?.revision ?? 0) + 1;
  const pinned = { ...found.record, decisions: { pin: { fingerprint: purchase.fingerprint, revision } } };
  return { is: 'recorded', address, text: `keeps ${nameOfJob(purchase)}${change}`, records: [pinned] };
}

/** Removes the pin, so that the manifest's request applies again. */
export function unpinStep({ step, record, purchase }: Match, price: number | null): Ruling {
  const { address, task, decided } = step;
  const pin = record?.decisions?.pin;
  if (record === undefined || pin?.fingerprint === undefined) {
    if (step.pin === true) {
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
    step.pin === true
      ? `; \`pin: true\` of task \`${task}\` still pins it`
      : isHeldBack
        ? `; its input changed, and the next apply redoes it for ${creditsOf(price)}`
        : '';
  return { is: 'recorded', address, text: `the manifest decides about it again${still}`, records: [unpinned] };
}

/** Returns the purchase of a step's present or coming output, or a refusal if there is none to decide about. */
export function findOwn(match: Match): { record: StepRecord; purchase: Job } | Ruling {
  const { step, record, movedFrom, sharesJobOf } = match;
  const { address } = step;
  if (movedFrom !== undefined) {
    return refuse(
      address,
      `was bought as ${movedFrom}, and is still on record there`,
      'run apply first: it moves it for free',
    );
  }
  const counted = record === undefined ? [] : countedPurchases(record);
  if (counted.some(isOpenSend)) {
    return refuse(
      address,
      'has a create whose answer was lost',
      way('run apply, which asks for it again; what stays unknown', call('resolve', address)),
    );
  }
  const own = match.purchase;
  const isUsable = own?.state === 'done' || own?.state === 'running';
  const purchase = isUsable ? own : findKept(counted);
  if (record !== undefined && purchase !== undefined) return { record, purchase };
  if (sharesJobOf !== undefined) {
    return refuse(
      address,
      `shares the job of ${sharesJobOf} and has none of its own`,
      `decide about ${sharesJobOf}, or run apply first`,
    );
  }
  return refuse(address, 'has nothing that was bought', 'run apply first; a plan shows what it costs');
}
