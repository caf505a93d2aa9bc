import { hash } from 'node:crypto';
import type { Ports } from '../contract/ports.ts';
import type { OpenRequest } from '../graph/graph.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import type { AskedSend, StepOrder } from '../plan/plan.ts';
import { type StepEnd, stopFor } from './step-end.ts';

/** Returns the address of each step whose output a request uses, with the fingerprint of the purchase to use. */
function referencedJobs({ request, paidRequest }: Pick<StepOrder, 'request' | 'paidRequest'>): Map<string, string> {
  const jobs = new Map<string, string>();
  // Both requests have the same structure; each `$ref` is a step address in one, and a fingerprint in the other.
  const visit = (open: Json | undefined, paid: Json | undefined): void => {
    if (open === null || paid === null || typeof open !== 'object' || typeof paid !== 'object') return;
    if (Array.isArray(open) && Array.isArray(paid)) {
      for (const [index, item] of open.entries()) visit(item, paid[index]);
    } else if (!Array.isArray(open) && !Array.isArray(paid)) {
      if (typeof open.$ref === 'string' && typeof paid.$ref === 'string') jobs.set(open.$ref, paid.$ref);
      else for (const key of Object.keys(open)) visit(open[key], paid[key]);
    }
  };
  visit(request, paidRequest);
  return jobs;
}

type OutputValues = ReadonlyMap<string, { readonly [field: string]: string }>;

interface MissingValue {
  address: string;
  field: string;
}

/** Replaces every reference by the value of the referenced step. Removes references to steps in `absent` from lists. */
export function fillReferences(
  request: OpenRequest,
  values: OutputValues,
  absent: ReadonlySet<string> = new Set(),
): { body: Json } | { missing: MissingValue } {
  let missing: MissingValue | undefined;
  const fill = (value: Json): Json => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.filter((item) => !isAbsent(item)).map(fill);
    if (typeof value.$ref === 'string') {
      const field = typeof value.field === 'string' ? value.field : 'url';
      const known = values.get(value.$ref);
      const found = known !== undefined && Object.hasOwn(known, field) ? known[field] : undefined;
      if (found === undefined) missing ??= { address: value.$ref, field };
      return found ?? '';
    }
    if (Array.isArray(value.$text)) return value.$text.map((part) => String(fill(part))).join('');
    const filled: { [key: string]: Json } = {};
    for (const [key, item] of Object.entries(value)) filled[key] = fill(item);
    return filled;
  };
  const isAbsent = (item: Json) => isMap(item) && absent.has(String(item.$ref));
  const body = fill(request);
  return missing === undefined ? { body } : { missing };
}

/** Returns whether a list in the request becomes empty when its references to steps in `absent` are removed. */
export function emptiesList(request: OpenRequest, absent: ReadonlySet<string>): boolean {
  const isGone = (item: Json) => isMap(item) && absent.has(String(item.$ref));
  const visit = (value: Json): boolean => {
    if (value === null || typeof value !== 'object') return false;
    if (Array.isArray(value) && value.length > 0 && value.every(isGone)) return true;
    return Object.values(value).some(visit);
  };
  return absent.size > 0 && visit(request);
}

export async function makeBody(order: StepOrder, ports: Ports, absent: ReadonlySet<string>): Promise<string | StepEnd> {
  // If the step was removed from the manifest, only the stored bytes of its request contain the links.
  if (order.asksOnly && referencedJobs(order).size > 0) {
    const error = 'the answer to the create request was lost, and this machine does not have the links of the request';
    return { outcome: 'unresolved', credits: null, error };
  }
  const filled = await fillRequest(order, ports, absent);
  return 'body' in filled ? canonicalJson(filled.body) : filled;
}

/** After a lost answer, only the bytes that were first sent with the idempotency key may be sent. */
export function requireSame(made: string | StepEnd, send: AskedSend | undefined): string | StepEnd {
  if (typeof made !== 'string' || send?.digest === undefined || digestOfBody(made) === send.digest) return made;
  const error =
    'the answer to the create request was lost, and the request contained other links, which only the sending machine has';
  return { outcome: 'unresolved', credits: null, error, recoverable: true };
}

export async function fillRequest(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string>,
): Promise<{ body: Json } | StepEnd> {
  const values = await findValues(order, ports, absent);
  if (!(values instanceof Map)) return values;
  const filled = fillReferences(order.request, values, absent);
  if ('body' in filled) return filled;
  const { address, field } = filled.missing;
  return { outcome: 'blocked', credits: 0, error: `the output of ${address} has no \`${field}\`` };
}

/** Collects the values of other steps. Requests new links from the service, because the links in the lock expire. */
async function findValues(
  order: StepOrder,
  ports: Ports,
  absent: ReadonlySet<string>,
): Promise<Map<string, { readonly [field: string]: string }> | StepEnd> {
  const values = new Map<string, { readonly [field: string]: string }>();
  for (const [address, fingerprint] of referencedJobs(order)) {
    if (absent.has(address)) continue;
    const job = await ports.ledger.jobOf(address, fingerprint);
    if (job === undefined) return { outcome: 'blocked', credits: 0, error: `${address} has no finished job` };
    if (job.url !== undefined) {
      values.set(address, { url: job.url });
      continue;
    }
    const end = await ports.service.watch(job, {
      signal: ports.signal,
      fresh: false,
      onStatus: () => {},
      notice: () => {},
    });
    if (end.is === 'unwatched') {
      stopFor(end, ports);
      return { outcome: 'left', credits: 0, error: end.error };
    }
    if (end.is !== 'completed') {
      return { outcome: 'blocked', credits: 0, error: `the output of ${address} has no link: ${end.error}` };
    }
    values.set(address, end.result.values);
  }
  return values;
}

/**
 * Returns a stored body if it differs from this request only in the values of other steps. Returns `undefined` for any
 * other body, because a run sends only what its plan contains.
 */
export function matchStoredBody(request: OpenRequest, body: string | undefined): string | undefined {
  if (body === undefined) return undefined;
  try {
    return isFilledIn(request, JSON.parse(body) as Json) ? body : undefined; // I23
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined;
    throw error;
  }
}

export function digestOfBody(body: string): string {
  return hash('sha256', body).slice(0, 32);
}

function isFilledIn(open: Json, sent: Json | undefined): boolean {
  if (sent === undefined) return false;
  if (open === null || typeof open !== 'object') return open === sent;
  if (Array.isArray(open)) return Array.isArray(sent) && isFilledList(open, sent);
  if (typeof open.$ref === 'string') return isValue(open, sent);
  if (Array.isArray(open.$text)) return typeof sent === 'string' && isFilledText(open.$text, sent);
  if (!isMap(sent)) return false;
  const names = Object.keys(open);
  const isSame = names.length === Object.keys(sent).length;
  return isSame && names.every((name) => Object.hasOwn(sent, name) && isFilledIn(open[name] ?? null, sent[name]));
}

/** A list in a sent body may be shorter than in the request: references to steps that do not exist were removed. */
function isFilledList(open: readonly Json[], sent: readonly Json[]): boolean {
  // The possible numbers of `sent` items that match the items of `open` read so far.
  let counts = new Set([0]);
  for (const item of open) {
    const next = new Set(isReference(item) ? counts : []);
    for (const count of counts) if (isFilledIn(item, sent[count])) next.add(count + 1);
    counts = next;
  }
  return counts.has(sent.length);
}

function isFilledText(parts: readonly Json[], sent: string): boolean {
  let at = 0;
  let isOpen = false;
  for (const [index, part] of parts.entries()) {
    if (typeof part !== 'string') {
      isOpen = true;
      continue;
    }
    const isLast = index === parts.length - 1;
    const found = isOpen ? (isLast ? sent.length - part.length : sent.indexOf(part, at)) : at;
    if (found < at || !sent.startsWith(part, found)) return false;
    at = found + part.length;
    isOpen = false;
  }
  return isOpen || at === sent.length;
}

function isValue({ field = 'url' }: { [key: string]: Json }, sent: Json): boolean {
  return typeof sent === 'string' && (field !== 'url' || (/^https?:/.test(sent) && URL.canParse(sent)));
}

function isReference(item: Json): boolean {
  return isMap(item) && typeof item.$ref === 'string';
}
