import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WantedVerdict } from '../../contract/review.ts';
import type { Json } from '../../ground/json.ts';
import { isMap, isPlainText } from '../../ground/values.ts';
import { mostNote, mostReason } from '../../lock/decisions.ts';

interface CheckedRequest {
  method: 'GET' | 'HEAD' | 'POST';
  path: string | undefined;
}

const methods = ['GET', 'HEAD', 'POST'] as const;
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * Returns undefined unless the request comes from the page, or from a user who opened the page's URL. Pages of other
 * origins can also send requests to this server, and may have a leaked token. A foreign host name may resolve to this
 * machine. The port is not checked, because users forward ports.
 */
export function checkRequest({ method, url, headers }: IncomingMessage, token: string): CheckedRequest | undefined {
  const known = methods.find((one) => one === method);
  const { host, origin } = headers;
  // The token is compared first, so that the response time reveals nothing about it.
  const asked = readPath(url ?? '', token);
  if (known === undefined || asked === undefined) return undefined;
  if (host === undefined || !loopback.test(host)) return undefined; // I29 (host)
  if (origin !== undefined && origin !== `http://${host}`) return undefined; // I29 (origin)
  if (known === 'POST' && (origin === undefined || !isJson(headers['content-type']))) return undefined;
  return isSameSite(headers, { method: known, ...asked }) ? { method: known, ...asked } : undefined;
}

function readPath(url: string, token: string): { path: string | undefined } | undefined {
  const [, given = '', slash, path = ''] = /^\/([^/?#]*)(\/?)([^?#]*)$/.exec(url) ?? [];
  if (!isSame(given, token)) return undefined; // I29 (token)
  return { path: slash === '' ? undefined : path };
}

function isSame(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function isSameSite(headers: IncomingMessage['headers'], { method, path }: CheckedRequest): boolean {
  const site = headers['sec-fetch-site'];
  const isPage = path === undefined || path === '';
  const dest = headers['sec-fetch-dest'];
  if (isPage && dest !== undefined && dest !== 'document' && dest !== 'empty') return false;
  if (site === undefined || site === 'same-origin') return true; // I29 (site)
  return site === 'none' && headers['sec-fetch-mode'] === 'navigate' && isPage && method !== 'POST';
}

function isJson(type: string | undefined): boolean {
  return type !== undefined && /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i.test(type);
}

const mostBytes = 64 * 1024;
const mostName = 4096;

export async function readBody(request: IncomingMessage): Promise<string | 'too large'> {
  if (Number(request.headers['content-length'] ?? 0) > mostBytes) return 'too large';
  const pieces: Buffer[] = [];
  let length = 0;
  // The connection stays open, because the response uses it.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > mostBytes) return 'too large';
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Parses `{ "verdicts": [{ "address", "is", "job", "note"?, "reason"?, "by"? }] }`; undefined for anything else. */
export function readVerdicts(text: string): WantedVerdict[] | undefined {
  const document = parse(text);
  if (!isMap(document) || !Array.isArray(document.verdicts)) return undefined;
  const verdicts = document.verdicts.map(readVerdict);
  return verdicts.every((one) => one !== undefined) ? verdicts : undefined;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function readVerdict(value: Json): WantedVerdict | undefined {
  if (!isMap(value)) return undefined;
  const { address, is, job, note, reason, by } = value;
  if (is !== 'picked' && is !== 'rejected' && is !== 'undecided') return undefined;
  if (!isPlainText(address, mostName) || !isPlainText(job, mostName)) return undefined;
  if (note !== undefined && note !== '' && !isPlainText(note, mostNote)) return undefined;
  if (reason !== undefined && reason !== '' && !isPlainText(reason, mostReason)) return undefined;
  if (by !== undefined && !isPlainText(by, mostReason)) return undefined;
  return {
    ...{ address, is, job },
    ...(typeof note === 'string' && { note }),
    ...(typeof reason === 'string' && { reason }),
    ...(by !== undefined && { by }),
  };
}
