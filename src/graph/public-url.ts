import { isIP } from 'node:net';
import { isInward } from './inward-address.ts';

/** Explains why the service cannot fetch a URL; `undefined` when it looks public. No name is resolved. */
export function whyNotPublic(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'is not a URL';
  }
  if (url.protocol !== 'https:') return `starts with ${url.protocol}${url.protocol === 'http:' ? '//' : ''}`;
  if (url.username !== '' || url.password !== '') return 'has a user name or a password in it';
  const host = url.hostname.replace(/\.$/, '').toLowerCase();
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) return isInward(address) ? 'names a private address' : undefined;
  if (
    !host.includes('.') ||
    /\.(localhost|local|internal|intranet|lan|home|corp|test|invalid|home\.arpa)$/.test(host)
  ) {
    return 'names a host of a private network';
  }
  return undefined;
}
