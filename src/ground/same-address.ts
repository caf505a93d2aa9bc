/** Normalizes case of the host, default port, trailing dot and slashes. Returns `undefined` unless it is a URL. */
export function sameAddress(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname}`.replace(/\/+$/, '');
}
