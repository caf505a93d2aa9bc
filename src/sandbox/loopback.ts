import { isIPv4 } from 'node:net';

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
