import { hash } from 'node:crypto';
import type { OpenRequest } from '../graph/graph.ts';
import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';

/**
 * Returns a stored body of a create request if it belongs to exactly this request: identical except for values of other
 * steps. Otherwise returns `undefined`, and the body is built again, so that nothing is sent that is not in the plan.
 */
export function takeKeptBody(request: OpenRequest, body: string | undefined): string | undefined {
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

/**
 * Whether a sent list matches the request's list. Steps that turned out not to exist are omitted from lists, so it may
 * have fewer values than planned.
 */
function isFilledList(open: readonly Json[], sent: readonly Json[]): boolean {
  // Possible numbers of `sent` items that match the open items so far.
  let counts = new Set([0]);
  for (const item of open) {
    const next = new Set(isReference(item) ? counts : []);
    for (const count of counts) if (isFilledIn(item, sent[count])) next.add(count + 1);
    counts = next;
  }
  return counts.has(sent.length);
}

/** True if the fixed text between the values occurs in this order. */
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

/** Whether a sent value can be the value of a reference. Every value is a string, and most are links. */
function isValue({ field = 'url' }: { [key: string]: Json }, sent: Json): boolean {
  return typeof sent === 'string' && (field !== 'url' || (/^https?:/.test(sent) && URL.canParse(sent)));
}

function isReference(item: Json): boolean {
  return isMap(item) && typeof item.$ref === 'string';
}
