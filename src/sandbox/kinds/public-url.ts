import { isIPv4 } from 'node:net';

function isPublicHttpsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return false;
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  if (isIPv4(host)) return !isPrivateIpv4(host);
  if (host.startsWith('[')) return isPublicIpv6(host.slice(1, -1));
  return host.includes('.') && !/\.(local|localhost|internal|home\.arpa)$/.test(host);
}

function isPrivateIpv4(address: string): boolean {
  const [first = 0, second = 0] = address.split('.').map(Number);
  if (first === 0 || first === 10 || first === 127 || first >= 224) return true;
  if (first === 100) return second >= 64 && second <= 127;
  if (first === 169) return second === 254;
  if (first === 172) return second >= 16 && second <= 31;
  return first === 192 && second === 168;
}

function isPublicIpv6(address: string): boolean {
  return /^[23][0-9a-f]{3}:/.test(address);
}

export function findUrlProblem(
  name: string,
  url: string,
  world: { readonly isOwnFile: (url: string) => boolean },
): string | undefined {
  return isPublicHttpsUrl(url) || world.isOwnFile(url) ? undefined : `${name} must be a public https URL.`;
}

export function findUrlsProblem(
  name: string,
  urls: readonly string[],
  world: { readonly isOwnFile: (url: string) => boolean },
): string | undefined {
  for (const [index, url] of urls.entries()) {
    const problem = findUrlProblem(`${name}[${index}]`, url, world);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
