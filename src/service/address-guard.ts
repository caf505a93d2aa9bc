import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isInward, isLoopbackHost } from '../graph/address.ts';

export type JudgedLink = { is: 'allowed'; url: URL; isOwn: boolean } | { is: 'refused'; message: string };

export class RefusedAddressError extends Error {}

/**
 * Returns the only host that may be reached without https and on this machine: the host of a loopback base URL,
 * compared literally (`localhost` differs from `127.0.0.1`), on any port, because a local service may keep files in a
 * second container.
 */
export function ownHostOf(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return isLoopbackHost(hostname) ? hostname : undefined;
}

/**
 * Decides from a link's text alone whether it may be followed: https, no credentials, no non-public address. The
 * addresses of its host name are checked when a connection is made (`makeCheckedLookup`).
 */
export function judgeLink(text: string, ownHost: string | undefined): JudgedLink {
  if (!URL.canParse(text)) return { is: 'refused', message: 'the link is not a URL' };
  const url = new URL(text);
  const { protocol, hostname } = url;
  const shown = `${protocol}//${url.host}`;
  if (url.username !== '' || url.password !== '')
    return { is: 'refused', message: `the link to ${url.host} carries a login` };
  if (hostname === ownHost && (protocol === 'http:' || protocol === 'https:'))
    return { is: 'allowed', url, isOwn: true };
  const own = ownHost === undefined ? '' : `; only public https links and links to ${ownHost} are followed`;
  if (protocol !== 'https:') return { is: 'refused', message: `the link ${shown} is not https${own}` };
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isInward(address)) return { is: 'refused', message: `${notPublic(shown)}${own}` };
  return { is: 'allowed', url, isOwn: false };
}

/**
 * Resolves a host name, and refuses all of its addresses if one is not public. The connection uses the addresses
 * returned here, even if the name resolves differently a moment later; TLS still verifies the name.
 */
export function makeCheckedLookup(lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null) callback(error, '');
      else if (first === undefined) callback(new RefusedAddressError(`${host} has no address`), '');
      else if (found.some(({ address }) => isInward(address)))
        callback(new RefusedAddressError(notPublic(`https://${host}`)), '');
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function notPublic(shown: string): string {
  return `the link ${shown} leads to an address that is not public`;
}
