import type { PartCondition } from '../plan/parts.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';

/**
 * True when dependents of an order can go on. A step that is not needed blocks nobody: its users determine that
 * themselves. Nor does a send that was asked about, unless it can be asked about again: what is bought now is something
 * else.
 */
function letsGoOn(order: StepOrder, end: StepEnd): boolean {
  return end.outcome === 'done' || end.outcome === 'unneeded' || (order.asksOnly === true && !end.recoverable);
}

/** True when this dependent can go on. */
export function letsPass(dependent: StepOrder, on: StepOrder, how: StepEnd): boolean {
  const isCanary = dependent.canaries?.includes(on.address) === true;
  return isCanary ? provesEnough(on, how, dependent) : letsGoOn(on, how);
}

/** True when what waits for this canary can go on. One that turned out not to be needed shows nothing to others. */
function provesEnough(canary: StepOrder, end: StepEnd, { parts = [] }: StepOrder): boolean {
  if (end.outcome === 'done') return true;
  if (end.outcome !== 'unneeded') return false;
  // Later parts of the same output are not needed either, and find that out themselves.
  const isEarlier = ({ of, fingerprint, index }: PartCondition) =>
    canary.parts?.some((one) => one.of === of && one.fingerprint === fingerprint && one.index <= index) === true;
  return parts.some(isEarlier);
}
