import { isIPv4 } from 'node:net';
import { type Json, stableJson } from './wire.ts';

/** Where files are served from: outputs and samples below `/files`, uploads below `/storage/public`. */
export interface OwnPath {
  readonly token: string;
  readonly name: string;
}

export const outputArea = '/files';
export const uploadArea = '/storage/public';

const ownPath = /^\/(?:files|storage\/public)\/([0-9a-f]{40})\/([^/]+)$/;
const ownOrigin = /https?:\/\/[^/"\s]+(?=\/(?:files|storage\/public)\/[0-9a-f]{40}\/)/g;

/** Reads a URL that may name a file of this sandbox. The host does not count: a sandbox has many names. */
export function readOwnUrl(url: string): OwnPath | undefined {
  if (!URL.canParse(url)) return undefined;
  const [, token, name] = ownPath.exec(new URL(url).pathname) ?? [];
  return token === undefined || name === undefined ? undefined : { token, name: decodeName(name) };
}

/** A body as text, with links to own files without their host: the sandbox may listen on another port tomorrow. */
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

/** Whether the address, as a socket tells it, is this machine's own. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '');
  return plain === '::1' || (isIPv4(plain) && plain.startsWith('127.'));
}

/** Whether the URL's host is a name of this machine. Anything else might be a foreign name that leads here. */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  return hostname === 'localhost' || isLoopbackAddress(hostname.replace(/^\[(.*)\]$/, '$1'));
}
