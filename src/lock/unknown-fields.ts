import { canonicalJson, type Json } from '../ground/json.ts';
import type { Acceptance, Decisions, MayHaveUnknown, Output, Purchase, Verdict } from './record.ts';

type Fields = { readonly [name: string]: Json };
type FieldsOf<T> = Record<Exclude<keyof T, 'unknownFields'>, true>;

const ofPurchase: FieldsOf<Purchase> = {
  ...{ kind: true, fingerprint: true, generation: true, attempt: true, state: true, key: true, send: true },
  ...{ account: true, digest: true, since: true, jobId: true, credits: true, error: true, writtenOff: true },
  ...{ forgotten: true, fence: true, resent: true, outputs: true, recordId: true, url: true, revision: true },
  ...{ take: true, request: true },
};
const ofOutput: FieldsOf<Output> = { path: true, sha256: true, bytes: true, type: true, edited: true };
const ofDecisions: FieldsOf<Decisions> = { pin: true, accepted: true, verdicts: true, sends: true };
const ofPin: FieldsOf<NonNullable<Decisions['pin']>> = { fingerprint: true, revision: true };
const ofAcceptance: FieldsOf<Acceptance> = { wanted: true, fingerprint: true, revision: true };
const ofVerdict: FieldsOf<Verdict> = { fingerprint: true, job: true, is: true, note: true, revision: true };

/** Names of the fields that are known, by what has them. */
export const knownFields = {
  header: new Set(['mediabatch', 'version', 'writtenBy', 'service']),
  // An earlier purchase may become the newest one, and then stands among the fields of its line.
  purchase: new Set([...Object.keys(ofPurchase), 'address', 'decisions', 'earlier', 'closes']),
  output: new Set(Object.keys(ofOutput)),
  decisions: new Set(Object.keys(ofDecisions)),
  pin: new Set(Object.keys(ofPin)),
  acceptance: new Set(Object.keys(ofAcceptance)),
  verdict: new Set(Object.keys(ofVerdict)),
};

/** Puts the fields that are not known aside, under `unknownFields`. */
export function setUnknownAside<T>(value: Fields, known: ReadonlySet<string>): T & MayHaveUnknown {
  const entries = Object.entries(value);
  if (entries.every(([name]) => known.has(name))) return value as T & MayHaveUnknown;
  const unknown = entries.filter(([name]) => !known.has(name));
  const rest = Object.fromEntries(entries.filter(([name]) => known.has(name)));
  return { ...rest, unknownFields: Object.fromEntries(unknown) } as T & MayHaveUnknown;
}

/** Joins what two reports of one thing have beside the known fields: of two values of a field the larger text. */
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

/** Joins two things that are alike but for their unknown fields. */
export function withUnknownOf<T extends MayHaveUnknown>(one: T, other: MayHaveUnknown): T {
  return other.unknownFields === undefined ? one : { ...one, ...joinUnknown(one, other) };
}

/** The text of an object: what is known in its order, then what is not, by name. */
export function objectText(known: object, unknown: MayHaveUnknown['unknownFields']): string {
  const parts = [JSON.stringify(known).slice(1, -1), ...unknownText(unknown)];
  return `{${parts.filter((part) => part !== '').join(',')}}`;
}

export function unknownText(unknown: MayHaveUnknown['unknownFields']): string[] {
  return unknown === undefined ? [] : [canonicalJson(unknown).slice(1, -1)];
}
