import type { Output, StepRecord } from '../../lock/record.ts';
import { isSpending } from '../actions.ts';
import type { Decision } from '../decide.ts';
import { isAcceptedAsIs } from '../decisions/pin.ts';
import type { StepOrder } from '../plan.ts';
import type { Match } from '../situation/find-purchases.ts';
import { findOptional, type PartCondition } from '../situation/parts.ts';
import { countRefused, idempotencyKey, repeatOf } from './key.ts';
import { askedSend } from './open-sends.ts';
import { retriesAfter } from './retry.ts';

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
  const known = decision.asks ?? purchase;
  const { generation, repeat } = decision.purchase ?? {
    generation: known?.generation ?? 1,
    repeat: repeatOf(purchases, { ...step, generation: known?.generation ?? 1 }),
  };
  const { attempt, key } =
    decision.purchase === undefined && known !== undefined
      ? known // I1
      : { attempt: 1, key: idempotencyKey({ campaign, fingerprint: step.fingerprint, repeat, attempt: 1 }) };
  const spends = isSpending(action);
  const retries = retriesAfter(match, { generation, repeat, jobIsKnown: !spends });
  const parts = conditions.get(step.address);
  const optional = findOptional(step.request, conditions);
  // Rare fields are added afterwards, because an object reserves memory for every property of its literal.
  const order: StepOrder = {
    campaign,
    address: step.address,
    task: step.task,
    kind: step.kind,
    action,
    fingerprint: step.fingerprint,
    generation,
    attempt,
    repeat,
    refused: spends ? countRefused(purchases, { campaign, fingerprint: step.fingerprint, repeat }) : 0,
    key,
    request: step.request,
    paidRequest: step.paidRequest,
    save: step.save,
    needs: sharesJobOf === undefined ? step.needs : [...new Set([...step.needs, sharesJobOf])].sort(),
    price,
    replaces: replacedDigests(record),
  };
  if (step.take !== undefined) order.take = step.take;
  if (decision.asks !== undefined) order.send = askedSend(decision.asks);
  if (!spends && purchase?.jobId !== undefined) order.jobId = purchase.jobId;
  if (!spends && purchase?.credits !== undefined) order.credits = purchase.credits;
  if (sharesJobOf !== undefined) order.sharesJobOf = sharesJobOf;
  if (!spends && purchase?.outputs !== undefined) order.outputs = purchase.outputs;
  if (movedFrom !== undefined) order.movedFrom = movedFrom;
  if (step.file !== undefined) order.file = step.file;
  if (parts !== undefined) order.parts = [...parts];
  if (optional !== undefined) order.optional = optional;
  if (step.timeoutMs !== undefined) order.timeoutMs = step.timeoutMs;
  if (retries !== undefined && action !== 'download' && action !== 'move') order.retries = retries;
  if (step.expect !== undefined) order.expect = step.expect;
  if (action === 'attach' && record !== undefined && purchase !== undefined && isAcceptedAsIs(record, purchase))
    order.asIs = true;
  return order;
}

/** Shared by most steps, so it is frozen. */
const none = Object.freeze([]) as unknown as string[];

/** Returns digests of all files that this step ever saved. Only these may be replaced: a user's files are safe. */
export function replacedDigests(record: StepRecord | undefined): string[] {
  if (record === undefined) return none;
  const digests = record.purchases.flatMap(({ outputs }) =>
    (outputs ?? []).filter(isBought).map(({ sha256 }) => sha256),
  );
  return [...new Set(digests)].sort();
}

function isBought({ edited }: Output): boolean {
  return edited !== true;
}
