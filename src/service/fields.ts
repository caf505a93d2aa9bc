import type { Json } from '../ground/json.ts';
import type { Redact } from './secrets.ts';

/** An object's own fields, or undefined for anything else. */
export function readRecord(value: Json | undefined): { [key: string]: Json } | undefined {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as { [key: string]: Json }, value);
}

/** The sentence that the service gives with an answer, cut to 500 characters. */
export function readMessage(json: Json | undefined, status: number, redact: Redact): string {
  const body = readRecord(json);
  const texts = [body?.message, body?.error].filter((text): text is string => typeof text === 'string' && text !== '');
  const text = texts[0] ?? (json === undefined ? 'the answer is not JSON' : 'no message');
  const code = typeof body?.code === 'string' && body.code !== text ? ` [${redact(body.code).slice(0, 60)}]` : '';
  // First the credential goes, then the length: a cut in its middle would leave a part that nothing recognises.
  return `HTTP ${status}: ${redact(text).slice(0, 500)}${code}`;
}

/** Retry-After in seconds or as an HTTP date, in ms from now; null when absent or unreadable. */
export function parseRetryAfter(value: string | undefined, now: number = Date.now()): number | null {
  if (value === undefined) return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
