import { canonicalJson, type Json } from '../ground/json.ts';
import type * as line from './record.generated.ts';

/**
 * Fields that a newer version wrote and this version does not know: kept, joined in a fixed order and written back, but
 * never interpreted.
 */
export interface MayHaveUnknown {
  unknownFields?: { readonly [name: string]: Json } | undefined;
}

export type Output = line.Output & MayHaveUnknown;
export type Acceptance = line.Acceptance & MayHaveUnknown;
export type Verdict = line.Verdict & MayHaveUnknown;

type OfAny = MayHaveUnknown &
  Pick<
    line.Purchase,
    'kind' | 'fingerprint' | 'generation' | 'attempt' | 'key' | 'forgotten' | 'error' | 'take' | 'request'
  >;
type OfSend = { send: string } & Pick<
  line.Purchase,
  'account' | 'digest' | 'writtenOff' | 'since' | 'fence' | 'resent' | 'keyKnown'
>;
type OfRefusal = Pick<line.Purchase, 'decided'>;
type OfJob = { jobId: string; outputs?: Output[] } & Pick<line.Purchase, 'credits' | 'recordId' | 'url' | 'revision'>;
type None<Facts> = { [field in keyof Facts]?: never };

/** A create request whose answer is unknown: it may have been charged. */
export interface OpenSend extends OfAny, OfSend, None<OfRefusal>, None<OfJob> {
  state: line.OpenSend['state'];
}

/** An idempotency key that the service refused, or that a user declared not spent. Nothing was charged. */
export interface Refusal extends OfAny, OfRefusal, None<OfSend>, None<OfJob> {
  state: line.Refusal['state'];
}

/** A create request that the service accepted. */
export interface Job extends OfAny, OfJob, None<OfSend>, None<OfRefusal> {
  state: line.Job['state'];
}

/**
 * One fact about a purchase at an address. A line may also have fields of the other kinds of facts: they are checked
 * when the line is read, and dropped when it is joined.
 */
export type Purchase = OpenSend | Refusal | Job;

export interface Decisions extends Omit<line.Decisions, 'pin' | 'accepted' | 'verdicts'>, MayHaveUnknown {
  pin?: NonNullable<line.Decisions['pin']> & MayHaveUnknown;
  accepted?: Acceptance[];
  verdicts?: Verdict[];
}

export type LockLine = Purchase &
  Pick<line.LockLine, 'address' | 'closes'> & {
    kind: string;
    decisions?: Decisions;
    earlier?: Purchase[];
  };

export type PurchaseState = Purchase['state'];

/** All purchases ever made for one address. */
export interface StepRecord {
  address: string;
  kind: string;
  /** Newest first, so that `purchases[0]` represents the record. Empty if no create request had a result. */
  purchases: Purchase[];
  decisions?: Decisions;
  /**
   * Ids of create requests that were answered, or never left. A line that still shows such a request as open is out of
   * date. Dropped when the lock is settled, because settled requests leave no trace.
   */
  closes?: readonly string[];
}

/** Version of the file format. From the first release on, every version that a release wrote can be read. */
export const lockVersion = 2;

export interface Lock {
  version: typeof lockVersion;
  /** Version of the newest program that wrote the lock. */
  writtenBy?: string;
  /** Digest of the service's address; `undefined` until a run has recorded it. */
  service?: string;
  unknownFields?: MayHaveUnknown['unknownFields'];
  steps: Map<string, StepRecord>;
}

type Fields = { readonly [name: string]: Json };
type FieldsOf<T> = Record<Exclude<keyof T, 'unknownFields'>, true>;

const ofPurchase: FieldsOf<Job> = {
  ...{ kind: true, fingerprint: true, generation: true, attempt: true, state: true, key: true, send: true },
  ...{ account: true, digest: true, since: true, jobId: true, credits: true, error: true, writtenOff: true },
  ...{
    forgotten: true,
    fence: true,
    resent: true,
    keyKnown: true,
    decided: true,
    outputs: true,
    recordId: true,
    url: true,
    revision: true,
  },
  ...{ take: true, request: true },
};
const ofOutput: FieldsOf<Output> = {
  ...{ path: true, sha256: true, bytes: true, type: true },
  ...{ edited: true, accepted: true },
};
const ofDecisions: FieldsOf<Decisions> = { pin: true, accepted: true, verdicts: true, sends: true };
const ofPin: FieldsOf<NonNullable<Decisions['pin']>> = { fingerprint: true, revision: true };
const ofAcceptance: FieldsOf<Acceptance> = { wanted: true, fingerprint: true, job: true, revision: true };
const ofVerdict: FieldsOf<Verdict> = {
  ...{ fingerprint: true, job: true, is: true, note: true, reason: true, by: true, revision: true },
};

export const knownFields = {
  header: new Set(['mediabatch', 'version', 'writtenBy', 'service']),
  // An earlier purchase may become the newest one, whose unknown fields are among those of its line.
  purchase: new Set([...Object.keys(ofPurchase), 'address', 'decisions', 'earlier', 'closes']),
  output: new Set(Object.keys(ofOutput)),
  decisions: new Set(Object.keys(ofDecisions)),
  pin: new Set(Object.keys(ofPin)),
  acceptance: new Set(Object.keys(ofAcceptance)),
  verdict: new Set(Object.keys(ofVerdict)),
};

export function setUnknownAside<T>(value: Fields, known: ReadonlySet<string>): T & MayHaveUnknown {
  const entries = Object.entries(value);
  if (entries.every(([name]) => known.has(name))) return value as T & MayHaveUnknown;
  const unknown = entries.filter(([name]) => !known.has(name));
  const rest = Object.fromEntries(entries.filter(([name]) => known.has(name)));
  return { ...rest, unknownFields: Object.fromEntries(unknown) } as T & MayHaveUnknown;
}

/** Joins the unknown fields of two reports of one object: of two values of a field, the larger text is kept. */
export function joinUnknown(a: MayHaveUnknown, b: MayHaveUnknown): MayHaveUnknown {
  const [one, other] = [a.unknownFields, b.unknownFields];
  const left = one ?? other;
  if (left === undefined) return {};
  if (one === undefined || other === undefined || one === other) return { unknownFields: left };
  const joined = new Map(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const known = joined.get(name);
    if (known === undefined || canonicalJson(known) < canonicalJson(value)) joined.set(name, value);
  }
  return { unknownFields: Object.fromEntries(joined) };
}

export function withUnknownOf<T extends MayHaveUnknown>(one: T, other: MayHaveUnknown): T {
  return other.unknownFields === undefined ? one : { ...one, ...joinUnknown(one, other) };
}

/** JSON text of an object: known fields in their given order, then unknown fields by name. */
export function objectText(known: object, unknown: MayHaveUnknown['unknownFields']): string {
  const parts = [JSON.stringify(known).slice(1, -1), ...unknownText(unknown)];
  return `{${parts.filter((part) => part !== '').join(',')}}`;
}

export function unknownText(unknown: MayHaveUnknown['unknownFields']): string[] {
  return unknown === undefined ? [] : [canonicalJson(unknown).slice(1, -1)];
}
