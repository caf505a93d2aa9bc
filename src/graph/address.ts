import { BlockList, isIP, isIPv4 } from 'node:net';
import { flatText } from '../manifest/rows/rows.ts';
import { slug } from '../manifest/template/helpers.ts';

export const maxKeyLength = 100;

/** Characters that are invisible or have a meaning in addresses, selections or file names. */
const forbidden = /[\s,@/\\*?\p{C}]/u;

export function forbiddenIn(key: string): string | undefined {
  return forbidden.exec(key)?.[0];
}

export function addressPart(value: string): string {
  if (value === '') return '';
  return forbidden.test(value) ? slug(value).slice(0, maxKeyLength) : value.slice(0, maxKeyLength);
}

/** Builds an address, for example `task`, `task@key,v1,v2` or `task@key/2`. */
export function stepAddress(
  task: string,
  parts: { key: string | undefined; values: readonly string[]; take: number | undefined },
): string {
  const names = [...(parts.key === undefined ? [] : [parts.key]), ...parts.values];
  const cell = names.length === 0 ? '' : `@${names.join(',')}`;
  const take = parts.take === undefined ? '' : `/${parts.take}`;
  return flatText(task, cell, take);
}

export function taskOfAddress(address: string): string {
  return /^[^@/]*/.exec(address)?.[0] ?? address;
}

/** Networks that a link must never lead to: this machine, local networks, and addresses that are not unicast. */
const networks = {
  ipv4:
    '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
    '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3',
  // Only 2000::/3 is public, without its networks for tunnels (which carry an IPv4 address) and for documentation.
  ipv6: '::/3 2001::/23 2001:db8::/32 2002::/16 4000::/2 8000::/1',
};

// IPv4 and IPv6 have separate lists: a single list would find IPv4 addresses in the IPv6 network of mapped addresses.
const inward = { ipv4: readNetworks('ipv4'), ipv6: readNetworks('ipv6') };

function readNetworks(family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const network of networks[family].split(' ')) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Returns true for an IP address outside of the public internet, and for an invalid address. */
export function isInward(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return inward.ipv4.check(address, 'ipv4');
    case 6:
      return inward.ipv6.check(address, 'ipv6');
    default:
      return true;
  }
}

/** Returns whether a parsed host is this machine. False for a similar name, such as `127.0.0.1.example.com`. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
}
