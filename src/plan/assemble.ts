/*
 * (Graph, lock, facts) → plan: an action, a reason and a price for every step.
 * Takes: a `SeenSituation` and facts as values. The same facts give the same plan.
 * Returns: rows with orders. A run executes exactly these orders (I18). Decisions and approvals are pure functions of
 * plan rows.
 * Independent of: disk, network, clock, randomness. What may happen next with a purchase is decided in
 * `purchases/next.ts`.
 */

import { defined } from '../ground/values.ts';
import { countedPurchases } from '../lock/decisions.ts';
import type { Output, StepRecord } from '../lock/record.ts';
import { isCarriedOut, isSpending, publishes } from './actions.ts';
import { type ChangeFacts, changeReason } from './compare/changes.ts';
import { type Decision, type DecisionFacts, decide } from './decide.ts';
import { isAcceptedAsIs } from './decisions/pin.ts';
import { blockAtGates, openGates } from './gates/block-at-gates.ts';
import { holdForCanaries } from './gates/canaries.ts';
import { describeWait } from './gates/gates.ts';
import { type Aspect, aspectsOf } from './outputs/expectation.ts';
import type { Reason } from './plan.generated.ts';
import {
  type OrderedJob,
  type Plan,
  type PlanRow,
  type PlanTotals,
  reasonOf,
  type StepOrder,
  type WorkRow,
} from './plan.ts';
import { holdPosts } from './posts/hold-posts.ts';
import { findPosted, isPost, sendsOf, targetOf } from './posts/post-record.ts';
import { blockUnfunded, leaveOut } from './prices/fund.ts';
import { findModelChanges, type RefreshedList } from './prices/model-changes.ts';
import { heldWhereUnpriced, type PriceHints, type PriceOf, pricesFrom } from './prices/prices.ts';
import { costOfRetries, countRefused, idempotencyKey, repeatOf, retriesAfter } from './purchases/key.ts';
import type { SendFacts } from './purchases/next.ts';
import { askedSend, blockUndecidable, markUnknownSends, openSendRows } from './purchases/open-sends.ts';
import { blockDependents, buyOnce, Draft, notNeeded } from './rows/draft.ts';
import { describeFollowing, describeReplaced } from './rows/follow.ts';
import { orphanRows } from './rows/orphans.ts';
import { boughtAtIn, type Match } from './situation/find-purchases.ts';
import {
  type CountParts,
  findConditions,
  findMissingPart,
  findOptional,
  type MissingPart,
  type PartCondition,
  partCounter,
} from './situation/parts.ts';
import type { SeenSituation } from './situation/situation.ts';
import { budgetCap, type Doubts, heldPurchases, sumUp } from './sum-up.ts';
import { type Durations, expectTime } from './time-left.ts';

interface PlanFacts extends SendFacts {
  situation: SeenSituation;
  concurrency: number;
  maxCredits?: number;
  /** The account that pays: its lowest spending limit across campaigns, and its balance after the last run. */
  account?: { limit?: NonNullable<PlanTotals['limit']>; lastBalance?: NonNullable<PlanTotals['lastBalance']> };
  /** Steps that exceeded the spending limit at approval. The run does not buy them, even if the limit is higher now. */
  leftOut?: ReadonlySet<string>;
  causeOf?: ChangeFacts['causeOf'] | undefined;
  hints?: PriceHints;
  /**
   * Facts from the purchase journal of this machine. `restored`: IDs of jobs and create requests that were missing from
   * the lock. `sentHere`: send times in ms since 1970, by ID, of unresolved create requests. `sentHere` is omitted if
   * no approval is needed to repeat requests of other machines.
   */
  journal?: { restored?: ReadonlySet<string>; sentHere?: ReadonlyMap<string, number> };
  lists?: readonly RefreshedList[];
  durations?: Durations;
}

export interface OutputToCheck {
  output: Output;
  aspects: readonly Aspect[];
  /** Outputs that the step's other purchases saved at the path of `output`. */
  replaced?: readonly Output[];
}

export function outputsToCheck(matches: readonly Match[]): OutputToCheck[] {
  const outputs: OutputToCheck[] = [];
  for (const { purchase, step, record } of matches) {
    if (purchase?.state !== 'done') continue;
    const aspects = aspectsOf(step.rules?.expect);
    const others = record?.purchases.filter((one) => one !== purchase) ?? [];
    for (const output of purchase.outputs ?? []) {
      const replaced = others.flatMap((one) => (one.outputs ?? []).filter(({ path }) => path === output.path));
      outputs.push({ output, aspects, ...(replaced.length > 0 && { replaced }) });
    }
  }
  return outputs;
}

export const restoredText = "restored from this machine's purchase journal";

type About = PlanFacts & SeenSituation & { priceOf: PriceOf };
type Pass = (draft: Draft, about: About) => void;

/** Passes over the plan rows before the budget is allocated. A comment explains why a pass is at its position. */
const beforeMoney: readonly Pass[] = [
  // First, because later passes block rows, and the reason text of a blocked row is not changed any further.
  describeFollowing,
  // Before `blockAtGates`, which would replace the reason "only a newer version can read this decision".
  blockUndecidable,
  // Before `holdForCanaries`, because a canary that waits at a gate must not delay other steps.
  blockAtGates,
  // Before the budget is allocated, so that no credits are reserved for steps whose canary will not be done.
  holdForCanaries,
  // After all passes that add orders.
  protectMovedFiles,
  // After the passes that decide which steps settle their own create requests.
  askAboutSends,
];

/**
 * Passes after the budget is allocated. The credits of a row that waits for consent stay reserved, because the user may
 * consent at once.
 */
const afterMoney: readonly Pass[] = [
  // Before `blockDependents`, so that steps that need a blocked post are blocked with the post.
  holdPosts,
  // After the passes that decide which rows will be done.
  blockDependents,
  describeReplaced,
];

export function assemblePlan(given: PlanFacts): Plan {
  const { concurrency, durations, account, journal, lists = [] } = given;
  const { graph, lock, matches, selected } = given.situation;
  const about = { ...given, ...given.situation, priceOf: pricesFrom(lock, graph.prices, given.hints) };
  const draft = new Draft(makeRows(about), selected);
  for (const pass of beforeMoney) pass(draft, about);
  const { doubts, fit } = fund(draft, about);
  for (const pass of afterMoney) pass(draft, about);
  const orphans = selected === undefined ? orphanRows(matches, lock) : [];
  const rows = [...draft.inRun, ...draft.asks, ...orphans]; // I21
  markRestored(rows, journal?.restored);
  if (journal?.sentHere !== undefined) markUnknownSends(rows, journal.sentHere, given.now);
  const models = lists.length === 0 ? [] : findModelChanges(rows, matches, lists);
  const open = openGates(draft, rows, about);
  return {
    mediabatch: 'plan',
    version: 2,
    campaign: graph.name,
    concurrency,
    rows,
    ...defined({ gates: open }),
    ...(models.length > 0 && { models }),
    totals: {
      ...sumUp(rows, about, doubts),
      ...defined({ fit }),
      ...(durations && expectTime(rows, { concurrency, durations })),
      ...(rows.some(({ action }) => isSpending(action)) && defined({ lastBalance: account?.lastBalance })),
    },
  };
}

function markRestored(rows: readonly PlanRow[], restored: ReadonlySet<string> | undefined): void {
  if (restored === undefined) return;
  for (const row of rows) {
    const { jobId, send = row.order?.send?.id, reason, action } = row;
    const isOpen = send !== undefined && restored.has(send);
    if (!isOpen && (jobId === undefined || !restored.has(jobId))) continue;
    const isOwn = action === 'attach' || action === 'download' || reason.code === 'up-to-date';
    row.reason =
      isOwn && !isOpen ? reasonOf('restored', restoredText) : { ...reason, text: `${reason.text}; ${restoredText}` };
  }
}

function askAboutSends(draft: Draft, about: About): void {
  draft.asks = openSendRows(about, draft.inRun);
}

function fund(draft: Draft, about: About): { doubts: Doubts; fit: PlanTotals['fit'] } {
  const { graph, lock, priceOf, hints, maxCredits, account, leftOut } = about;
  if (leftOut !== undefined) leaveOut(draft, leftOut);
  const heldUnpriced = heldWhereUnpriced(lock, graph.prices, hints);
  const findDoubts = (): Doubts => ({ held: [...heldPurchases(lock, priceOf, sendsAsked(draft))], heldUnpriced });
  const fit = blockUnfunded(
    draft,
    { budget: budgetCap(about, findDoubts()), maxCredits, limit: account?.limit },
    about,
  );
  // If the budget does not cover an unresolved create request, the request still counts as a possible charge.
  return { doubts: findDoubts(), fit };
}

function makeRows(given: About): PlanRow[] {
  const { graph, lock, matches } = given;
  const about = { ...given, postedAs: findPosted(lock), addressOf: boughtAtIn(lock) };
  const parts: Parts = { conditions: findConditions(graph), count: partCounter(matches) };
  return matches.map((match) => makeRow(match, about, parts));
}

interface Parts {
  conditions: ReadonlyMap<string, readonly PartCondition[]>;
  count: CountParts;
}

function makeRow(match: Match, about: About & DecisionFacts, { conditions, count }: Parts): PlanRow {
  const { step, purchase } = match;
  const { address, task, kind, key, matrix, take, tags, decided } = step;
  const isUnneeded = about.unneeded.has(address);
  const parts = conditions.get(address);
  // The price is computed only when needed, because most steps of a finished campaign need no purchase.
  const priceOf = () => about.priceOf(kind, step.request);
  const decision = isUnneeded
    ? { action: 'keep' as const, reason: whyUnneeded(match, about, findMissingPart(parts, count)) }
    : describeDecided(match, decide(match, about), about);
  const { action, reason } = decision;
  const row: PlanRow = isCarriedOut(action)
    ? makeWork(match, decision, { action, price: priceOf(), campaign: about.graph.name, conditions })
    : { address, task, kind, action, reason, credits: 0 };
  if (key !== undefined) row.key = key;
  if (Object.keys(matrix).length > 0) row.matrix = matrix;
  if (take !== undefined) row.take = take;
  if (tags.length > 0) row.tags = tags;
  if (isUnneeded) row.unneeded = true;
  if (decided?.pinned !== undefined) row.pinned = true;
  if (decided?.pinned !== undefined && decided.wanted !== undefined) row.wouldCost = priceOf().credits;
  if (decided?.accepted === true) row.accepted = true;
  const output = purchase?.outputs?.[0];
  if (!isSpending(action) && purchase?.jobId !== undefined) row.jobId = purchase.jobId;
  if (!isSpending(action) && output !== undefined) row.output = output.path;
  const isPerhaps = parts?.some((one) => count(one.of, one.fingerprint) === undefined) === true;
  describePost(row, { match, decision, isPerhaps });
  return row;
}

function whyUnneeded({ step }: Match, { graph }: About, missing: MissingPart | undefined): Reason {
  if (missing !== undefined) return notNeeded(missing);
  const gate = graph.gates.find(({ name }) => name === step.rejected);
  return reasonOf('rejected', gate === undefined ? 'an output that this step uses is rejected' : describeWait(gate));
}

function makeWork(match: Match, decision: Decision, context: OrderContext): WorkRow {
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

function protectMovedFiles(draft: Draft): void {
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

function discardedCredits(record: StepRecord | undefined): number {
  const paid = (record === undefined ? [] : countedPurchases(record)).find(
    ({ state }) => state === 'done' || state === 'running',
  );
  return paid?.credits ?? 0;
}

function sendsAsked(draft: Draft): ReadonlySet<string> {
  return new Set(
    [...draft.inRun, ...draft.asks].flatMap(({ order }) => (order?.send === undefined ? [] : [order.send.id])),
  );
}

function describeDecided(match: Match, decision: Decision, facts: DecisionFacts & About): Decision {
  const { decided, kind, request } = match.step;
  if (decided === undefined) return decision;
  const { pinned, wanted } = decided;
  const code = pinned === undefined ? 'accepted' : 'pinned';
  const { text } = decision.reason;
  if (decision.action !== 'keep') return { ...decision, reason: { ...decision.reason, text: `${text} (${code})` } };
  if (wanted === undefined) return { ...decision, reason: { code, text: `${text}, and ${code}` } };
  const { credits } = facts.priceOf(kind, request);
  const cost = credits === null ? 'the price of a redo is unknown' : `would cost ${credits}`;
  const notify = (change: string) =>
    pinned === undefined ? `accepted as it is, although ${change}` : `pinned; ${change} (${cost})`;
  return { ...decision, reason: changeReason(code, { bought: match.purchase, match }, { facts, notify }) };
}

interface OrderContext {
  campaign: string;
  price: StepOrder['price'];
  action: StepOrder['action'];
  conditions: ReadonlyMap<string, readonly PartCondition[]>;
}

function makeOrder(match: Match, decision: Decision, context: OrderContext): StepOrder {
  const { step, record, sharesJobOf } = match;
  const { campaign, price, action, conditions } = context;
  const purchases = record?.purchases ?? [];
  const known = decision.asks ?? match.purchase;
  const { generation, repeat } = decision.purchase ?? {
    generation: known?.generation ?? 1,
    repeat: repeatOf(purchases, { ...step, generation: known?.generation ?? 1 }),
  };
  const { attempt, key } =
    decision.purchase === undefined && known !== undefined
      ? known // I1
      : { attempt: 1, key: idempotencyKey({ campaign, fingerprint: step.fingerprint, repeat, attempt: 1 }) };
  const spends = isSpending(action);
  const repeats = action !== 'download' && action !== 'move';
  const { take, file, rules: { timeoutMs, expect } = {} } = step;
  const parts = conditions.get(step.address);
  return {
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
    ...defined({
      send: decision.asks && askedSend(decision.asks),
      sharesJobOf,
      movedFrom: match.movedFrom,
      retries: repeats ? retriesAfter(match, { generation, repeat, jobIsKnown: !spends }) : undefined,
      ...{ take, file, timeoutMs, expect },
      parts: parts && [...parts],
      optional: findOptional(step.request, conditions),
    }),
    ...(!spends && jobOf(match, action)),
  };
}

function jobOf({ purchase, record }: Match, action: StepOrder['action']): OrderedJob {
  if (purchase === undefined) return {};
  const { jobId, credits, outputs } = purchase;
  const isAsIs = action === 'attach' && record !== undefined && isAcceptedAsIs(record, purchase);
  return defined({ jobId, credits, outputs, asIs: isAsIs ? (true as const) : undefined });
}

const noDigests = Object.freeze([]) as unknown as string[];

/** Returns the digests of all files that a step ever saved. A run may replace only files with these digests. */
export function replacedDigests(record: StepRecord | undefined): string[] {
  if (record === undefined) return noDigests;
  const digests = record.purchases.flatMap(({ outputs }) =>
    (outputs ?? []).flatMap(({ sha256, edited }) => (edited === true ? [] : sha256)),
  );
  return [...new Set(digests)].sort();
}

/** Completes the row of a post. A plan never repeats a post automatically, even if the job failed. */
function describePost(
  row: PlanRow,
  { match, decision, isPerhaps }: { match: Match; decision: Decision; isPerhaps: boolean },
): void {
  const { step, record } = match;
  if (!isPost(step.kind)) return;
  buyOnce(row);
  if (publishes(row)) {
    row.post = { ...targetOf(step.request), ...(isPerhaps && { perhaps: true }) };
  }
  if (decision.changedSince !== true) return;
  row.changedSince = true;
  const jobId = record && sendsOf(record)[0]?.jobId;
  if (jobId !== undefined) row.jobId = jobId;
}
