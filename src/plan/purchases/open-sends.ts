import { taskOfAddress } from '../../graph/address.ts';
import { defined } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import { countedPurchases } from '../../lock/decisions.ts';
import type { Decisions, OpenSend, StepRecord } from '../../lock/record.ts';
import { type AwaitedSend, isOpenSend, openSends } from '../../lock/sends.ts';
import { isSpending } from '../actions.ts';
import type { Reason } from '../plan.generated.ts';
import { type AskedSend, type PlanRow, type RestingRow, reasonOf, type StepOrder, type WorkRow } from '../plan.ts';
import { isPost } from '../posts/post-record.ts';
import type { PriceOf } from '../prices/prices.ts';
import { buyOnce, type Draft, lastingFacts } from '../rows/draft.ts';
import type { Match } from '../situation/find-purchases.ts';
import type { Situation } from '../situation/situation.ts';
import { isRedone } from '../situation/verdicts.ts';
import { currentPurchase, isReplayed, type SendFacts, settlingOf } from './next.ts';

const unknownRequest = {
  by: 'person' as const,
  reason: 'the answer to the create request was lost, and the lock does not contain the request',
};

/**
 * Returns the unresolved create request that the row of the step settles. With `--redo`, the request may belong to an
 * interrupted redo of a finished purchase.
 */
export function ownOpenSend(
  { purchase, record, step }: Match,
  facts: SendFacts & Pick<Situation, 'redo'>,
): AwaitedSend | undefined {
  const isDone = purchase?.state === 'done';
  if (purchase === undefined || record === undefined) return undefined;
  if (!isOpenSend(purchase) && !(isDone && isRedone(step, facts.redo))) return undefined;
  const same = countedPurchases(record).filter(({ fingerprint }) => fingerprint === step.fingerprint);
  const newer = isDone ? same.filter(({ generation }) => generation > purchase.generation) : same; // I1 (redo)
  const own = currentPurchase(newer, facts) ?? purchase;
  return isOpenSend(own) ? own : isOpenSend(purchase) ? purchase : undefined;
}

export function askedSend(purchase: OpenSend): AskedSend {
  const { since, fence, resent, digest } = purchase;
  return { id: purchase.send, since: since ?? new Date(0).toISOString(), ...defined({ fence, resent, digest }) };
}

/**
 * Returns a row for each unresolved create request that no other row settles. The request belongs to a step that was
 * edited, removed or not selected, or that has another job. The run queries the service if possible; otherwise the
 * request waits for a user.
 */
export function openSendRows(facts: SendFacts & Situation & { priceOf: PriceOf }, rows: readonly PlanRow[]): PlanRow[] {
  const { graph, lock, matches, byAddress: steps, priceOf } = facts;
  const planned = new Set(rows.map(({ address }) => address));
  const asked = new Set<string>();
  for (const match of matches) {
    if (!planned.has(match.step.address)) continue;
    const own = ownOpenSend(match, facts);
    if (own !== undefined) asked.add(own.send);
    // The row of a post represents all unresolved create requests of its address, even if its input has changed.
    if (isPost(match.step.kind)) for (const open of openSendsOf(match.record)) asked.add(open.send);
  }
  const movedTo = new Map(matches.flatMap(({ step, movedFrom }) => (movedFrom ? [[movedFrom, step.address]] : [])));
  return openSends(lock, new Set(steps.keys()))
    .filter(({ purchase }) => !asked.has(purchase.send))
    .map(({ record, purchase }): PlanRow => {
      const address = movedTo.get(record.address) ?? record.address;
      const kind = purchase.kind ?? record.kind;
      const task = steps.get(address)?.step.task ?? taskOfAddress(address);
      const { request } = purchase;
      const wanted = settlingOf(purchase, facts);
      const canBeAsked = request !== undefined && kinds[kind] !== undefined;
      const settling = canBeAsked || wanted.by === 'person' ? wanted : unknownRequest;
      const apart = describeStep(purchase, steps.get(address), planned.has(address));
      const reason = reasonOf('answer-lost', `${apart}${settling.reason}`);
      const row: PlanRow = { address, task, kind, reason, send: purchase.send, action: 'unresolved', credits: 0 };
      const undecidable = describeUnknown(record.decisions);
      if (undecidable !== undefined) return leftOpen(row, undecidable);
      if (settling.by === 'person' || request === undefined) return row;
      const { fingerprint, generation, attempt, key, take } = purchase;
      return askRow(reason, {
        ...{ campaign: graph.name, address, task, kind, fingerprint, generation, attempt, repeat: 1, refused: 0, key },
        ...{ request, paidRequest: request, save: '', price: priceOf(kind, request), send: askedSend(purchase) },
        ...defined({ take, movedFrom: address === record.address ? undefined : record.address }),
      });
    });
}

export function askRow(
  reason: Reason,
  order: Omit<Extract<StepOrder, { asksOnly: true }>, 'action' | 'asksOnly' | 'needs' | 'replaces'>,
): WorkRow {
  const { address, task, kind, price, send } = order;
  return {
    ...{ address, task, kind, reason, send: send.id, credits: price.credits, price },
    action: 'create',
    order: { ...order, action: 'create', asksOnly: true, needs: [], replaces: [] },
  };
}

/**
 * Marks unresolved create requests that are missing from the purchase journal and whose recovery sends the key again. A
 * colleague may have sent the request. But if somebody wrote it into the lock by hand, its recovery would buy something
 * that nobody approved. `sentHere`: send times of journaled requests by ID.
 */
export function markUnknownSends(rows: PlanRow[], sentHere: ReadonlyMap<string, number>, now: number): void {
  for (const row of rows) {
    const { order, reason } = row;
    // A create request with a `fence` is not sent again: the run searches the service's list of jobs.
    if (order?.send === undefined || order.send.fence !== undefined) continue;
    // The service does not replay an old idempotency key, so the repeated create request would be charged again.
    if (isReplayed(now - (sentHere.get(order.send.id) ?? Number.NEGATIVE_INFINITY))) continue; // I43 (sent here)
    order.send = { ...order.send, isStrange: true };
    row.reason = {
      ...reason,
      text: `${reason.text}; the request was sent from another machine or long ago, so sending it again needs approval`,
    };
  }
}

function describeStep(purchase: OpenSend, match: Match | undefined, isPlanned: boolean): string {
  if (match === undefined) return 'in the lock, not in the manifest: ';
  if (!isPlanned) return '';
  return match.step.fingerprint === purchase.fingerprint
    ? 'another create request of this step: '
    : 'create request of an earlier input: ';
}

export function openSendsOf(record: StepRecord | undefined): AwaitedSend[] {
  return record?.purchases.filter(isOpenSend) ?? [];
}

function leftOpen(row: PlanRow, why: string): RestingRow {
  const reason = reasonOf(
    'answer-lost',
    `the answer to the create request was lost, and is not requested again: ${why}`,
  );
  return { ...lastingFacts(row), action: 'unresolved', reason, credits: 0 };
}

function describeUnknown(decisions: Decisions | undefined): string | undefined {
  if (decisions?.unknownFields === undefined) return undefined;
  const names = Object.keys(decisions.unknownFields).sort().slice(0, 3);
  const named = names.map((name) => `\`${name.slice(0, 40)}\``).join(', ');
  return `a newer mediabatch recorded a decision about this step that this version cannot read (${named}): update mediabatch first`;
}

/** Blocks purchases of steps with a decision that only a newer version can read, because it may forbid the purchase. */
export function blockUndecidable(draft: Draft, { matches, lock }: Pick<Situation, 'matches' | 'lock'>): void {
  const unknown = new Map(
    matches.flatMap(({ step, record, movedFrom = step.address }) => {
      const why = describeUnknown(record?.decisions) ?? describeUnknown(lock.steps.get(movedFrom)?.decisions);
      return why === undefined ? [] : [[step.address, why] as const];
    }),
  );
  if (unknown.size === 0) return;
  for (const [address, why] of unknown) {
    const row = draft.at(address);
    if (row?.order === undefined) continue;
    if (row.order.send !== undefined) draft.put(leftOpen(row, why));
    else if (isSpending(row.action))
      draft.block(row, 'newer', reasonOf('unknown-decision', why)); // I42
    else buyOnce(row);
  }
}
