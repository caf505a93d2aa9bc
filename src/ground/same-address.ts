/** Normalizes a service URL, so that equal URLs are equal strings. Returns `undefined` if the text is not a URL. */
export function sameAddress(baseUrl: string): string | undefined {
  if (!URL.canParse(baseUrl)) return undefined;
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host.replace(/\.(?=:|$)/, '')}${pathname}`.replace(/\/+$/, '');
}
