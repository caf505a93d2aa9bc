import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Json } from '../ground/json.ts';
import { envelope, jobStates, otherStates } from '../kinds/envelope.ts';

const mostEncodings = 3;
const decoder = new TextDecoder();

/**
 * Returns the text of an answer without its byte order mark. Decompresses it even without a header, because middleboxes
 * compress without being asked, and some omit the header. Throws if it cannot be decompressed, or is then longer than
 * `mostBytes`.
 */
export function readBodyText(bytes: Uint8Array | undefined, encoding: string | undefined, mostBytes: number): string {
  if (bytes === undefined) return '';
  const limit = { maxOutputLength: mostBytes };
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const names = (encoding ?? (isGzip ? 'gzip' : '')).toLowerCase().split(',').slice(0, mostEncodings).reverse();
  let plain = bytes;
  for (const name of names) {
    const word = name.trim();
    if (word === 'gzip' || word === 'x-gzip') plain = gunzipSync(plain, limit);
    else if (word === 'br') plain = brotliDecompressSync(plain, limit);
    // Some servers omit the zlib header that `deflate` requires.
    else if (word === 'deflate')
      plain = (plain[0] ?? 0) % 16 === 8 ? inflateSync(plain, limit) : inflateRawSync(plain, limit);
  }
  return decoder.decode(plain);
}

const ids: ReadonlySet<string> = new Set([envelope.job.id, envelope.created.jobId]);
const links: ReadonlySet<string> = new Set(['url', 'outputUrl', 'thumbnailUrl', 'uploadUrl', 'publicUrl']);
/** Deepest level of an answer that is read: an asset of a part of a job. */
const mostDepth = 5;

/**
 * Rewrites an answer to the documented form: states in capitals and with their documented names, ids as strings, links
 * as absolute URLs. Only fields with these names change, and only values with a single possible meaning. Changes `json`
 * in place.
 */
export function toDocumented(json: Json, base: URL, depth = 0): void {
  if (json === null || typeof json !== 'object' || depth > mostDepth) return;
  if (Array.isArray(json)) {
    for (const item of json) toDocumented(item, base, depth + 1);
    return;
  }
  for (const [name, value] of Object.entries(json)) {
    if (name === envelope.job.status && typeof value === 'string') readState(json, value);
    else if (ids.has(name) && Number.isSafeInteger(value) && Number(value) >= 0) json[name] = String(value);
    else if (links.has(name)) json[name] = wholeLink(value, base);
    else toDocumented(value, base, depth + 1);
  }
}

function readState(job: { [field: string]: Json }, value: string): void {
  const word = value.trim().toUpperCase();
  const { status, error } = envelope.job;
  const { completed, failed } = envelope.states;
  if (jobStates.includes(word)) job[status] = word;
  else if (otherStates.succeeded.includes(word)) job[status] = completed;
  else if (otherStates.canceled.includes(word)) {
    job[status] = failed;
    const reason = job[error];
    job[error] = `canceled at the service${typeof reason === 'string' && reason !== '' ? `: ${reason}` : ''}`;
  }
}

function wholeLink(value: Json, base: URL): Json {
  const link = Array.isArray(value) && value.length === 1 ? (value[0] ?? null) : value;
  if (typeof link !== 'string' || !link.startsWith('/')) return link;
  return URL.canParse(link, base.href) ? new URL(link, base).href : link;
}
