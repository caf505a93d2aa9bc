import type { Output, StepRecord } from '../lock/record.ts';
import { isSpending } from './actions.ts';
import type { Decision } from './decide.ts';
import { idempotencyKey } from './key.ts';
import type { Match } from './match.ts';
import { findOptional, type PartCondition } from './parts.ts';
import type { StepOrder } from './plan.ts';
import { repeatOf } from './repeat.ts';
import { retriesAfter } from './retry.ts';

/** Everything that carrying out a decision takes. */
export function makeOrder(
  match: Match,
  decision: Decision,
  context: {
    campaign: string;
    price: StepOrder['price'];
    action: StepOrder['action'];
    conditions: ReadonlyMap<string, readonly PartCondition[]>;
  },
): StepOrder {
  const { step, purchase, record, sharesJobOf, movedFrom } = match;
  const { campaign, price, action, conditions } = context;
  const purchases = record?.purchases ?? [];
  const bought = decision.purchase ?? {
    generation: purchase?.generation ?? 1,
    attempt: purchase?.attempt ?? 1,
    repeat: 1,
    ...(purchase && { key: purchase.key }),
  };
  // A key that is sent again says nothing about how often this was bought: the record does.
  const repeat = bought.repeat > 0 ? bought.repeat : repeatOf(purchases, { ...step, generation: bought.generation });
  const spends = isSpending(action);
  const retries = retriesAfter(match, { generation: bought.generation, repeat, jobIsKnown: !spends });
  const parts = conditions.get(step.address);
  const optional = findOptional(step.request, conditions);
  return {
    campaign,
    address: step.address,
    task: step.task,
    kind: step.kind,
    action,
    fingerprint: step.fingerprint,
    generation: bought.generation,
    attempt: bought.attempt,
    key:
      bought.key ??
      idempotencyKey({ campaign, fingerprint: step.fingerprint, repeat: bought.repeat, attempt: bought.attempt }),
    ...(step.take !== undefined && { take: step.take }),
    request: step.request,
    paidRequest: step.paidRequest,
    save: step.save,
    needs: sharesJobOf === undefined ? step.needs : [...new Set([...step.needs, sharesJobOf])].sort(),
    price,
    ...(decision.purchase?.key !== undefined && { sentBefore: true as const }),
    ...(!spends && purchase?.jobId !== undefined && { jobId: purchase.jobId }),
    ...(!spends && purchase?.credits !== undefined && { credits: purchase.credits }),
    ...(sharesJobOf !== undefined && { sharesJobOf }),
    ...(!spends && purchase?.outputs !== undefined && { outputs: purchase.outputs }),
    ...(movedFrom !== undefined && { movedFrom }),
    ...(step.file !== undefined && { file: step.file }),
    ...(parts !== undefined && { parts: [...parts] }),
    ...(optional !== undefined && { optional }),
    ...(step.timeoutMs !== undefined && { timeoutMs: step.timeoutMs }),
    ...(retries !== undefined && action !== 'download' && action !== 'move' && { retries }),
    ...(step.expect !== undefined && { expect: step.expect }),
    replaces: replacedDigests(record),
  };
}

/** Digests of everything this step has ever saved: a newer output may take their place, but never that of somebody's work. */
function replacedDigests(record: StepRecord | undefined): string[] {
  const digests =
    record?.purchases.flatMap(({ outputs }) => (outputs ?? []).filter(isBought).map(({ sha256 }) => sha256)) ?? [];
  return [...new Set(digests)].sort();
}

function isBought({ edited }: Output): boolean {
  return edited !== true;
}
