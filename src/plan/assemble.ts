import { countedPurchases } from '../lock/decisions.ts';
import type { Output, StepRecord } from '../lock/record.ts';
import { isCarriedOut, isSpending } from './actions.ts';
import { blockDependents, blockUnfunded } from './block.ts';
import { blockAtGates, openGates } from './block-at-gates.ts';
import { blockUndecidable } from './block-undecidable.ts';
import { boughtAtIn } from './bought-at.ts';
import type { ChangeFacts } from './changes.ts';
import { type Decision, type DecisionFacts, decide, type FileState } from './decide.ts';
import { tellDecided } from './decided-reason.ts';
import { Draft } from './draft.ts';
import { type MediaFacts, needsMeasuring } from './expectation.ts';
import type { Match } from './find-purchases.ts';
import { tellFollowing } from './follow.ts';
import { heldPurchases, sumHeld } from './held.ts';
import { holdForCanaries } from './hold-for-canaries.ts';
import { holdPosts } from './hold-posts.ts';
import { findLostPrices, waitForPrices } from './lost-prices.ts';
import { makeOrder } from './make-order.ts';
import { openSendRows, type SendFacts } from './open-sends.ts';
import { orphanRows } from './orphans.ts';
import { type CountParts, findConditions, findMissingPart, type PartCondition, partCounter } from './parts.ts';
import type { Plan, PlanRow, StepOrder, WorkRow } from './plan.ts';
import { tellPost } from './post-consent.ts';
import { findPosted } from './post-record.ts';
import { heldWhereUnpriced, type PriceHints, type PriceOf, pricesFrom } from './prices.ts';
import { reasonOf } from './reason.ts';
import { costOfRetries } from './retry.ts';
import type { Situation } from './situation.ts';
import { budgetCap, type Doubts, sumUp } from './sum-up.ts';

/** All inputs of a plan. The same facts always give the same plan. */
export interface PlanFacts extends SendFacts {
  /** The situation, within the limits of the run. */
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
  /** Hints at prices that manifest and lock do not tell. */
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

type About = PlanFacts & Situation & { priceOf: PriceOf };
type Pass = (draft: Draft, about: About) => void;

/** Passes over the rows before money is given out. Each stands where it does for the reason beside it. */
const beforeMoney: readonly Pass[] = [
  // While every row still is what was decided: what is blocked later on goes back to the same change.
  tellFollowing,
  // Before gates, which would name another reason for what only a newer version can decide.
  blockUndecidable,
  // Before canaries: one that waits at a gate keeps nobody from going first.
  blockAtGates,
  // Before money, so that nothing is kept back for what waits for a canary that will not be done.
  holdForCanaries,
  // When no other pass gives an order any more.
  spareMovedFiles,
  // When it is known which steps ask about their sends themselves.
  askAboutSends,
];

/** And after that: what stays undone for people's sake has its credits, for they may say yes at once. */
const afterMoney: readonly Pass[] = [
  // Before what needs others, so that what needs a post waits with it.
  holdPosts,
  // Last, when it is known of each row whether it will be done.
  blockDependents,
];

/** Assigns every step an action, a reason and a price. Pure; `apply` carries out exactly this. */
export function assemblePlan(given: PlanFacts): Plan {
  const { graph, lock, matches, selected } = given.situation;
  const about = { ...given, ...given.situation, priceOf: pricesFrom(lock, graph.prices, given.hints) };
  const draft = new Draft(makeRows(about), selected);
  for (const pass of beforeMoney) pass(draft, about);
  const doubts = giveOutMoney(draft, about);
  for (const pass of afterMoney) pass(draft, about);
  const orphans = selected === undefined ? orphanRows(matches, lock) : [];
  const rows = [...draft.inRun, ...draft.asks, ...orphans]; // I21
  const open = openGates(draft, rows, about);
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: graph.name,
    concurrency: given.concurrency,
    rows,
    ...(open && { gates: open }),
    totals: sumUp(rows, about, doubts),
  };
}

function askAboutSends(draft: Draft, about: About): void {
  draft.asks = openSendRows(about, draft.inRun);
}

/** Blocks what the credits do not cover. Returns what may have been charged all the same. */
function giveOutMoney(draft: Draft, about: About): Doubts {
  const { graph, lock, priceOf, hints, maxCredits = Number.POSITIVE_INFINITY } = about;
  const asked = sendsAsked(draft);
  const held = [...heldPurchases(lock, priceOf, asked)];
  const lostPrices = findLostPrices(about, { held: sumHeld(held), priceOf, asked, rows: draft.inRun });
  if (lostPrices.length > 0) waitForPrices(draft);
  const doubts = { lostPrices, heldUnpriced: heldWhereUnpriced(lock, graph.prices, hints) };
  blockUnfunded(draft, { budget: budgetCap(about, { ...doubts, held }), run: maxCredits });
  // What there was no money to ask about is held as before.
  return { ...doubts, held: [...heldPurchases(lock, priceOf, sendsAsked(draft))] };
}

/** A row for each step, as if there were no others, and no end of money. */
function makeRows(about: About): PlanRow[] {
  const { graph, lock, matches } = about;
  const told = { ...about, postedAs: findPosted(lock), addressOf: boughtAtIn(lock) };
  const decisionFacts = { once: { ...told, redo: false }, again: { ...told, redo: true } };
  const context = { about, decisionFacts, conditions: findConditions(graph), count: partCounter(matches) };
  return matches.map((match) => makeRow(match, context));
}

function makeRow(
  match: Match,
  context: {
    about: About;
    /** Facts for steps that are bought once, and for those to be bought again. */
    decisionFacts: { once: DecisionFacts; again: DecisionFacts };
    conditions: ReadonlyMap<string, readonly PartCondition[]>;
    count: CountParts;
  },
): PlanRow {
  const { about, decisionFacts, conditions, count } = context;
  const { step, purchase } = match;
  const missing = findMissingPart(conditions.get(step.address), count);
  const isUnneeded = missing !== undefined && purchase === undefined;
  // Priced lazily: most steps of a finished campaign are kept, whatever they would cost.
  const priceOf = () => about.priceOf(step.kind, step.request);
  const isPinned = step.decided?.pinned !== undefined;
  const plain: Decision = isUnneeded
    ? { action: 'keep', reason: reasonOf('not-needed', `not needed: ${missing.condition.of} gave ${missing.parts}`) }
    : decide(match, about.redo.has(step.address) && !isPinned ? decisionFacts.again : decisionFacts.once);
  const decision =
    step.decided === undefined || isUnneeded
      ? plain
      : tellDecided(match, plain, { price: priceOf(), facts: decisionFacts.once });
  const { action, reason } = decision;
  const row: PlanRow = isCarriedOut(action)
    ? makeWork(match, decision, { action, price: priceOf(), campaign: about.graph.name, conditions })
    : { address: step.address, task: step.task, kind: step.kind, action, reason, credits: 0 };
  if (step.key !== undefined) row.key = step.key;
  if (step.tags.length > 0) row.tags = step.tags;
  if (isUnneeded) row.unneeded = true;
  if (isPinned) row.pinned = true;
  if (isPinned && step.decided?.wanted !== undefined) row.wouldCost = priceOf().credits;
  if (step.decided?.accepted === true) row.accepted = true;
  const output = purchase?.outputs?.[0];
  if (!isSpending(action) && purchase?.jobId !== undefined) row.jobId = purchase.jobId;
  if (!isSpending(action) && output !== undefined) row.output = output.path;
  tellPost(row, { match, decision });
  return row;
}

function makeWork(match: Match, decision: Decision, context: Parameters<typeof makeOrder>[2]): WorkRow {
  const { address, task, kind, unchecked } = match.step;
  const { action, price } = context;
  const order = makeOrder(match, decision, context);
  const row: WorkRow = { address, task, kind, action, reason: decision.reason, credits: 0, order };
  if (isSpending(action)) {
    row.credits = price.credits;
    row.price = price;
    if (unchecked === true) row.unchecked = true;
  }
  if (action === 'redo') row.discards = discardedCredits(match.record);
  if (order.retries !== undefined) row.mayRetry = costOfRetries(order.retries, order.price);
  return row;
}

/** Protects a file that a step of this plan moves to its own name from being replaced, whoever once saved it. */
function spareMovedFiles(draft: Draft): void {
  const rows = draft.inRun;
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
function sendsAsked(draft: Draft): ReadonlySet<string> {
  return new Set(
    [...draft.inRun, ...draft.asks].flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])),
  );
}
