import { countedPurchases } from '../lock/decisions.ts';
import type { Output, StepRecord } from '../lock/record.ts';
import { isCarriedOut, isSpending } from './actions.ts';
import { block, blockDependents, blockUnfunded } from './block.ts';
import { blockAtGates, openGates } from './block-at-gates.ts';
import { blockUndecidable } from './block-undecidable.ts';
import { boughtAtIn } from './bought-at.ts';
import { askedCanaries, seatCanaries } from './canaries.ts';
import type { ChangeFacts } from './changes.ts';
import { type Decision, type DecisionFacts, decide, type FileState } from './decide.ts';
import { tellDecided } from './decided-reason.ts';
import { type MediaFacts, needsMeasuring } from './expectation.ts';
import type { Match } from './find-purchases.ts';
import { tellFollowing } from './follow.ts';
import { heldPurchases, sumHeld } from './held.ts';
import { holdForCanaries } from './hold-for-canaries.ts';
import { holdPosts } from './hold-posts.ts';
import { findLostPrices, waitForPrices, whileLost } from './lost-prices.ts';
import { makeOrder } from './make-order.ts';
import { openSendRows, type SendFacts } from './open-sends.ts';
import { orphanRows } from './orphans.ts';
import { type CountParts, findConditions, findMissingPart, type PartCondition, partCounter } from './parts.ts';
import type { Plan, PlanRow, StepOrder } from './plan.ts';
import { tellPost } from './post-consent.ts';
import { findPosted } from './post-record.ts';
import { heldWhereUnpriced, type PriceHints, type PriceOf, pricesFrom } from './prices.ts';
import { reasonOf } from './reason.ts';
import { costOfRetries } from './retry.ts';
import type { Situation } from './situation.ts';
import { budgetCap, sumUp } from './sum-up.ts';

/** All inputs of a plan. The same facts always give the same plan. */
export interface PlanFacts extends SendFacts {
  /** Within the limits of the run. */
  situation: Situation;
  /** State on disk of the outputs that `outputsOf` listed. */
  fileState(output: Output): FileState;
  /** True when an intact copy of an output that is not `intact` at its path is kept here. Absent: none is. */
  isKept?(output: Output): boolean;
  concurrency: number;
  /** Measurements of a recorded file; requested only for steps with an `expect:` that needs them. */
  mediaFacts?(output: Output): MediaFacts | undefined;
  /** Cap of this run alone. */
  maxCredits?: number;
  /** Tells what in the campaign made an input differ; absent where nobody asks. */
  causeOf?: ChangeFacts['causeOf'] | undefined;
  /** What to expect of prices that manifest and lock do not tell. */
  hints?: PriceHints;
}

/** A file whose state a plan needs. `measure`: its measurements, too. */
export interface OutputToCheck {
  output: Output;
  measure: boolean;
}

/** Lists the questions for the disk before `assemblePlan`. */
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
  const facts = { ...given, ...given.situation };
  const { graph, lock, matches, selected, redo } = facts;
  const priceOf = pricesFrom(lock, graph.prices, given.hints);
  const conditions = findConditions(graph);
  const count = partCounter(matches);
  const told = { ...facts, postedAs: findPosted(lock), addressOf: boughtAtIn(lock) };
  const decisionFacts = { once: { ...told, redo: false }, again: { ...told, redo: true } };
  const everyRow = matches.map((match) => makeRow(match, { facts, decisionFacts, priceOf, conditions, count }));
  tellFollowing(everyRow);
  const seated = [...askedCanaries(graph), ...seatCanaries({ ...facts, isFit: fitFinder(everyRow) })];
  blockUndecidable(everyRow, matches, lock);
  blockAtGates(everyRow, matches, graph.gates);
  const rows = selected === undefined ? everyRow : everyRow.filter(({ address }) => selected.has(address));
  holdForCanaries(rows, everyRow, seated);
  spareMovedFiles(rows);
  const asks = openSendRows(lock, { matches, rows, facts, priceOf, campaign: graph.name });
  const asked = sendsAsked([...rows, ...asks]);
  const heldFirst = [...heldPurchases(lock, priceOf, asked)];
  const lostPrices = findLostPrices(facts, { held: sumHeld(heldFirst), priceOf, asked, rows });
  for (const row of waitForPrices(rows, lostPrices)) block(row, 'budget', reasonOf('price-unknown', whileLost));
  const doubts = { lostPrices, heldUnpriced: heldWhereUnpriced(lock, graph.prices, given.hints) };
  const cap = budgetCap(facts, { ...doubts, held: heldFirst });
  blockUnfunded(rows, asks, { budget: cap, run: facts.maxCredits ?? Number.POSITIVE_INFINITY });
  const held = [...heldPurchases(lock, priceOf, sendsAsked([...rows, ...asks]))];
  holdPosts(rows, { matches, lock, redo });
  blockDependents(rows, matches, everyRow);
  rows.push(...asks); // I21
  if (selected === undefined) rows.push(...orphanRows(matches, lock));
  const totals = sumUp(rows, facts, { ...doubts, held });
  const { concurrency } = facts;
  const open = openGates(graph.gates, rows, { matches, everyRow });
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: graph.name,
    concurrency,
    rows,
    ...(open && { gates: open }),
    totals,
  };
}

/** A step proves something for others like it when its output is here, and is what the manifest asks for. */
function fitFinder(rows: readonly PlanRow[]): (match: Match) => boolean {
  let kept: Set<string> | undefined;
  return ({ step, purchase }) => {
    kept ??= new Set(rows.flatMap(({ address, action }) => (action === 'keep' ? [address] : [])));
    return purchase?.state === 'done' && kept.has(step.address);
  };
}

function makeRow(
  match: Match,
  context: {
    facts: PlanFacts & Situation;
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
    ? { action: 'keep', reason: reasonOf('not-needed', `not needed: ${missing.condition.of} gave ${missing.parts}`) }
    : decide(match, facts.redo.has(step.address) && !isPinned ? decisionFacts.again : decisionFacts.once);
  const decision =
    step.decided === undefined || isUnneeded
      ? plain
      : tellDecided(match, plain, { price: priceOf(), facts: decisionFacts.once });
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
    ...(step.key !== undefined && { key: step.key }),
    ...(step.tags.length > 0 && { tags: step.tags }),
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

/** Collects the sends that this plan asks about, whose prices it reserves anew. */
function sendsAsked(rows: PlanRow[]): ReadonlySet<string> {
  return new Set(rows.flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])));
}
