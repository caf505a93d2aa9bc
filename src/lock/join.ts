import { canonicalJson } from '../json.ts';
import { joinDecisions } from './decisions.ts';
import {
  type Decisions,
  type Lock,
  type LockLine,
  lockVersion,
  type Purchase,
  type PurchaseState,
  type StepRecord,
} from './record.ts';
import { mayBeCharged } from './sends.ts';

/** How far a state is. Within one fact a state only ever moves up; what may have been charged comes before a refusal. */
const ranks: Readonly<Record<PurchaseState, number>> = {
  refused: 0,
  intent: 1,
  unresolved: 2,
  running: 3,
  lost: 4,
  failed: 5,
  done: 6,
};

/** Purchases and decisions of one address as one source knew them, with the kind it gave. */
export interface Part {
  kind: string;
  purchases: readonly Purchase[];
  decisions?: Decisions;
  closes?: readonly string[];
}

/**
 * The union of what two sources know about one step: commutative, associative, idempotent. Each send is joined by itself: an
 * open one goes only when its own id is closed, whatever is known of others; no job id is ever dropped.
 */
export function joinRecords(a: StepRecord, b: StepRecord): StepRecord {
  if (a.address !== b.address) throw new Error(`internal error: ${a.address} joined with ${b.address}`);
  return joinParts(a.address, [a, b]);
}

/** Adds what a record knows to the steps. */
export function joinInto(steps: Map<string, StepRecord>, record: StepRecord): void {
  const known = steps.get(record.address);
  steps.set(record.address, known === undefined ? record : joinRecords(known, record));
}

/** Like `joinRecords` for each address. Of two services the smaller digest stays; who reads a file refuses two. */
export function joinLocks(a: Lock, b: Lock): Lock {
  const steps = new Map<string, StepRecord>();
  for (const [address, record] of a.steps) steps.set(address, joinParts(address, [record]));
  for (const [address, record] of b.steps) {
    const known = steps.get(address);
    steps.set(address, joinParts(address, known === undefined ? [record] : [known, record]));
  }
  const service = smaller(a.service, b.service);
  return { version: lockVersion, ...(service !== undefined && { service }), steps };
}

export function recordOf(line: LockLine): StepRecord {
  return joinParts(line.address, [partOf(line)]);
}

export function partOf(line: LockLine): Part {
  const { address: _address, kind, decisions, earlier, closes, ...newest } = line;
  return {
    kind,
    purchases: [newest, ...(earlier ?? [])],
    ...(decisions !== undefined && { decisions }),
    ...(closes !== undefined && { closes }),
  };
}

/** The line of a record as it is kept: of what is settled only what somebody may still need. */
export function lineOf(record: StepRecord): LockLine {
  const { address, kind, decisions } = record;
  const [newest, ...others] = record.purchases;
  if (newest === undefined) throw new Error(`internal error: the record of ${address} has no purchase`);
  const earlier = others.map(withoutExplanation);
  return {
    address,
    kind,
    ...newest,
    ...(decisions !== undefined && { decisions }),
    ...(earlier.length > 0 && { earlier }),
  };
}

/** Joins any number of parts in one pass, so that a long journal of one step stays cheap. */
export function joinParts(address: string, parts: readonly Part[]): StepRecord {
  const [part, ...otherParts] = parts;
  const [purchase, ...others] = part?.purchases ?? [];
  const isOne = otherParts.length === 0 && others.length === 0 && part?.closes === undefined;
  if (part !== undefined && purchase?.jobId !== undefined && isOne) return normalRecord(address, part, purchase);
  const kind = kindOf(parts);
  const decisions = joinDecisions(parts.map((part) => part.decisions));
  const closes = [...new Set(parts.flatMap((part) => part.closes ?? []))].sort();
  const closed = new Set([...closes, ...(decisions?.sends ?? [])]);
  const facts = new Map<string, Purchase>();
  const shared = new Map<string, Shared>();
  for (const part of parts) {
    for (const one of part.purchases) {
      const purchase = one.kind === undefined && part.kind !== kind ? { ...one, kind: part.kind } : one;
      const fact = factOf(purchase);
      const known = facts.get(fact);
      facts.set(fact, known === undefined ? purchase : joinPurchases(known, purchase));
      const group = groupOf(purchase);
      shared.set(group, joinShared(shared.get(group), purchase));
    }
  }
  const commonOf = (purchase: Purchase): Shared => {
    const common = shared.get(groupOf(purchase));
    if (common === undefined) throw new Error('internal error: a purchase without its group');
    return common;
  };
  const bought = new Set([...facts.values()].flatMap((fact) => (fact.jobId === undefined ? [] : [boughtAs(fact)])));
  const isTold = (fact: Purchase) => {
    if (fact.state === 'refused') return !bought.has(boughtAs(fact));
    return !(mayBeCharged(fact) && fact.send !== undefined && closed.has(fact.send));
  };
  const told = [...facts.values()].filter(isTold);
  // Made by `map`, because it stays: a list that grows keeps room for 16 more.
  const purchases = told
    .sort(compareNewestFirst)
    .map((purchase) => normalPurchase(purchase, { ...commonOf(purchase), kind }));
  return {
    address,
    kind,
    purchases,
    ...(decisions !== undefined && { decisions }),
    ...(closes.length > 0 && { closes }),
  };
}

/** A refusal only counts which key comes next: once a job of its purchase is there, no key does. */
function boughtAs({ generation, fingerprint }: Purchase): string {
  return `${generation} ${fingerprint}`;
}

/** What two reports must agree in to be of one fact: an open send is its id, a refusal is its key, a job is its own id. */
export function factOf(purchase: Purchase): string {
  const { jobId, send, key } = purchase;
  const name = jobId ?? (mayBeCharged(purchase) ? (send ?? '') : key);
  return `${groupOf(purchase)} ${jobId === undefined ? purchase.state === 'refused' : ''} ${name}`;
}

/** Nearly every line of a lock: one job, told once. */
function normalRecord(address: string, { kind: own, decisions: decided }: Part, purchase: Purchase): StepRecord {
  const kind = purchase.kind ?? own;
  const purchases = [normalPurchase(purchase, { ...joinShared(undefined, purchase), kind })];
  const decisions = decided === undefined ? undefined : joinDecisions([decided]);
  return decisions === undefined ? { address, kind, purchases } : { address, kind, purchases, decisions };
}

/** What all facts about one (generation, attempt, fingerprint) have in common, whoever of them brought it. */
interface Shared {
  take?: number | undefined;
  request?: Purchase['request'];
}

function joinShared(known: Shared | undefined, purchase: Purchase): Shared {
  const { take, request } = purchase;
  if (known === undefined) return { take, ...(request && { request }) };
  const joined = known.request && request ? largerJson(known.request, request) : (known.request ?? request);
  return { take: larger(known.take, take), ...(joined && { request: joined }) };
}

/** Joins two reports of the same fact. */
function joinPurchases(a: Purchase, b: Purchase): Purchase {
  if (a === b) return a;
  const further = ranks[a.state] >= ranks[b.state] ? a : b;
  const since = earliest(a.since, b.since);
  const fence = joinFences(a, b, since);
  const credits = larger(a.credits, b.credits);
  const error = a.state === b.state ? largerText(a.error, b.error) : further.error;
  const files = compareFiles(a, b) >= 0 ? a : b;
  const recordId = largerText(a.recordId, b.recordId);
  const url = largerText(a.url, b.url);
  const account = smaller(a.account, b.account);
  const kind = smaller(a.kind, b.kind);
  return {
    fingerprint: a.fingerprint,
    generation: a.generation,
    attempt: a.attempt,
    state: further.state,
    key: smaller(a.key, b.key) ?? a.key,
    ...(a.send !== undefined && { send: a.send }),
    ...(account !== undefined && { account }),
    ...((a.writtenOff ?? b.writtenOff) && { writtenOff: true as const }),
    ...((a.forgotten ?? b.forgotten) && { forgotten: true as const }),
    ...(kind !== undefined && { kind }),
    ...(since !== undefined && { since }),
    ...(fence !== undefined && { fence }),
    ...((a.resent ?? b.resent) && { resent: true as const }),
    ...(a.jobId !== undefined && { jobId: a.jobId }),
    ...(credits !== undefined && { credits }),
    ...(error !== undefined && { error }),
    ...(files.outputs !== undefined && { outputs: files.outputs }),
    ...(files.revision !== undefined && { revision: files.revision }),
    ...(recordId !== undefined && { recordId }),
    ...(url !== undefined && { url }),
  };
}

/** The fence of what was sent first: everything that was made since stands above it. */
function joinFences(a: Purchase, b: Purchase, since: string | undefined): string | undefined {
  return smaller(a.since === since ? a.fence : undefined, b.since === since ? b.fence : undefined);
}

/**
 * The one form of a purchase. What is left out here is never needed by a later
 * join: the states that drop a field are the last ones, or the field belongs to an earlier state only.
 */
function normalPurchase(purchase: Purchase, common: Shared & { kind: string }): Purchase {
  const { fingerprint, generation, attempt, state, key, jobId, error } = purchase;
  const normal: Purchase = { fingerprint, generation, attempt, state, key };
  if (mayBeCharged(purchase)) addWhatIsOpen(normal, purchase);
  if (jobId !== undefined) addWhatTheJobGave(normal, purchase, jobId);
  if (purchase.forgotten) normal.forgotten = true;
  if (purchase.kind !== undefined && purchase.kind !== common.kind) normal.kind = purchase.kind;
  if (state !== 'done' && error !== undefined) normal.error = error;
  if (common.take !== undefined) normal.take = common.take;
  if (common.request !== undefined) normal.request = common.request;
  return normal;
}

/** What asking for the answer of a send takes. */
function addWhatIsOpen(normal: Purchase, { send, account, writtenOff, since, fence, resent }: Purchase): void {
  if (send !== undefined) normal.send = send;
  if (account !== undefined) normal.account = account;
  if (writtenOff) normal.writtenOff = true;
  if (since !== undefined) normal.since = since;
  if (fence !== undefined) normal.fence = fence;
  if (resent) normal.resent = resent;
}

/** Only a job is charged for and gives files. */
function addWhatTheJobGave(normal: Purchase, purchase: Purchase, jobId: string): void {
  const { credits, outputs, revision, recordId, url } = purchase;
  normal.jobId = jobId;
  if (credits !== undefined) normal.credits = credits;
  if (outputs !== undefined) normal.outputs = outputs;
  if (recordId !== undefined) normal.recordId = recordId;
  if (url !== undefined) normal.url = url;
  if (revision !== undefined && revision > 0) normal.revision = revision;
}

/** What may have been charged is asked for, and held, by its request. */
function withoutExplanation(purchase: Purchase): Purchase {
  if (mayBeCharged(purchase) || (purchase.jobId !== undefined && purchase.credits === undefined)) return purchase;
  const { request: _request, ...rest } = purchase;
  if (rest.state !== 'refused') return rest;
  const { error: _error, ...proof } = rest;
  return proof;
}

export function compareNewestFirst(a: Purchase, b: Purchase): number {
  return (
    b.generation - a.generation ||
    ranks[b.state] - ranks[a.state] ||
    b.attempt - a.attempt ||
    compareText(a.jobId ?? a.send ?? a.key, b.jobId ?? b.send ?? b.key) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

/** The kind that came with the newest purchase. An address whose task was rewritten may have had another one before. */
function kindOf(parts: readonly Part[]): string {
  let best: { kind: string; face: Purchase | undefined } | undefined;
  for (const { kind: own, purchases } of parts) {
    const face = purchases.reduce<Purchase | undefined>(
      (newest, purchase) => (newest === undefined || compareNewestFirst(purchase, newest) < 0 ? purchase : newest),
      undefined,
    );
    const kind = face?.kind ?? own;
    const order = best === undefined ? -1 : compareFaces(face, best.face);
    if (best === undefined || order < 0 || (order === 0 && kind < best.kind)) best = { kind, face };
  }
  if (best === undefined) throw new Error('internal error: a record of no parts');
  return best.kind;
}

function compareFaces(a: Purchase | undefined, b: Purchase | undefined): number {
  if (a === undefined || b === undefined) return (a === undefined ? 1 : 0) - (b === undefined ? 1 : 0);
  return compareNewestFirst(a, b);
}

export function groupOf(purchase: Purchase): string {
  return `${purchase.generation} ${purchase.attempt} ${purchase.fingerprint}`;
}

function compareFiles(a: Purchase, b: Purchase): number {
  const byRevision = (a.revision ?? 0) - (b.revision ?? 0);
  if (byRevision !== 0 || a.outputs === b.outputs) return byRevision;
  return compareText(textOf(a.outputs), textOf(b.outputs));
}

function textOf(outputs: Purchase['outputs']): string {
  return outputs === undefined ? '' : canonicalJson(outputs.map((output) => ({ ...output })));
}

function largerJson<T extends NonNullable<Purchase['request']>>(a: T, b: T): T {
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

function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
