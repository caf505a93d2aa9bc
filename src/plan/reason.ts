import { defined } from '../ground/values.ts';
import type { Purchase } from '../lock/record.ts';
import { type ChangeFacts, describeChanges, findChanges } from './compare/changes.ts';
import type { Reason } from './plan.generated.ts';
import type { Match } from './situation/find-purchases.ts';

export type { Reason } from './plan.generated.ts';

type ReasonCode = Reason['code'];

export function reasonOf(code: ReasonCode, text: string): Reason {
  return { code, text };
}

export function jobFailed({ jobId }: Pick<Purchase, 'jobId'>, text: string): Reason {
  return { ...reasonOf('job-failed', text), ...defined({ job: jobId }) };
}

export const upToDate: Reason = Object.freeze(reasonOf('up-to-date', 'up to date'));

export function tellChanges(
  code: ReasonCode,
  { bought, match }: { bought: Purchase | undefined; match: Match },
  { facts, tell = (change) => change }: { facts: ChangeFacts; tell?: (change: string) => string },
): Reason {
  if (bought?.request === undefined) return reasonOf(code, tell('an input changed'));
  const { step } = match;
  const paidRequest = step.decided?.wanted?.paidRequest ?? step.paidRequest;
  const { changes, follows } = findChanges(bought.request, { ...step, paidRequest }, facts);
  return {
    code,
    text: tell(describeChanges(changes)),
    ...(changes.length > 0 && { changes }),
    ...(follows.length > 0 && { follows }),
  };
}
