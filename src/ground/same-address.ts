/**
 * Normalizes the address of a service, so that different spellings are equal: case of the host, default port, trailing
 * dot or slashes. `undefined` if it is not a URL.
 */
export function sameAddress(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname}`.replace(/\/+$/, '');
}
