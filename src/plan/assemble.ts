import type { Graph } from '../graph/graph.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Lock, Output, StepRecord } from '../lock/record.ts';
import { isCarriedOut, isSpending } from './actions.ts';
import { applyDecisions } from './apply-decisions.ts';
import { type Decision, type DecisionFacts, decide, type FileState } from './decide.ts';
import { tellDecided } from './decided-reason.ts';
import { type MediaFacts, needsMeasuring } from './expectation.ts';
import { findUnfunded } from './fund.ts';
import { heldCredits } from './held.ts';
import { findLostPrices, waitForPrices, whileLost } from './lost-prices.ts';
import { makeOrder } from './make-order.ts';
import { type Match, matchSteps } from './match.ts';
import { openSendRows, type SendFacts } from './open-sends.ts';
import { orphanRows } from './orphans.ts';
import { type CountParts, findConditions, findMissingPart, type PartCondition } from './parts.ts';
import type { Plan, PlanRow, StepOrder } from './plan.ts';
import { tellOrphanedPosts, tellPost } from './post-consent.ts';
import { findPosted } from './post-record.ts';
import { type PriceHints, type PriceOf, pricesFrom } from './prices.ts';
import { costOfRetries } from './retry.ts';
import { budgetCap, sumUp } from './sum-up.ts';

/** All inputs of a plan. The same facts always give the same plan. */
export interface PlanFacts extends SendFacts {
  graph: Graph;
  lock: Lock;
  /** State on disk of the outputs that `outputsToCheck` listed. */
  fileState(output: Output): FileState;
  concurrency: number;
  /** Measurements of a recorded file; requested only for steps with an `expect:` that needs them. */
  mediaFacts?(output: Output): MediaFacts | undefined;
  /** Addresses to buy again. */
  redo: ReadonlySet<string>;
  /** Addresses that this run is limited to. Absent: all of them. */
  selected?: ReadonlySet<string>;
  /** Cap of this run alone. */
  maxCredits?: number;
  /** What to expect of prices that manifest and lock do not tell. */
  hints?: PriceHints;
  /** Result of `matchSteps` for this graph and lock, if known; it is valid only without `redo`. */
  matches?: readonly Match[];
}

/** A file whose state a plan needs. `measure`: its measurements, too. */
export interface OutputToCheck {
  output: Output;
  measure: boolean;
}

/** Lists the questions for the disk before `assemblePlan`. */
export function outputsToCheck(graph: Graph, lock: Lock): OutputToCheck[] {
  return outputsOf(matchSteps(graph, lock));
}

export function outputsOf(matches: readonly Match[]): OutputToCheck[] {
  const outputs: OutputToCheck[] = [];
  for (const { purchase, step } of matches) {
    if (purchase?.state !== 'done') continue;
    const measure = step.expect !== undefined && needsMeasuring(step.expect);
    for (const output of purchase.outputs ?? []) outputs.push({ output, measure });
  }
  return outputs;
}

/** Assigns every step an action, a reason and a price. Pure; `apply` carries out exactly this. */
export function assemblePlan(given: PlanFacts): Plan {
  const { lock } = given;
  const graph = applyDecisions(given.graph, lock, given.redo);
  const facts = { ...given, graph };
  const matches = (given.redo.size === 0 ? given.matches : undefined) ?? matchSteps(graph, lock);
  const priceOf = pricesFrom(lock, graph.prices, given.hints);
  const conditions = findConditions(graph);
  const count = partCounter(matches);
  const known = { ...facts, postedAs: findPosted(lock) };
  const decisionFacts = { once: { ...known, redo: false }, again: { ...known, redo: true } };
  const everyRow = matches.map((match) => makeRow(match, { facts, decisionFacts, priceOf, conditions, count }));
  const { selected } = facts;
  const rows = selected === undefined ? everyRow : everyRow.filter(({ address }) => selected.has(address));
  spareMovedFiles(rows);
  const asks = openSendRows(lock, { matches, rows, facts, priceOf, campaign: graph.name });
  const asked = sendsAsked([...rows, ...asks]);
  const heldFirst = heldCredits(lock, priceOf, asked);
  const lostPrices = findLostPrices(facts, { held: heldFirst, priceOf, asked, rows });
  for (const row of waitForPrices(rows, lostPrices)) block(row, 'budget', whileLost);
  const cap = budgetCap(facts, { held: heldFirst, lostPrices });
  blockUnfunded(rows, asks, Math.min(cap, facts.maxCredits ?? Number.POSITIVE_INFINITY));
  const held = heldCredits(lock, priceOf, sendsAsked([...rows, ...asks]));
  blockDependents(rows, matches, everyRow);
  rows.push(...asks); // I21
  if (selected === undefined) rows.push(...orphanRows(matches, lock));
  tellOrphanedPosts(rows);
  const totals = sumUp(rows, facts, { held, lostPrices });
  return { mediabatch: 'plan', version: 1, campaign: graph.name, concurrency: facts.concurrency, rows, totals };
}

function makeRow(
  match: Match,
  context: {
    facts: PlanFacts;
    /** For steps that are bought once, and for those to be bought again. */
    decisionFacts: { once: DecisionFacts; again: DecisionFacts };
    priceOf: PriceOf;
    conditions: ReadonlyMap<string, readonly PartCondition[]>;
    count: CountParts;
  },
): PlanRow {
  const { facts, decisionFacts, conditions, count } = context;
  const { step, purchase } = match;
  const missing = findMissingPart(conditions.get(step.address), count);
  const isUnneeded = missing !== undefined && purchase === undefined;
  const priceOf = () => context.priceOf(step.kind, step.request);
  const isPinned = step.decided?.pinned !== undefined;
  const plain: Decision = isUnneeded
    ? { action: 'keep', reason: `not needed: ${missing.condition.of} gave ${missing.parts}` }
    : decide(match, facts.redo.has(step.address) && !isPinned ? decisionFacts.again : decisionFacts.once);
  const decision = step.decided === undefined || isUnneeded ? plain : tellDecided(match, plain, priceOf());
  const spends = isSpending(decision.action);
  // Priced lazily: most steps of a finished campaign are kept, whatever they would cost.
  const price = isCarriedOut(decision.action) ? priceOf() : undefined;
  const order =
    isCarriedOut(decision.action) && price !== undefined
      ? makeOrder(match, decision, { campaign: facts.graph.name, price, action: decision.action, conditions })
      : undefined;
  const row: PlanRow = {
    address: step.address,
    task: step.task,
    kind: step.kind,
    action: decision.action,
    reason: decision.reason,
    credits: spends && price !== undefined ? price.credits : 0,
    ...(order !== undefined && { order }),
  };
  if (spends && price !== undefined) row.price = price;
  if (isUnneeded) row.unneeded = true;
  if (isPinned) row.pinned = true;
  if (isPinned && step.decided?.wanted !== undefined) row.wouldCost = priceOf().credits;
  if (step.decided?.accepted === true) row.accepted = true;
  if (decision.action === 'redo') row.discards = discardedCredits(match.record);
  if (!spends && purchase?.jobId !== undefined) row.jobId = purchase.jobId;
  const output = purchase?.outputs?.[0];
  if (output !== undefined && !spends) row.output = output.path;
  if (spends && step.unchecked === true) row.unchecked = true;
  if (order?.retries !== undefined) row.mayRetry = costOfRetries(order.retries, order.price);
  tellPost(row, { match, decision });
  return row;
}

/** Counts the parts of a step's output by its saved files. */
function partCounter(matches: readonly Match[]): CountParts {
  let done: Map<string, number> | undefined;
  const countAll = () => {
    const counts = new Map<string, number>();
    for (const { step, purchase } of matches) {
      if (purchase?.state !== 'done' || purchase.outputs === undefined) continue;
      counts.set(`${step.address} ${step.fingerprint}`, purchase.outputs.length);
    }
    return counts;
  };
  return (address, fingerprint) => {
    done ??= countAll();
    return done.get(`${address} ${fingerprint}`);
  };
}

/** Protects a file that a step of this plan moves to its own name from being replaced, whoever once saved it. */
function spareMovedFiles(rows: PlanRow[]): void {
  const moved = new Set(rows.flatMap(({ action, order }) => (action === 'move' ? digestsOf(order) : [])));
  if (moved.size === 0) return;
  for (const { order } of rows) {
    if (order === undefined) continue;
    const own = digestsOf(order);
    order.replaces = order.replaces.filter((sha256) => !moved.has(sha256) || own.includes(sha256));
  }
}

function digestsOf(order: StepOrder | undefined): string[] {
  return order?.outputs?.map(({ sha256 }) => sha256) ?? [];
}

/** Returns the cost of the newest finished or running purchase of a record, which buying again discards. */
function discardedCredits(record: StepRecord | undefined): number {
  const paid = (record === undefined ? [] : countedPurchases(record)).find(
    ({ state }) => state === 'done' || state === 'running',
  );
  return paid?.credits ?? 0;
}

/** Blocks what the credits do not cover. Possible charges come first; one that does not fit may still be charged. */
function blockUnfunded(rows: PlanRow[], asks: PlanRow[], cap: number): void {
  if (cap === Number.POSITIVE_INFINITY) return;
  let left = cap;
  for (const row of asks) {
    const cost = row.credits ?? 1;
    if (cost > left)
      block(row, 'budget', `${row.reason}; the credits do not reach: it costs ${row.credits ?? 'an unknown number'}`);
    left = Math.max(0, left - cost);
  }
  const unfunded = findUnfunded(rows, left, (row) => row.order?.needs ?? []);
  for (const row of rows) {
    if (!unfunded.has(row.address)) continue;
    const needed = row.order?.needs.find((address) => unfunded.has(address));
    const own = `the credits do not reach: it costs ${row.credits ?? 'an unknown number'}`;
    block(row, 'budget', row.credits === 0 ? `the credits do not reach for ${needed ?? 'what it needs'}` : own);
  }
}

/** Blocks a step that would be bought if it needs one that will not be done. */
function blockDependents(rows: PlanRow[], matches: readonly Match[], everyRow: PlanRow[]): void {
  const sharing = new Set(
    matches.flatMap(({ step, sharesJobOf }) => (sharesJobOf === undefined ? [] : [step.address])),
  );
  const waiting = new Set(rows.filter(({ address, action }) => isSpending(action) || sharing.has(address)));
  if (waiting.size === 0) return;
  const byAddress = new Map(everyRow.map((row) => [row.address, row]));
  const inRun = new Set(rows.map(({ address }) => address));
  // A step follows those it needs, except that the step whose job it shares may follow it.
  for (let found = true; found; ) {
    found = false;
    for (const row of waiting) {
      const inTheWay = (row.order?.needs ?? []).flatMap((address) => {
        const need = byAddress.get(address);
        return need === undefined ? [] : (whyNotDone(need, inRun.has(address)) ?? []);
      });
      if (inTheWay[0] === undefined) continue;
      block(row, inTheWay[0].by, inTheWay[0].reason);
      waiting.delete(row);
      found = true;
    }
  }
}

/** Returns `undefined` for a step that is done, or will be. */
function whyNotDone(
  { address, action }: PlanRow,
  isInRun: boolean,
): { by: 'step' | 'selection'; reason: string } | undefined {
  switch (action) {
    case 'blocked':
    case 'failed':
    case 'unresolved':
      return { by: 'step', reason: `needs ${address}, which is ${action}` };
    case 'create':
    case 'redo':
    case 'retry':
    case 'attach':
      return isInRun ? undefined : { by: 'selection', reason: `needs ${address}, which is not done and not selected` };
    default:
      return undefined;
  }
}

function block(row: PlanRow, by: NonNullable<PlanRow['blockedBy']>, reason: string): void {
  row.action = 'blocked';
  row.blockedBy = by;
  row.reason = reason;
  row.credits = 0;
  delete row.order;
  delete row.price;
  delete row.discards;
  delete row.mayRetry;
  delete row.unchecked;
  delete row.post;
}

/** Collects the sends that this plan asks about, whose prices it reserves anew. */
function sendsAsked(rows: PlanRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])));
}
