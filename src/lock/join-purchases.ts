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

/** Names the purchase of a create request. All create requests of one purchase have the same name. */
export function groupOf(purchase: Purchase): string {
  return `${purchase.generation} ${purchase.attempt} ${purchase.fingerprint}`;
}

/** Names the fact that a report is about: by create request ID, refused idempotency key, or job ID. */
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

/** How two reports of a field are joined; if one report lacks the field, the other counts. */
const joins: { readonly [field in keyof Purchase]?: (a: never, b: never) => unknown } = {
  ...{ key: smaller, kind: smaller, account: smaller, digest: smaller, since: earliest },
  ...{ credits: larger, take: larger, recordId: largerText, url: largerText, request: largerJson },
};

/** Joins two reports of one fact. Marks are never removed, so a mark in either report counts. */
export function joinFacts<Fact extends Purchase>(a: Fact, b: Fact): Fact {
  const joined = { ...b, ...a, state: further(a, b).state } as Fact;
  for (const [field, join] of Object.entries(joins)) {
    const [one, other] = [a, b].map((fact) => fact[field as keyof Fact]);
    if (one !== undefined && other !== undefined)
      Object.assign(joined, { [field]: join(one as never, other as never) });
  }
  const error = a.state === b.state ? largerText(a.error, b.error) : further(a, b).error;
  const { outputs, revision } = joinFiles(a, b);
  // Of two create requests the fence of the earlier one counts, because all jobs made since are newer than it.
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
 * Joins files: the higher revision wins, and of equal revisions the larger text; equal files keep the unknown fields of
 * both sides.
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

export function smaller(a: string, b: string): string;
export function smaller(a: string | undefined, b: string | undefined): string | undefined;
export function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined || b === undefined ? (a ?? b) : a < b ? a : b;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
