/** Why a URL cannot be fetched by the service; `undefined` when it looks public. No name is resolved. */
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
  if (host.startsWith('[')) return isPrivateIpv6(host.slice(1, -1)) ? 'names a private address' : undefined;
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return isPrivateIpv4(host) ? 'names a private address' : undefined;
  if (
    !host.includes('.') ||
    /\.(localhost|local|internal|intranet|lan|home|corp|test|invalid|home\.arpa)$/.test(host)
  ) {
    return 'names a host of a private network';
  }
  return undefined;
}

/** Unspecified, private, shared, loopback, link-local, documentation, benchmark, multicast and reserved ranges. */
const privateIpv4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
];

function isPrivateIpv4(host: string): boolean {
  const address = toNumber(host);
  return privateIpv4.some(([base, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(address / size) === Math.floor(toNumber(base) / size);
  });
}

function toNumber(host: string): number {
  return host.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** `host` as the URL parser writes it: compressed, lower case. Only 2000::/3 is public. */
function isPrivateIpv6(host: string): boolean {
  const groups = expandIpv6(host);
  const [first = 0, second = 0] = groups;
  const embedded = (high: number, low: number) => isPrivateIpv4([high >> 8, high & 255, low >> 8, low & 255].join('.'));
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return embedded(groups[6] ?? 0, groups[7] ?? 0);
  }
  if (first === 0x64 && second === 0xff9b) return embedded(groups[6] ?? 0, groups[7] ?? 0);
  if (first === 0x2002) return embedded(second, groups[2] ?? 0);
  const documentation = first === 0x2001 && (second === 0xdb8 || second < 0x200);
  return documentation || first < 0x2000 || first > 0x3fff;
}

function expandIpv6(host: string): number[] {
  const [before = '', after] = host.split('::');
  const parse = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
  const head = parse(before);
  const tail = after === undefined ? [] : parse(after);
  return [...head, ...Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => 0), ...tail];
}
