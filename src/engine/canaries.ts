import type { StepOutcome } from '../contract/event.ts';
import type { PartCondition } from '../plan/parts.ts';
import type { StepOrder } from '../plan/plan.ts';
import type { StepEnd } from '../run/step-end.ts';

export function isCanaryOf({ canaries }: StepOrder, { address }: StepOrder): boolean {
  return canaries?.includes(address) === true;
}

/** True when what waits for this canary can go on. One that turned out not to be needed shows nothing to others. */
export function provesEnough(canary: StepOrder, end: StepEnd, { parts = [] }: StepOrder): boolean {
  if (end.outcome === 'done') return true;
  if (end.outcome !== 'unneeded') return false;
  // Later parts of the same output are not needed either, and find that out themselves.
  const isLater = ({ of, fingerprint, index }: PartCondition) =>
    canary.parts?.some((one) => one.of === of && one.fingerprint === fingerprint && one.index <= index) === true;
  return parts.some(isLater);
}

/** Says why what waits for a canary does not go on: `waits for its canary: hero@lamp was refused`. */
export function describeHold({ address }: StepOrder, outcome: StepOutcome): string {
  return `waits for its canary: ${address} ${words[outcome] ?? outcome}`;
}

const words: { readonly [outcome in StepOutcome]?: string } = {
  refused: 'was refused',
  left: 'was not bought',
  running: 'is running',
  blocked: 'is blocked',
  unresolved: 'is unresolved',
  unneeded: 'is not needed; the next run lets another one go first',
  lost: 'is lost',
};
