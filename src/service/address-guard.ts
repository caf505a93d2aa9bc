import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';

/** Addresses that a link from outside must never lead to: this machine, its networks, and what is not unicast. */
const inward = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  inward.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 128],
  ['::1', 128],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  inward.addSubnet(network, prefix, 'ipv6');
}

export function isInward(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  return inward.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

export type GuardedUrl = { is: 'allowed'; url: URL; address?: string } | { is: 'refused'; message: string };

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
      is: 'refused',
      message: `${host} cannot be found: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
