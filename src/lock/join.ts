/*
 * The lock as a value: read, join, write.
 * Takes: the lines of a lock file, in any order, from any branch.
 * Returns: one record for each address. Joining is commutative, associative and idempotent, and loses no job and no
 * open create request (I7, I22).
 * Independent of: the manifest, prices, the service. Joining decides no purchase.
 */

import { canonicalJson } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { compareVersions } from '../ground/version.ts';
import { joinDecisions } from './decisions.ts';
import {
  type Decisions,
  type Job,
  joinUnknown,
  type Lock,
  type LockLine,
  lockVersion,
  type OpenSend,
  type Purchase,
  type PurchaseState,
  type Refusal,
  type StepRecord,
  withUnknownOf,
} from './record.ts';
import { closedSends, isJob, mayBeCharged, writtenOffSends } from './sends.ts';

export interface Part {
  kind: string;
  purchases: readonly Purchase[];
  decisions?: Decisions;
  closes?: readonly string[];
}

/**
 * Joins the records of one step from two sources: commutative, associative, idempotent. Drops an unresolved create
 * request only if one source has its ID in `closes`. Never drops a job ID.
 */
export function joinRecords(a: StepRecord, b: StepRecord): StepRecord {
  if (a.address !== b.address) throw new Error(`internal error: ${a.address} joined with ${b.address}`);
  return joinParts(a.address, [a, b]);
}

export function joinInto(steps: Map<string, StepRecord>, record: StepRecord): void {
  const known = steps.get(record.address);
  steps.set(record.address, known === undefined ? record : (joinNext(known, record) ?? joinRecords(known, record)));
}

/**
 * Joins a job line to a record whose only purchase is the same job, or the create request that the line closes. Returns
 * `undefined` for any other line. Most lines of a run take this fast path.
 */
function joinNext(known: StepRecord, next: StepRecord): StepRecord | undefined {
  const [before, job] = [known.purchases[0], next.purchases[0]];
  if (before === undefined || job === undefined || !isJob(job)) return undefined;
  const isPlain = (record: StepRecord) => record.purchases.length === 1 && record.decisions === undefined;
  if (!isPlain(known) || !isPlain(next) || known.kind !== next.kind || (before.kind ?? job.kind) !== undefined) {
    return undefined;
  }
  if (isJob(before)) {
    if (factOf(before) !== factOf(job)) return undefined;
  } else if (!mayBeCharged(before) || next.closes?.includes(before.send) !== true) return undefined;
  const { address, kind, closes: closed = [] } = known;
  const part = { kind, closes: [...closed, ...(next.closes ?? [])], purchases: [] };
  return normalRecord(address, part, isJob(before) ? joinFacts(before, job) : job);
}

/** Joins two locks, step by step. The caller checks that both locks belong to the same service. */
export function joinLocks(a: Lock, b: Lock): Lock {
  const steps = new Map<string, StepRecord>();
  for (const [address, record] of a.steps) steps.set(address, joinParts(address, [record]));
  for (const [address, record] of b.steps) {
    const known = steps.get(address);
    steps.set(address, joinParts(address, known === undefined ? [record] : [known, record]));
  }
  return agreeOnSends({ version: lockVersion, ...joinHeaders(a, b), steps });
}

/**
 * Gives a create request the same state at all step addresses. After a step was renamed, two addresses may have the
 * same request, and only one of them its answer or a decision.
 */
export function agreeOnSends(lock: Lock): Lock {
  const closed = closedSends(lock);
  const writtenOff = writtenOffSends(lock);
  if (closed.size === 0 && writtenOff.size === 0) return lock;
  const agreed = (purchase: Purchase): Purchase | undefined => {
    if (!mayBeCharged(purchase)) return purchase;
    if (closed.has(purchase.send)) return undefined;
    return purchase.writtenOff || !writtenOff.has(purchase.send) ? purchase : { ...purchase, writtenOff: true };
  };
  const changed = new Map<string, StepRecord>();
  for (const [address, record] of lock.steps) {
    if (record.purchases.every((purchase) => agreed(purchase) === purchase)) continue;
    const purchases = record.purchases.flatMap((purchase) => agreed(purchase) ?? []);
    changed.set(address, joinParts(address, [{ ...record, purchases }]));
  }
  return changed.size === 0 ? lock : { ...lock, steps: new Map([...lock.steps, ...changed]) };
}

export function recordOf(line: LockLine): StepRecord {
  return joinParts(line.address, [partOf(line)]);
}

export function partOf(line: LockLine): Part {
  const { address: _address, kind, decisions, earlier, closes, ...newest } = line;
  return {
    kind,
    purchases: [newest, ...(earlier ?? [])],
    ...defined({ decisions, closes }),
  };
}

/**
 * Returns the lock line of a record. Omits the `request` of an earlier purchase if no step uses its output and its
 * charge is known. Returns `undefined` for a record without purchases.
 */
export function lineOf(record: StepRecord): LockLine | undefined {
  const { address, kind, decisions } = record;
  const [newest, ...others] = record.purchases;
  if (newest === undefined) return undefined;
  const used = record.purchases.find(({ state }) => state === 'done');
  const earlier = others.map((purchase) => (purchase === used ? purchase : withoutExplanation(purchase)));
  return {
    address,
    kind,
    ...newest,
    ...defined({ decisions }),
    ...(earlier.length > 0 && { earlier }),
  };
}

export function joinParts(address: string, parts: readonly [Part, ...Part[]]): StepRecord {
  const [part, ...otherParts] = parts;
  const [purchase, ...others] = part.purchases;
  const isOne = otherParts.length === 0 && others.length === 0;
  const isAlone = part.closes === undefined && part.decisions === undefined;
  if (purchase !== undefined && isOne && (isJob(purchase) || isAlone)) return normalRecord(address, part, purchase);
  const decisions = joinDecisions(parts.map((part) => part.decisions));
  const closes = [...new Set(parts.flatMap((part) => part.closes ?? []))].sort();
  const closed = new Set([...closes, ...(decisions?.sends ?? [])]);
  const jobs = new Map<string, Job>();
  const sends = new Map<string, OpenSend>();
  const refusals = new Map<string, Refusal>();
  for (const { kind, purchases } of parts) {
    for (const one of purchases) {
      const purchase = one.kind === undefined ? { ...one, kind } : one;
      if (isJob(purchase)) addFact(jobs, purchase);
      else if (mayBeCharged(purchase)) addFact(sends, purchase);
      else addFact(refusals, purchase);
    }
  }
  // Drops a refused create request if its purchase has a job: a refusal only determines the next idempotency key.
  const bought = new Set([...jobs.values()].map(boughtAs));
  const known = [
    ...jobs.values(),
    ...[...sends.values()].filter(({ send }) => !closed.has(send)), // I22
    ...[...refusals.values()].filter((refusal) => !bought.has(boughtAs(refusal))),
  ].sort(compareNewestFirst);
  // The newest purchase determines the kind of the line, because the task may have had another kind before.
  const kind = known[0]?.kind ?? smallestKind(parts);
  // Uses `map`, because it reserves no memory for more items, and the array exists as long as the lock.
  const purchases = known.map((purchase) => normalPurchase(purchase, kind));
  return {
    address,
    kind,
    purchases,
    ...defined({ decisions }),
    ...(closes.length > 0 && { closes }),
  };
}

function addFact<Fact extends Purchase>(facts: Map<string, Fact>, report: Fact): void {
  const name = factOf(report);
  const known = facts.get(name);
  facts.set(name, known === undefined ? report : joinFacts(known, report));
}

function boughtAs({ generation, fingerprint }: Purchase): string {
  return `${generation} ${fingerprint}`;
}

function normalRecord(
  address: string,
  { kind: own, decisions: decided, closes }: Part,
  purchase: Purchase,
): StepRecord {
  const kind = purchase.kind ?? own;
  const record: StepRecord = { address, kind, purchases: [normalPurchase(purchase, kind)] };
  const decisions = decided === undefined ? undefined : joinDecisions([decided]);
  if (decisions !== undefined) record.decisions = decisions;
  if (closes !== undefined && closes.length > 0) record.closes = [...new Set(closes)].sort();
  return record;
}

function smallestKind([first, ...others]: readonly [Part, ...Part[]]): string {
  return others.reduce((least, { kind }) => smaller(least, kind), first.kind);
}

function withoutExplanation(purchase: Purchase): Purchase {
  if (mayBeCharged(purchase) || (isJob(purchase) && purchase.credits === undefined)) return purchase;
  const { request: _request, ...rest } = purchase;
  if (rest.state !== 'refused') return rest;
  const { error: _error, ...proof } = rest;
  return proof;
}

export type Header = Pick<Lock, 'writtenBy' | 'service' | 'unknownFields'>;

export function joinHeaders(a: Header, b: Header): Header {
  const service = smaller(a.service, b.service);
  const writtenBy = newestVersion(a.writtenBy, b.writtenBy);
  return {
    ...defined({ writtenBy, service }),
    ...joinUnknown(a, b),
  };
}

export function newestVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareVersions(a, b) >= 0 ? a : b;
}

/** Ranks of states. Rank of each purchase state. Of two states, a join keeps the one with the higher rank. */
const ranks: Readonly<Record<PurchaseState, number>> = {
  refused: 0,
  intent: 1,
  unresolved: 2,
  running: 3,
  lost: 4,
  failed: 5,
  done: 6,
};

/** Returns a name for the purchase to which a create request belongs. */
export function groupOf(purchase: Purchase): string {
  return `${purchase.generation} ${purchase.attempt} ${purchase.fingerprint}`;
}

/**
 * Returns a name for a fact about a purchase, made of the ID of the create request, the refused idempotency key, or the
 * job ID.
 */
export function factOf(purchase: Purchase): string {
  const is = isJob(purchase) ? 'job' : mayBeCharged(purchase) ? 'send' : 'refused';
  return `${groupOf(purchase)} ${is} ${nameOf(purchase)}`;
}

function nameOf(purchase: Purchase): string {
  if (isJob(purchase)) return purchase.jobId; // I7
  return mayBeCharged(purchase) ? purchase.send : purchase.key;
}

function compareNewestFirst(a: Purchase, b: Purchase): number {
  return (
    b.generation - a.generation ||
    ranks[b.state] - ranks[a.state] ||
    b.attempt - a.attempt ||
    compareText(nameOf(a), nameOf(b)) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

const joins: { readonly [field in keyof Purchase]?: (a: never, b: never) => unknown } = {
  ...{ key: smaller, kind: smaller, account: smaller, digest: smaller, since: earliest },
  ...{ credits: larger, take: larger, recordId: largerText, url: largerText, request: largerJson },
};

/** Joins two versions of one fact. A flag that is set in one version stays set. */
function joinFacts<Fact extends Purchase>(a: Fact, b: Fact): Fact {
  const joined = { ...b, ...a, state: further(a, b).state } as Fact;
  for (const [field, join] of Object.entries(joins)) {
    const [one, other] = [a, b].map((fact) => fact[field as keyof Fact]);
    if (one !== undefined && other !== undefined)
      Object.assign(joined, { [field]: join(one as never, other as never) });
  }
  const error = a.state === b.state ? largerText(a.error, b.error) : further(a, b).error;
  const { outputs, revision } = joinFiles(a, b);
  // Uses the fence of the earlier version: all jobs that were created after either version are newer than that fence.
  const fences = [a, b].map(({ since, fence }) => (since === joined.since ? fence : undefined));
  return setAll(joined, {
    ...{ error, outputs, revision, fence: smaller(fences[0], fences[1]), unknownFields: undefined },
    ...joinUnknown(a, b), // I42
  });
}

function setAll<Fact extends Purchase>(fact: Fact, fields: { [field in keyof Purchase]?: unknown }): Fact {
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) delete fact[field as keyof Fact];
    else Object.assign(fact, { [field]: value });
  }
  return fact;
}

function further<Fact extends Purchase>(a: Fact, b: Fact): Fact {
  return ranks[a.state] >= ranks[b.state] ? a : b; // I8
}

function normalPurchase(purchase: Purchase, recordKind: string): Purchase {
  const { error, kind, take, request } = purchase;
  const normal = isJob(purchase)
    ? normalJob(purchase)
    : mayBeCharged(purchase)
      ? normalSend(purchase)
      : normalRefusal(purchase);
  if (purchase.forgotten) normal.forgotten = true;
  if (kind !== undefined && kind !== recordKind) normal.kind = kind;
  if (normal.state !== 'done' && error !== undefined) normal.error = error;
  if (take !== undefined) normal.take = take;
  if (request !== undefined) normal.request = request;
  if (purchase.unknownFields !== undefined) normal.unknownFields = purchase.unknownFields;
  return normal;
}

function normalRefusal({ fingerprint, generation, attempt, state, key, decided }: Refusal): Refusal {
  const normal: Refusal = { fingerprint, generation, attempt, state, key };
  if (decided) normal.decided = true;
  return normal;
}

function normalSend(purchase: OpenSend): OpenSend {
  const { fingerprint, generation, attempt, state, key, send } = purchase;
  const { account, digest, writtenOff, since, fence, resent, keyKnown } = purchase;
  const normal: OpenSend = { fingerprint, generation, attempt, state, key, send };
  if (account !== undefined) normal.account = account;
  if (digest !== undefined) normal.digest = digest;
  if (writtenOff) normal.writtenOff = true;
  if (since !== undefined) normal.since = since;
  if (fence !== undefined) normal.fence = fence;
  if (resent) normal.resent = resent;
  if (keyKnown) normal.keyKnown = keyKnown;
  return normal;
}

function normalJob(purchase: Job): Job {
  const { fingerprint, generation, attempt, state, key, jobId } = purchase;
  const { credits, outputs, revision, recordId, url } = purchase;
  const normal: Job = { fingerprint, generation, attempt, state, key, jobId };
  if (credits !== undefined) normal.credits = credits;
  if (outputs !== undefined) normal.outputs = outputs;
  if (recordId !== undefined) normal.recordId = recordId;
  if (url !== undefined) normal.url = url;
  if (revision !== undefined && revision > 0) normal.revision = revision;
  return normal;
}

/**
 * Joins the output files of a job: those with the higher revision win or, at equal revisions, those whose JSON text
 * sorts later. If the files are equal, the unknown fields of both versions stay.
 */
function joinFiles(a: Purchase, b: Purchase): Pick<Purchase, 'outputs' | 'revision'> {
  const byRevision = (a.revision ?? 0) - (b.revision ?? 0);
  const order = byRevision || (a.outputs === b.outputs ? 0 : compareText(textOf(a.outputs), textOf(b.outputs)));
  if (order !== 0 || a.outputs === undefined || a.outputs === b.outputs) return order >= 0 ? a : b;
  return { ...a, outputs: a.outputs.map((output, index) => withUnknownOf(output, b.outputs?.[index] ?? {})) };
}

function textOf(outputs: Job['outputs']): string {
  return outputs === undefined ? '' : canonicalJson(outputs.map(({ unknownFields: _unknown, ...known }) => known));
}

function largerJson(a: Purchase['request'], b: Purchase['request']): Purchase['request'] {
  if (a === undefined || b === undefined) return a ?? b;
  return a === b || canonicalJson(a) >= canonicalJson(b) ? a : b;
}

function earliest(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const order = Date.parse(a) - Date.parse(b) || compareText(a, b);
  return order <= 0 ? a : b;
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function largerText(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a > b ? a : b;
}

function smaller(a: string, b: string): string;
function smaller(a: string | undefined, b: string | undefined): string | undefined;
function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
