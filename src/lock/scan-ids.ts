import type { Json } from '../ground/json.ts';
import { isMap, mapOf } from '../ground/values.ts';
import { chargeName } from './spent.ts';

/** A purchase as it is looked for: its name in accounts, and the id under which a lock has it. */
export interface SoughtId {
  name: string;
  /** ID of a job, or of an open send. */
  id: string;
}

/**
 * Finds out which of the purchases a version of the lock tells of. Every version of a large lock is searched, so that a
 * line is parsed only where an id in it is looked for. Names found are removed from `sought`, which is by id.
 */
export function takeFound(bytes: Buffer, sought: Map<string, Set<string>>): string[] {
  const found: string[] = [];
  for (const field of ['"jobId"', '"send"']) {
    for (let at = bytes.indexOf(field); at !== -1 && sought.size > 0; at = bytes.indexOf(field, at + 1)) {
      const id = readValue(bytes, at + field.length);
      const names = sought.get(id);
      if (names === undefined) continue;
      for (const name of namesInLine(bytes, at) ?? names) {
        if (names.delete(name)) found.push(name);
      }
      if (names.size === 0) sought.delete(id);
    }
  }
  return found;
}

/** Groups what is looked for by id: one id may stand for jobs of several kinds. */
export function byId(all: Iterable<SoughtId>): Map<string, Set<string>> {
  const sought = new Map<string, Set<string>>();
  for (const { name, id } of all) {
    const names = sought.get(id);
    if (names === undefined) sought.set(id, new Set([name]));
    else names.add(name);
  }
  return sought;
}

const quote = 0x22;

/** The text after the colon; empty where there is none, or it is too long for an id. */
function readValue(bytes: Buffer, after: number): string {
  const start = bytes.indexOf(quote, after) + 1;
  if (start === 0 || start - after > 8) return '';
  const end = bytes.indexOf(quote, start);
  const text = bytes.toString('latin1', start, Math.max(start, Math.min(end, start + 300)));
  if (!text.includes('\\')) return text;
  // An id may hold a quotation mark itself.
  const [whole] = /^(?:[^"\\]|\\.)*(?=")/.exec(bytes.toString('latin1', start, start + 600)) ?? [];
  return whole === undefined ? '' : whole.replace(/\\(.)/g, '$1');
}

/** Names of all purchases that the line around a place tells of; undefined where it is no line of a lock. */
function namesInLine(bytes: Buffer, at: number): string[] | undefined {
  const start = bytes.lastIndexOf(0x0a, at) + 1;
  const end = bytes.indexOf(0x0a, at);
  try {
    const line: Json = JSON.parse(bytes.toString('utf8', start, end === -1 ? bytes.length : end));
    const { earlier } = mapOf(line);
    const purchases = [line, ...(Array.isArray(earlier) ? earlier : [])].filter(isMap);
    return purchases.flatMap(({ fingerprint, jobId, send }) => {
      if (typeof jobId === 'string') return [chargeName({ fingerprint: String(fingerprint), jobId })];
      return typeof send === 'string' ? [send] : [];
    });
  } catch {
    return undefined;
  }
}
