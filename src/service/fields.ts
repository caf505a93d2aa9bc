import type { JobResult } from '../contract/answer.ts';
import type { Json } from '../ground/json.ts';
import { isMap, ownValue } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Redact } from './secrets.ts';

export function readRecord(value: Json | undefined): { [key: string]: Json } | undefined {
  return isMap(value) ? Object.assign(Object.create(null) as { [key: string]: Json }, value) : undefined;
}

/** Returns the value at a path in an answer. The path `a.b` is the field `b` of the object in field `a`. */
export function readAt(value: Json | undefined, name: string): Json | undefined {
  let found = value;
  for (const part of name.split('.')) found = Array.isArray(found) ? undefined : ownValue(found, part);
  return found;
}

export function readText(value: Json | undefined, names: string | readonly string[], most = 500): string | undefined {
  for (const name of typeof names === 'string' ? [names] : names) {
    const found = readAt(value, name);
    if (typeof found === 'string' && found !== '') return found.slice(0, most);
  }
  return undefined;
}

/** Returns the first text in the fields `texts` or, if there is none, the first object or list in `others` as JSON. */
export function readReason(
  value: Json | undefined,
  texts: string | readonly string[],
  others: readonly string[],
): string | undefined {
  const isFilled = (found: Json | undefined) =>
    typeof found === 'object' && found !== null && Object.keys(found).length > 0;
  const text = readText(value, texts, Number.POSITIVE_INFINITY);
  if (text !== undefined) return text;
  const found = others.map((name) => readAt(value, name)).find(isFilled);
  return found === undefined ? undefined : JSON.stringify(found);
}

export function readCredits(value: Json | undefined, names: readonly string[]): number | undefined {
  const isCredits = (found: Json | undefined) => typeof found === 'number' && Number.isSafeInteger(found) && found >= 0;
  return names.map((name) => readAt(value, name)).find(isCredits) as number | undefined;
}

/** Returns whether an answer has the documented error body. A proxy's error page never has this form. */
export function isServiceError(json: Json | undefined): boolean {
  return readAt(json, envelope.answer.success) === false;
}

/** HTTP statuses with which any server or proxy answers to a missing path or a body that is too long. */
const ofAnyServer: ReadonlySet<number> = new Set([404, 405, 410, 413]);

/**
 * Returns whether a firewall, a proxy or a network's login page answered instead of the service. Such an answer counts
 * as an outage, because it does not depend on the credential, the job or the request.
 */
export function isFromProxy(json: Json | undefined, status: number): boolean {
  if (isServiceError(json) || ofAnyServer.has(status)) return false;
  return status < 300 ? json === undefined : status < 500 || status === 511;
}

export function readMessage(json: Json | undefined, status: number, redact: Redact, location?: string): string {
  const { answer } = envelope;
  const page =
    location === undefined
      ? 'the answer is not JSON'
      : `redirects to ${location.replace(/[?#].*/s, '')}; check MEDIABATCH_BASE_URL`;
  const nothing = json === undefined ? page : 'no message';
  const text =
    readReason(json, answer.message, answer.reasons) ??
    (status === 413 ? 'the request is too large; shorten its texts' : nothing);
  const code = readAt(json, answer.code);
  const shown = typeof code === 'string' && code !== text ? ` [${redact(code).slice(0, 60)}]` : '';
  // Redacts the text before it is cut, because `redact` does not recognize a part of a credential.
  const sender = isFromProxy(json, status)
    ? ' (probably the answer of a firewall, a proxy or a login page, not of the service)'
    : '';
  return `HTTP ${status}: ${redact(text).slice(0, 500)}${shown}${sender}`;
}

/**
 * Parses a Retry-After header, which contains seconds, or an HTTP date by the server's clock. Returns ms, or undefined
 * if the header is missing or invalid.
 */
export function parseRetryAfter(headers: NodeJS.Dict<string | string[]>): number | undefined {
  const value = headers[envelope.headers.retryAfter];
  const now = Date.parse(String(headers[envelope.headers.date])) || Date.now();
  const ms = Number(value) >= 0 ? Number(value) * 1000 : Date.parse(String(value)) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** Describes the wait that a service demands, if it is long enough for users to notice. */
export function asksToWait(askedMs = 0): string {
  return askedMs < 60_000 ? '' : ` (asks to wait ${Math.round(askedMs / 60_000)} min)`;
}

const mostParts = 1000;

/** Reads the result from the field `data` of a job's status. Returns `undefined` until `data` contains all links. */
export function readResult(kind: Kind, data: Json): JobResult | undefined {
  return kind.parts === undefined ? readSingle(kind, data) : readParts(kind.parts.name, data);
}

function readSingle(kind: Kind, data: Json): JobResult | undefined {
  const url = linkIn(data, envelope.job.link);
  if (url === undefined) return undefined;
  const values: { [field: string]: string } = { url };
  const thumbnail = linkIn(data, envelope.job.thumbnail);
  if (kind.outputs.includes('thumbnailUrl') && thumbnail !== undefined) values.thumbnailUrl = thumbnail;
  return { values, files: [url] };
}

function readParts(name: string, data: Json): JobResult | undefined {
  const { part } = envelope;
  const list = readAt(data, name);
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const parts = list.slice(0, mostParts).map((item, index) => {
    const order = readAt(item, part.order);
    const id = readText(item, part.id, 256);
    return { order: typeof order === 'number' ? order : index, index, id, url: linkIn(item, part.link) };
  });
  parts.sort((a, b) => a.order - b.order || a.index - b.index);
  const values: { [field: string]: string } = {};
  const files: string[] = [];
  for (const [index, { id, url }] of parts.entries()) {
    if (url === undefined) return undefined;
    files.push(url);
    values[`${name}.${index}.url`] = url;
    if (id !== undefined) values[`${name}.${index}.id`] = id;
  }
  values.url = files[0] ?? '';
  return { values, files, parts: files.length };
}

function linkIn(value: Json, names: readonly string[]): string | undefined {
  return readText(value, names, Number.POSITIVE_INFINITY);
}
