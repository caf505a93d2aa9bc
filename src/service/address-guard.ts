import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isInward } from '../graph/inward-address.ts';

export type GuardedUrl =
  | { is: 'allowed'; url: URL; address?: string }
  | { is: 'refused'; message: string }
  /** The host's address could not be found out just now. */
  | { is: 'unknown'; message: string };

/**
 * Whether a link may be followed: https, no credentials, and every address of its host is public. The one exception is
 * `ownOrigin`, the origin of a loopback base URL, so that a local service can hand out links to itself.
 *
 * The checked address is returned so that the connection goes to it and not to whatever the name means a moment later.
 */
export async function guardUrl(text: string, ownOrigin: string | undefined): Promise<GuardedUrl> {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return { is: 'refused', message: 'the link is not a URL' };
  }
  const shown = `${url.protocol}//${url.host}`;
  if (ownOrigin !== undefined && url.origin === ownOrigin) return { is: 'allowed', url };
  if (url.protocol !== 'https:') return { is: 'refused', message: `the link ${shown} is not https` };
  if (url.username !== '' || url.password !== '')
    return { is: 'refused', message: `the link to ${url.host} carries a login` };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) {
    if (isInward(host)) return { is: 'refused', message: `the link ${shown} leads to an address that is not public` };
    return { is: 'allowed', url, address: host };
  }
  try {
    const found = await lookup(host, { all: true });
    const [first] = found;
    if (first === undefined) return { is: 'refused', message: `${host} has no address` };
    if (found.some(({ address }) => isInward(address))) {
      return { is: 'refused', message: `the link ${shown} leads to an address that is not public` };
    }
    return { is: 'allowed', url, address: first.address };
  } catch (error) {
    return {
      is: 'unknown',
      message: `${host} cannot be found: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
