import type { Json } from '../ground/json.ts';
import { isMap, ownValue } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import type { Redact } from './secrets.ts';

/** An object's own fields, or undefined for anything else. */
export function readRecord(value: Json | undefined): { [key: string]: Json } | undefined {
  return isMap(value) ? Object.assign(Object.create(null) as { [key: string]: Json }, value) : undefined;
}

/** The value at a name of the envelope: `a.b` is the field `b` of the object `a`. */
export function readAt(value: Json | undefined, name: string): Json | undefined {
  let found = value;
  for (const part of name.split('.')) found = Array.isArray(found) ? undefined : ownValue(found, part);
  return found;
}

/** The first non-empty text among these fields, cut to `most` characters. */
export function readText(value: Json | undefined, names: string | readonly string[], most = 500): string | undefined {
  for (const name of typeof names === 'string' ? [names] : names) {
    const found = readAt(value, name);
    if (typeof found === 'string' && found !== '') return found.slice(0, most);
  }
  return undefined;
}

/** The first valid number of credits among these fields. */
export function readCredits(value: Json | undefined, names: readonly string[]): number | undefined {
  const isCredits = (found: Json | undefined) => typeof found === 'number' && Number.isSafeInteger(found) && found >= 0;
  return names.map((name) => readAt(value, name)).find(isCredits) as number | undefined;
}

/** True for the documented error body. A proxy's page is not one. */
export function isServiceError(json: Json | undefined): boolean {
  return readAt(json, envelope.answer.success) === false;
}

/** The message that the service gives with an answer, cut to 500 characters. */
export function readMessage(json: Json | undefined, status: number, redact: Redact): string {
  const { answer } = envelope;
  const text =
    readText(json, answer.message, Number.POSITIVE_INFINITY) ??
    (json === undefined ? 'the answer is not JSON' : 'no message');
  const code = readAt(json, answer.code);
  const shown = typeof code === 'string' && code !== text ? ` [${redact(code).slice(0, 60)}]` : '';
  // Redact before cutting: a credential cut in the middle would leave a part that nothing recognizes.
  return `HTTP ${status}: ${redact(text).slice(0, 500)}${shown}`;
}

/** Retry-After in seconds or as an HTTP date, in ms from now; null when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, now: number = Date.now()): number | null {
  if (value === undefined) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
