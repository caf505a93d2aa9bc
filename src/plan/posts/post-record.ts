import type { OpenRequest } from '../../graph/graph.ts';
import { findReferences } from '../../graph/render/fingerprint.ts';
import type { Json } from '../../ground/json.ts';
import { lookUpIn } from '../../ground/values.ts';
import { kinds } from '../../kinds/index.ts';
import type { Lock, Purchase, StepRecord } from '../../lock/record.ts';
import { mayBeCharged } from '../../lock/sends.ts';
import type { Post as PostTarget, Row } from '../plan.generated.ts';

export function isPost(kind: string): boolean {
  return kinds[kind]?.act === 'post';
}

export function isAskedAbout({ reason, beside }: Pick<Row, 'reason' | 'beside'>): boolean {
  return reason.code === 'post-lost' && beside !== undefined;
}

export function sendsOf({ kind, purchases }: StepRecord): Purchase[] {
  // An earlier purchase may have another kind than the record, but old locks do not store its kind.
  // I24
  return purchases.filter((one, index) => {
    const hasLeft = one.jobId !== undefined || mayBeCharged(one);
    const hasFiles = (one.outputs ?? []).length > 0 || one.url !== undefined;
    return hasLeft && !hasFiles && (isPost(one.kind ?? kind) || (index > 0 && one.kind === undefined));
  });
}

export function findPosted({ steps }: Lock): (fingerprint: string) => string | undefined {
  const postsOf = (record: StepRecord) =>
    sendsOf(record).flatMap(({ fingerprint, jobId }): [string, string][] =>
      jobId === undefined ? [] : [[fingerprint, record.address]],
    );
  return lookUpIn(() => new Map([...steps.values()].flatMap(postsOf)));
}

/** Account IDs of a post in lower case. `undefined`: the accounts are unknown, so any account is possible. */
export type PostAccounts = ReadonlySet<string> | undefined;

// The account fields of a post are undocumented, so every field with a matching name is treated as one.
const ofAccount = /account|channel|profile|platform/i;
const ofTime = /^(schedul|publish)/i;

export function accountsOf(request: OpenRequest | undefined): PostAccounts {
  if (request === undefined) return undefined;
  const named = new Set<string>();
  let isOpen = false;
  const visit = (value: Json, isNamed: boolean): void => {
    if (value === null || typeof value !== 'object') {
      if (isNamed && (typeof value === 'string' || typeof value === 'number'))
        named.add(String(value).trim().toLowerCase());
      return;
    }
    // An account ID from the output of another step is not known yet.
    if (isNamed && findReferences(value).length > 0) isOpen = true;
    else if (Array.isArray(value)) for (const item of value) visit(item, isNamed);
    else for (const [name, item] of Object.entries(value)) visit(item, isNamed || ofAccount.test(name));
  };
  visit(request, false);
  return isOpen || named.size === 0 ? undefined : named;
}

export function mayMeet(one: PostAccounts, other: PostAccounts): boolean {
  return one === undefined || other === undefined || [...one].some((account) => other.has(account));
}

export function targetOf(request: OpenRequest): PostTarget {
  const fields = Object.entries(request);
  const accounts = fields.filter(([name]) => ofAccount.test(name));
  const [time] = fields.flatMap(([name, value]) =>
    ofTime.test(name) && (typeof value === 'string' || typeof value === 'number') ? [value] : [],
  );
  return {
    accounts: [...new Set(accounts.flatMap(([, value]) => textsOf(value)))],
    ...(time !== undefined && { at: String(time) }),
  };
}

/** Returns the publication time of a scheduled post, if it is after `now` (in ms since 1970). */
export function laterPost(kind: string, request: OpenRequest, now: number): { scheduledFor?: string } {
  const { at } = isPost(kind) ? targetOf(request) : {};
  return at !== undefined && Date.parse(at) > now ? { scheduledFor: at } : {};
}

function textsOf(value: Json): string[] {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object') return [String(value)];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(textsOf);
}

export function wordsOfPost(request: OpenRequest): string {
  const written = (value: Json): string[] => {
    if (typeof value === 'string') return /^https?:\/\/\S*$/.test(value) ? [] : [value];
    if (value === null || typeof value !== 'object') return [];
    if (Array.isArray(value)) return value.flatMap(written);
    if (typeof value.$ref === 'string') return [];
    if (Array.isArray(value.$text))
      return [value.$text.map((part) => (typeof part === 'string' ? part : '…')).join('')];
    const fields = Object.entries(value).filter(([name]) => !ofAccount.test(name) && !ofTime.test(name));
    return fields.flatMap(([, item]) => written(item));
  };
  return written(request).join(' · ');
}
