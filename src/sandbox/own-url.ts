import { isIPv4 } from 'node:net';
import { type Json, stableJson } from './wire.ts';

/** Path of a served file: below `/files` for outputs and samples, below `/storage/public` for uploads. */
export interface OwnPath {
  readonly token: string;
  readonly name: string;
}

export const outputArea = '/files';
export const uploadArea = '/storage/public';

const ownPath = /^\/(?:files|storage\/public)\/([0-9a-f]{40})\/([^/]+)$/;
const ownOrigin = /https?:\/\/[^/"\s]+(?=\/(?:files|storage\/public)\/[0-9a-f]{40}\/)/g;

/** Returns the path of a sandbox URL, whatever its host is, because a sandbox may have several host names. */
export function readOwnUrl(url: string): OwnPath | undefined {
  if (!URL.canParse(url)) return undefined;
  const [, token, name] = ownPath.exec(new URL(url).pathname) ?? [];
  return token === undefined || name === undefined ? undefined : { token, name: decodeName(name) };
}

/**
 * Returns a request body as text. Removes the host from links to sandbox files, because the sandbox may use another
 * port later.
 */
export function bodyText(body: Json): string {
  return stableJson(body).replace(ownOrigin, '');
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

/** Returns whether the host is a loopback name. Other names do not count, even if they resolve to this machine. */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, '$1'));
}
