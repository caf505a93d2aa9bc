import { canonicalJson } from '../ground/json.ts';
import {
  type Job,
  joinUnknown,
  type OpenSend,
  type Purchase,
  type PurchaseState,
  type Refusal,
  withUnknownOf,
} from './record.ts';
import { isJob, mayBeCharged } from './sends.ts';

/** Ranks of the states. A fact only moves to a higher state. States that may have been charged rank above a refusal. */
const ranks: Readonly<Record<PurchaseState, number>> = {
  refused: 0,
  intent: 1,
  unresolved: 2,
  running: 3,
  lost: 4,
  failed: 5,
  done: 6,
};

/**
 * Identifies the purchase that create requests belong to: one purchase of one request, whatever the result of each
 * request.
 */
export function groupOf(purchase: Purchase): string {
  return `${purchase.generation} ${purchase.attempt} ${purchase.fingerprint}`;
}

/**
 * Identifies the fact that a report is about: a create request by its id, a refusal by its idempotency key, a job by
 * its id.
 */
export function factOf(purchase: Purchase): string {
  const is = isJob(purchase) ? 'job' : mayBeCharged(purchase) ? 'send' : 'refused';
  return `${groupOf(purchase)} ${is} ${nameOf(purchase)}`;
}

function nameOf(purchase: Purchase): string {
  if (isJob(purchase)) return purchase.jobId; // I7
  return mayBeCharged(purchase) ? purchase.send : purchase.key;
}

/** Total order of facts, newest first. */
export function compareNewestFirst(a: Purchase, b: Purchase): number {
  return (
    b.generation - a.generation ||
    ranks[b.state] - ranks[a.state] ||
    b.attempt - a.attempt ||
    compareText(nameOf(a), nameOf(b)) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

export function joinRefusals(a: Refusal, b: Refusal): Refusal {
  return { ...joinAny(a, b), state: 'refused', ...((a.decided ?? b.decided) && { decided: true as const }) };
}

export function joinSends(a: OpenSend, b: OpenSend): OpenSend {
  const since = earliest(a.since, b.since);
  const fence = joinFences(a, b, since);
  const account = smaller(a.account, b.account);
  const digest = smaller(a.digest, b.digest);
  return {
    ...joinAny(a, b),
    state: further(a, b).state,
    send: a.send,
    ...(account !== undefined && { account }),
    ...(digest !== undefined && { digest }),
    ...((a.writtenOff ?? b.writtenOff) && { writtenOff: true as const }),
    ...(since !== undefined && { since }),
    ...(fence !== undefined && { fence }),
    ...((a.resent ?? b.resent) && { resent: true as const }),
    ...((a.keyKnown ?? b.keyKnown) && { keyKnown: true as const }),
  };
}

export function joinJobs(a: Job, b: Job): Job {
  const credits = larger(a.credits, b.credits);
  const files = joinFiles(a, b);
  const recordId = largerText(a.recordId, b.recordId);
  const url = largerText(a.url, b.url);
  return {
    ...joinAny(a, b),
    state: further(a, b).state,
    jobId: a.jobId,
    ...(credits !== undefined && { credits }),
    ...(files.outputs !== undefined && { outputs: files.outputs }),
    ...(files.revision !== undefined && { revision: files.revision }),
    ...(recordId !== undefined && { recordId }),
    ...(url !== undefined && { url }),
  };
}

/** Joins the fields that all kinds of purchases have. */
function joinAny<Fact extends Purchase>(a: Fact, b: Fact): Omit<Refusal, 'state' | 'decided'> {
  const error = a.state === b.state ? largerText(a.error, b.error) : further(a, b).error;
  const kind = smaller(a.kind, b.kind);
  const take = larger(a.take, b.take);
  const request = largerJson(a.request, b.request);
  return {
    fingerprint: a.fingerprint,
    generation: a.generation,
    attempt: a.attempt,
    key: smaller(a.key, b.key),
    ...((a.forgotten ?? b.forgotten) && { forgotten: true as const }),
    ...(kind !== undefined && { kind }),
    ...(error !== undefined && { error }),
    ...(take !== undefined && { take }),
    ...(request !== undefined && { request }),
    ...joinUnknown(a, b), // I42
  };
}

function further<Fact extends Purchase>(a: Fact, b: Fact): Fact {
  return ranks[a.state] >= ranks[b.state] ? a : b; // I8
}

/** Picks the fence of the earlier create request, because all jobs made since are newer than it. */
function joinFences(a: OpenSend, b: OpenSend, since: string | undefined): string | undefined {
  return smaller(a.since === since ? a.fence : undefined, b.since === since ? b.fence : undefined);
}

/**
 * Returns the normal form of a purchase in a record of this kind. No later join needs the omitted fields: the states
 * that drop a field are final, or the field belongs to another kind of fact.
 */
export function normalPurchase(purchase: Purchase, recordKind: string): Purchase {
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

/** Keeps the fields needed to look up the answer to a create request. */
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

/** Keeps the fields that only a job has: its charge and its files. */
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
 * Joins files: the higher revision wins, and of equal revisions the larger text; equal files keep the unknown fields of
 * both sides.
 */
function joinFiles(a: Job, b: Job): Pick<Job, 'outputs' | 'revision'> {
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

/** Returns the smaller string; if one is `undefined`, the other. */
export function smaller(a: string, b: string): string;
export function smaller(a: string | undefined, b: string | undefined): string | undefined;
export function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
