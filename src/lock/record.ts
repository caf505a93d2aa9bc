import { canonicalJson, type Json } from '../ground/json.ts';
import type * as line from './record.generated.ts';

/** Fields that only a newer mediabatch understands. This version stores, joins and writes them unchanged. */
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

/** Create request whose answer is unknown. The request may have been charged. */
export interface OpenSend extends OfAny, OfSend, None<OfRefusal>, None<OfJob> {
  state: line.OpenSend['state'];
}

/** Idempotency key that the service refused, or that was not charged, as a user stated. */
export interface Refusal extends OfAny, OfRefusal, None<OfSend>, None<OfJob> {
  state: line.Refusal['state'];
}

/** Create request that the service accepted. */
export interface Job extends OfAny, OfJob, None<OfSend>, None<OfRefusal> {
  state: line.Job['state'];
}

/**
 * One fact about a purchase of a step. A lock line may contain fields of several facts: reading checks them, and
 * joining drops those of other facts.
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

export interface StepRecord {
  address: string;
  kind: string;
  /** All purchases of the step, newest first. Empty if no create request had a result. */
  purchases: Purchase[];
  decisions?: Decisions;
  /**
   * IDs of create requests that were answered or never sent. A lock line with such a request as unresolved is outdated.
   * After the end of a run, the lock contains no such IDs.
   */
  closes?: readonly string[];
}

export const lockVersion = 2;

export interface Lock {
  version: typeof lockVersion;
  /** Version of the newest mediabatch that wrote the lock. */
  writtenBy?: string;
  /** Digest of the service's URL. `undefined` before the first run. */
  service?: string;
  unknownFields?: MayHaveUnknown['unknownFields'];
  steps: Map<string, StepRecord>;
}

/**
 * Joins the unknown fields of two versions of an object. If a field has two values, the one whose JSON text sorts later
 * wins.
 */
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
