import { userInfo } from 'node:os';
import { CampaignError } from '../../contract/failure.ts';

/** Returns the text if it is the URL of a PostgreSQL database; throws MB3705 otherwise. */
export function checkEngineUrl(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {}
  if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new CampaignError({
      code: 'MB3705',
      message: `${url === undefined ? 'the engine' : showEngine(text)} is not the address of a PostgreSQL database`,
      hint: 'it looks like postgres://user@host:5432/database; the password may stand in PGPASSWORD. examples/engine/compose.yaml starts one with two workers',
    });
  }
  // In a URL whose password has an unescaped slash, the rest of the password is parsed as part of the path.
  if (url.pathname.includes('@')) {
    throw new CampaignError({
      code: 'MB3705',
      message: 'the address of the engine has an @ after its host',
      hint: 'write / as %2F and @ as %40 in the password, or put it into PGPASSWORD as it is',
    });
  }
  return text;
}

/** Values of `sslmode` that the driver treats as `verify-full`, with a deprecation warning of its own. */
const asVerified = new Set(['prefer', 'require', 'verify-ca']);

/**
 * Returns the URL for the driver: each TLS mode of `asVerified` becomes `verify-full`, so the certificate is checked.
 */
export function connectionString(text: string): string {
  const { searchParams } = new URL(text);
  const mode = searchParams.get('sslmode');
  if (mode === null || !asVerified.has(mode) || searchParams.get('uselibpqcompat') === 'true') return text;
  return text.replace(/([?&]sslmode=)[^&#]*/, '$1verify-full');
}

export function userOf(text: string): string {
  const { username } = new URL(text);
  return decodeURIComponent(username) || process.env.PGUSER || userInfo().username;
}

/** Returns the URL without credentials, for display. */
export function showEngine(text: string): string {
  // Without `//`, the URL parser takes a user name for the protocol, and a password for the path.
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return 'the engine';
  const { protocol, username, host, pathname } = new URL(text);
  if (pathname.includes('@')) return 'the engine';
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
