import { defined, groupBy } from '../ground/values.ts';
import { kinds } from '../kinds/index.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Job, Lock, Purchase, StepRecord } from '../lock/record.ts';
import { spentCredits } from '../lock/sends.ts';
import { isSpending } from '../plan/actions.ts';
import { agreementOf, leftUnder } from '../plan/agreement.ts';
import {
  type Carry,
  orderId,
  type Plan,
  type PlanRow,
  type PlanTotals,
  type Price,
  type StepOrder,
  withoutSend,
} from '../plan/plan.ts';
import {
  heldWhereUnpriced,
  PriceBook,
  type PriceOf,
  pricesFrom,
  shareOf,
  shareOnceCharged,
  type WrittenPrices,
} from '../plan/prices/prices.ts';
import { countRefused, idempotencyKey } from '../plan/purchases/key.ts';
import { type Act, currentPurchase, hasOpenSend, next, type SendFacts } from '../plan/purchases/next.ts';
import { askedSend } from '../plan/purchases/open-sends.ts';
import { describeGuesses, heldPurchases, sumDoubts } from '../plan/sum-up.ts';
import { addCredits, nextOrder } from './step.ts';
import type { StepEnd } from './step-end.ts';

interface ResumeFacts extends SendFacts {
  /** The lock when the plan was made. */
  before: Lock;
  lock: Lock;
  prices: WrittenPrices;
  ends: ReadonlyMap<string, StepEnd>;
}

export interface ResumedPlan {
  /** The plan with all rows, the orders that are not finished, and current totals. */
  plan: Plan;
  ends: Map<string, StepEnd>;
  newEnds: Map<string, StepEnd>;
  spentBefore: number;
  /** Credits already charged for each order that continues, by order id; `null` if unknown. */
  spent: ReadonlyMap<string, number | null>;
  /** Charges of the jobs that this run bought, each with the price that the plan expected. */
  charges: readonly { price: Readonly<Price>; charged: number | null }[];
  learned: PriceBook;
}

/**
 * Returns the part of a plan that is not executed yet. Counts the charges so far, and keeps the credits of unresolved
 * create requests reserved, so that spent plus reserved credits never exceed the budget and limits of the plan.
 */
export function resumePlan(plan: Plan, facts: ResumeFacts): ResumedPlan {
  const { before, lock } = facts;
  const ends = new Map(facts.ends);
  const newEnds = new Map<string, StepEnd>();
  const spent = new Map<string, number | null>();
  const learned = new PriceBook();
  const charges: { price: Readonly<Price>; charged: number | null }[] = [];
  const rows = plan.rows.map((row): PlanRow => {
    const { order } = row;
    if (order === undefined) return row;
    const name = orderId(order);
    const { price } = order;
    for (const { key, credits } of newJobs(order, facts)) {
      if (key === order.key) learned.learn(price.class, credits ?? 0);
      if (!order.asksOnly && order.sharesJobOf === undefined) charges.push({ price, charged: credits ?? null });
    }
    if (ends.has(name)) return row;
    const resumed = resumeOrder(
      order,
      { before: before.steps.get(order.address), record: lock.steps.get(order.address) },
      facts,
    );
    if ('end' in resumed) {
      ends.set(name, resumed.end);
      newEnds.set(name, resumed.end);
      return row;
    }
    if (resumed.spent !== 0) spent.set(name, resumed.spent);
    return { ...row, order: resumed.order };
  });
  const open = rows.filter(({ order }) => order !== undefined && !ends.has(orderId(order)));
  const { totals, spentBefore } = sumAgain(plan.totals, open, facts);
  const ceiling = leftUnder(agreementOf(plan), { rows: open }, lock) + approvedSince(plan, charges); // I39 (resumed)
  const rest = { ...plan, rows, totals: { ...totals, ceiling } };
  return { plan: rest, ends, newEnds, spentBefore, spent, charges, learned };
}

function newJobs({ address }: StepOrder, { before, lock }: ResumeFacts): readonly Purchase[] {
  const known = new Set(before.steps.get(address)?.purchases.map(({ jobId }) => jobId));
  const made = lock.steps.get(address)?.purchases ?? [];
  return made.filter(({ jobId }) => jobId !== undefined && !known.has(jobId));
}

/**
 * Returns the credits that count as approved since the first job of a price class without an estimate was charged. The
 * lock does not show which charge was the first, so the lowest charge counts.
 */
function approvedSince({ rows, totals: { asksAgain } }: Plan, charges: ResumedPlan['charges']): number {
  const unpriced = rows.flatMap(({ order, action }) =>
    order !== undefined && isSpending(action) && shareOf(order.price) === undefined ? [order.price.class] : [],
  );
  const shares = [...groupBy(unpriced, (name) => name)].map(([name, { length: count }]) => {
    const known = charges.flatMap(({ price, charged }) => (price.class === name && charged ? [charged] : []));
    return known.length === 0 ? 0 : shareOnceCharged(Math.min(...known), { count, asksAgain });
  });
  return shares.reduce((sum, share) => sum + share, 0);
}

function sumAgain(
  totals: PlanTotals,
  open: readonly PlanRow[],
  { before, lock, prices }: ResumeFacts,
): { totals: PlanTotals; spentBefore: number } {
  const { budget, maxCredits, limit } = totals;
  const priceOf = withNamed(pricesFrom(lock, prices), open);
  const asked = new Set(open.flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])));
  const held = [...heldPurchases(lock, priceOf, asked)];
  const alreadyPaid = spentCredits(lock);
  const spentBefore = alreadyPaid - spentCredits(before);
  const { budgetLeft: _left, maxCredits: _most, limit: _limit, guessed: _guessed, ...same } = totals;
  const { heldUnpriced = heldWhereUnpriced(lock, prices) } = totals;
  const sum = sumDoubts({ held, heldUnpriced }, budget ?? maxCredits ?? limit?.left);
  const used = spentBefore + Math.max(0, sum - totals.held);
  return {
    spentBefore,
    totals: {
      ...same,
      alreadyPaid,
      held: sum,
      ...defined({ guessed: describeGuesses({ held }, budget) }),
      ...(maxCredits !== undefined && { maxCredits: Math.max(0, maxCredits - used) }),
      ...(limit !== undefined && { limit: { ...limit, left: Math.max(0, limit.left - used) } }),
    },
  };
}

/** Adds the service's list prices that were known when the plan was made. */
function withNamed(priceOf: PriceOf, rows: readonly PlanRow[]): PriceOf {
  const named = new Map(
    rows.flatMap(({ order }) => (order?.price.held === undefined ? [] : [[order.price.class, order.price.held]])),
  );
  return (kind, request) => {
    const price = priceOf(kind, request);
    const held = price.held ?? named.get(price.class);
    return price.credits === null && held !== undefined ? { ...price, held } : price;
  };
}

/** `spent`: credits that the order cost under earlier leaders; `null` if unknown. */
type Resumed = { order: StepOrder; spent: number | null } | { end: StepEnd };

/**
 * Returns the rest of an order that an earlier leader may have begun. `before` is the record of the step when the plan
 * was made, `record` is the record now. No purchase is repeated. If a create request has no answer, the run first
 * searches for its job.
 */
export function resumeOrder(
  order: StepOrder,
  { before, record }: { before: StepRecord | undefined; record: StepRecord | undefined },
  facts: SendFacts,
): Resumed {
  // With `asksOnly`, the order only searches for the job of a request. The ledger checks whether the request is open.
  if (order.asksOnly || record === undefined) return { order, spent: 0 };
  const same = countedPurchases(record).filter(
    ({ fingerprint, kind = record.kind }) => fingerprint === order.fingerprint && kind === order.kind,
  );
  if (order.sharesJobOf !== undefined && order.jobId === undefined) return resumeShared(order, same, before);
  let current: Carry = order;
  let spent: number | null = 0;
  for (;;) {
    const { jobId: known, retries, generation, price } = current;
    const made = same.filter((one) => one.generation === generation);
    const purchase = made.find(({ jobId }) => jobId !== undefined && jobId === known) ?? currentPurchase(made, facts);
    const isOpen = same.every((one) => one.generation <= generation) && hasOpenSend(same, current);
    const act = next(purchase, { ...facts, retries, price: price.credits, isOpen, redo: false });
    if (act.do === 'create' || act.do === 'ask' || act.do === 'hold') {
      if (known !== undefined) return { order: current, spent };
      if (act.do === 'hold') return { end: { outcome: 'unresolved', credits: null, error: act.reason } };
      return { order: resumeSend(current, act, record), spent };
    }
    const { job } = act;
    if (known === undefined) spent = addCredits(spent, job.credits ?? null);
    const attached = attach(current, job);
    const old = before?.purchases.find(({ jobId, key }) => jobId === job.jobId && key === job.key);
    if (old !== undefined && isSame(old, job)) return { order: known === undefined ? attached : current, spent };
    if (act.do === 'save') {
      return isCollected(current, job) ? { end: { outcome: 'done', credits: spent } } : { order: attached, spent };
    }
    if (job.state === 'running') return { order: attached, spent };
    const { state: outcome, error = `job ${job.jobId} ${job.state}` } = job;
    const charged = known === undefined ? (job.credits ?? null) : (order.credits ?? null);
    const following = act.do === 'again' ? nextOrder(attached, { error, charged }) : undefined;
    if (following === undefined) return { end: { outcome, credits: spent, error } };
    current = following;
  }
}

function attach(order: Carry, { jobId, key, attempt, credits }: Job): Carry {
  const rest = withoutSend(order);
  // The action is `attach`, because orders with running jobs get slots before new purchases.
  const action = rest.action === 'download' || rest.action === 'move' ? rest.action : ('attach' as const);
  return { ...rest, action, key, attempt, jobId, ...defined({ credits }) };
}

function isSame(old: Purchase, now: Purchase): boolean {
  const isSaved = (purchase: Purchase) => purchase.outputs !== undefined;
  return old.state === now.state && old.revision === now.revision && isSaved(old) === isSaved(now);
}

/** Returns true if the files of a job are saved and all expectations are checked. */
function isCollected({ kind, expect }: Carry, { outputs }: Job): boolean {
  return kinds[kind]?.media === 'none' || (outputs !== undefined && expect === undefined);
}

/**
 * Resumes an order without a known job: searches for the job of an open create request, or tries the idempotency keys
 * again from the first.
 */
function resumeSend(order: Carry, act: Extract<Act, { do: 'create' | 'ask' }>, { purchases }: StepRecord): Carry {
  const { campaign, fingerprint, repeat } = order;
  const refused = countRefused(purchases, { campaign, fingerprint, repeat });
  if (act.do === 'ask') {
    const { key, attempt } = act.send;
    return { ...order, key, attempt, refused, send: askedSend(act.send) };
  }
  const unsent = withoutSend(order);
  if (act.refused === undefined) return unsent;
  // Tries a refused key again: a refusal costs nothing, and its reason may be gone.
  return { ...unsent, attempt: 1, key: idempotencyKey({ campaign, fingerprint, repeat, attempt: 1 }), refused };
}

function resumeShared(order: Carry, same: readonly Purchase[], before: StepRecord | undefined): Resumed {
  const saved = same.find(({ state, outputs }) => state === 'done' && outputs !== undefined);
  const old = before?.purchases.find(({ jobId }) => jobId === saved?.jobId);
  const isNews = saved !== undefined && (old === undefined || !isSame(old, saved));
  const isOver = isNews && order.expect === undefined;
  return isOver ? { end: { outcome: 'done', credits: 0 } } : { order, spent: 0 };
}
