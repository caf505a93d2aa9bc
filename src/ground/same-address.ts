/** The address of the service however it is spelled: letters of the host, its port, a dot or slashes at the end. Undefined: it is none. */
export function sameAddress(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname}`.replace(/\/+$/, '');
}
