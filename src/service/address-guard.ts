import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isInward, isLoopbackHost } from '../graph/inward-address.ts';

export type JudgedLink = { is: 'allowed'; url: URL; isOwn: boolean } | { is: 'refused'; message: string };

/** The name of a link leads to where no link may lead. */
export class RefusedAddressError extends Error {}

/**
 * The host that may be called without https, and although it is this machine: that of a loopback base URL, letter by letter
 * (`localhost` is another one than `127.0.0.1`), on any port. A local service may keep its files in a container beside it.
 */
export function ownHostOf(baseUrl: string): string | undefined {
  const { hostname } = new URL(baseUrl);
  return isLoopbackHost(hostname) ? hostname : undefined;
}

/**
 * Whether a link may be followed, as far as it shows by itself: https, no login, no address that is not public. What its
 * name leads to is checked when a connection is made (`makeCheckedLookup`).
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
  const own = ownHost === undefined ? '' : `; beside public https links only those to ${ownHost} are followed`;
  if (protocol !== 'https:') return { is: 'refused', message: `the link ${shown} is not https${own}` };
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && isInward(address)) return { is: 'refused', message: `${notPublic(shown)}${own}` };
  return { is: 'allowed', url, isOwn: false };
}

/**
 * Finds the addresses of a name, and refuses all of them when one is not public. A connection goes to what is given back
 * here, whatever the name means a moment later; TLS still verifies the name.
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
