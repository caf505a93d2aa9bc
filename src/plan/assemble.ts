import type { Graph } from '../graph/graph.ts';
import type { Lock, Output, StepRecord } from '../lock/record.ts';
import { spentCredits } from '../lock/spent.ts';
import { isCarriedOut, isSpending } from './actions.ts';
import { type Decision, decide, type FileState } from './decide.ts';
import { findUnfunded } from './fund.ts';
import { type Held, heldCredits } from './held.ts';
import { idempotencyKey } from './key.ts';
import { type Match, matchSteps } from './match.ts';
import type { Plan, PlanRow, PlanTotals, StepOrder } from './plan.ts';
import { type PriceOf, pricesFrom } from './prices.ts';

/** Everything a plan is made from. The same facts always give the same plan. */
export interface PlanFacts {
  graph: Graph;
  lock: Lock;
  /** What is on disk for the outputs that `outputsToCheck` named. */
  fileState(output: Output): FileState;
  /** Whether the credential lets a lost create be asked for again. */
  replays: 'yes' | 'no' | 'unknown';
  /** Milliseconds since 1970. */
  now: number;
  concurrency: number;
  /** Addresses that are to be bought again. */
  redo: ReadonlySet<string>;
  /** Cap of this run alone. */
  maxCredits?: number;
}

/** The files whose state a plan needs to know: one question for the disk before `assemblePlan`. */
export function outputsToCheck(graph: Graph, lock: Lock): Output[] {
  return matchSteps(graph, lock).flatMap(({ purchase }) =>
    purchase?.state === 'done' ? (purchase.outputs ?? []) : [],
  );
}

/** For every step an action, a reason and a price. Pure; `apply` carries out exactly this. */
export function assemblePlan(facts: PlanFacts): Plan {
  const { graph, lock } = facts;
  const matches = matchSteps(graph, lock);
  const priceOf = pricesFrom(lock);
  const rows = matches.map((match) => makeRow(match, facts, priceOf));
  spareMovedFiles(rows);
  const cap = budgetCap(facts, heldCredits(lock, priceOf, keysSentAgain(rows)));
  blockUnfunded(rows, Math.min(cap, facts.maxCredits ?? Number.POSITIVE_INFINITY));
  const held = heldCredits(lock, priceOf, keysSentAgain(rows));
  blockDependents(rows, matches);
  rows.push(...orphanRows(matches, lock));
  const totals = sumUp(rows, facts, held);
  return { mediabatch: 'plan', version: 1, campaign: graph.name, concurrency: facts.concurrency, rows, totals };
}

function makeRow(match: Match, facts: PlanFacts, priceOf: PriceOf): PlanRow {
  const { step, purchase } = match;
  const decision = decide(match, { ...facts, redo: facts.redo.has(step.address) });
  const price = priceOf(step.kind, step.request);
  const spends = isSpending(decision.action);
  const row: PlanRow = {
    address: step.address,
    task: step.task,
    kind: step.kind,
    action: decision.action,
    reason: decision.reason,
    credits: spends ? price.credits : 0,
  };
  if (decision.action === 'redo') row.discards = discardedCredits(match.record);
  if (!spends && purchase?.jobId !== undefined) row.jobId = purchase.jobId;
  const output = purchase?.outputs?.[0];
  if (output !== undefined && !spends) row.output = output.path;
  if (isCarriedOut(decision.action)) row.order = makeOrder(match, decision, { facts, price, action: decision.action });
  return row;
}

function makeOrder(
  match: Match,
  decision: Decision,
  context: { facts: PlanFacts; price: StepOrder['price']; action: StepOrder['action'] },
): StepOrder {
  const { step, purchase, record, sharesJobOf, movedFrom } = match;
  const { facts, price, action } = context;
  const campaign = facts.graph.name;
  const bought = decision.purchase ?? {
    generation: purchase?.generation ?? 1,
    attempt: purchase?.attempt ?? 1,
    repeat: 1,
    ...(purchase && { key: purchase.key }),
  };
  const output = purchase?.outputs?.[0];
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
    ...(!isSpending(action) && purchase?.jobId !== undefined && { jobId: purchase.jobId }),
    ...(!isSpending(action) && purchase?.credits !== undefined && { credits: purchase.credits }),
    ...(sharesJobOf !== undefined && { sharesJobOf }),
    ...(!isSpending(action) && output !== undefined && { output }),
    ...(movedFrom !== undefined && { movedFrom }),
    replaces: replacedDigests(record),
  };
}

/** A file that some step of this plan moves to its own name is nobody's to replace, whoever once saved it. */
function spareMovedFiles(rows: PlanRow[]): void {
  const moved = new Set(rows.flatMap(({ action, order }) => (action === 'move' ? (order?.output?.sha256 ?? []) : [])));
  if (moved.size === 0) return;
  for (const { order } of rows) {
    if (order === undefined) continue;
    order.replaces = order.replaces.filter((sha256) => !moved.has(sha256) || sha256 === order.output?.sha256);
  }
}

/** Digests of everything this step has ever saved: a newer output may take their place. */
function replacedDigests(record: StepRecord | undefined): string[] {
  const digests = record?.purchases.flatMap(({ outputs }) => (outputs ?? []).map(({ sha256 }) => sha256)) ?? [];
  return [...new Set(digests)].sort();
}

/** What the newest finished or running purchase of a record cost: lost by buying again. */
function discardedCredits(record: StepRecord | undefined): number {
  const paid = record?.purchases.find(({ state }) => state === 'done' || state === 'running');
  return paid?.credits ?? 0;
}

function blockUnfunded(rows: PlanRow[], cap: number): void {
  if (cap === Number.POSITIVE_INFINITY) return;
  const unfunded = findUnfunded(rows, cap, (row) => row.order?.needs ?? []);
  for (const row of rows) {
    if (!unfunded.has(row.address)) continue;
    block(row, 'budget', `the credits do not reach: it costs ${row.credits ?? 'an unknown number'}`);
  }
}

/** A step that would have to be bought waits in vain for one that is not going to be done. */
function blockDependents(rows: PlanRow[], matches: Match[]): void {
  const byAddress = new Map(rows.map((row) => [row.address, row]));
  rows.forEach((row, index) => {
    if (!isSpending(row.action) && matches[index]?.sharesJobOf === undefined) return;
    for (const address of row.order?.needs ?? []) {
      const action = byAddress.get(address)?.action;
      if (action === 'blocked' || action === 'failed' || action === 'unresolved') {
        block(row, 'step', `needs ${address}, which is ${action}`);
        return;
      }
    }
  });
}

function block(row: PlanRow, by: 'budget' | 'step', reason: string): void {
  row.action = 'blocked';
  row.blockedBy = by;
  row.reason = reason;
  row.credits = 0;
  delete row.order;
  delete row.discards;
}

/** Records of addresses that the manifest no longer has – but not those whose purchases stand, or will stand, at another. */
function orphanRows(matches: Match[], lock: Lock): PlanRow[] {
  const addresses = new Set(matches.map(({ step }) => step.address));
  const movedAway = new Set(matches.flatMap(({ movedFrom }) => movedFrom ?? []));
  const held = purchasesHeldBy(addresses, lock);
  const rows: PlanRow[] = [];
  for (const address of [...lock.steps.keys()].sort()) {
    const record = lock.steps.get(address);
    if (record === undefined || addresses.has(address) || movedAway.has(address) || isHeld(record, held)) continue;
    const [face] = record.purchases;
    rows.push({
      address,
      task: address.split('@')[0] ?? address,
      kind: record.kind,
      action: 'orphan',
      reason: 'in the lock, not in the manifest; kept',
      credits: 0,
      ...(face?.jobId !== undefined && { jobId: face.jobId }),
      ...(face?.outputs?.[0] !== undefined && { output: face.outputs[0].path }),
    });
  }
  return rows;
}

/**
 * The lock without the records that a rename has left behind: an address that the manifest does not have, and whose
 * every purchase is also on record at one that it has. Nothing that was paid for is ever left out.
 */
export function withoutMovedAway(lock: Lock, graph: Graph): Lock {
  const addresses = new Set(graph.steps.map(({ address }) => address));
  const held = purchasesHeldBy(addresses, lock);
  const steps = [...lock.steps].filter(([address, record]) => addresses.has(address) || !isHeld(record, held));
  return { ...lock, steps: new Map(steps) };
}

/** Job ids, and keys of creates whose answer is not known, that stand at these addresses. */
function purchasesHeldBy(addresses: ReadonlySet<string>, lock: Lock): ReadonlySet<string> {
  const held = new Set<string>();
  for (const address of addresses) {
    for (const { jobId, key } of lock.steps.get(address)?.purchases ?? []) {
      held.add(key);
      if (jobId !== undefined) held.add(jobId);
    }
  }
  return held;
}

function isHeld(record: StepRecord, held: ReadonlySet<string>): boolean {
  return record.purchases.every(({ jobId, key, state }) => state === 'refused' || held.has(jobId ?? key));
}

function sumUp(rows: PlanRow[], facts: PlanFacts, held: Held): PlanTotals {
  const sum = (pick: (row: PlanRow) => number) => rows.reduce((total, row) => total + pick(row), 0);
  const { budget } = facts.graph;
  return {
    toSpend: sum((row) => row.credits ?? 0),
    unknownPrices: sum((row) => (row.credits === null ? 1 : 0)),
    alreadyPaid: spentCredits(facts.lock),
    held: held.credits,
    discarded: sum((row) => row.discards ?? 0),
    ...(budget !== undefined && { budget, budgetLeft: budgetCap(facts, held) }),
    ...(facts.maxCredits !== undefined && { maxCredits: facts.maxCredits }),
  };
}

/** What the budget leaves. Nothing, while something that may have been charged has a price that nobody knows. */
function budgetCap({ graph, lock }: PlanFacts, held: Held): number {
  if (graph.budget === undefined) return Number.POSITIVE_INFINITY;
  return held.unknownPrices > 0 ? 0 : Math.max(0, graph.budget - spentCredits(lock) - held.credits);
}

/** Keys of creates whose answer was lost and that this plan asks for again. */
function keysSentAgain(rows: PlanRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ order }) => (order?.sentBefore ? [order.key] : [])));
}
