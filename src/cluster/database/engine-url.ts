import { userInfo } from 'node:os';
import { CampaignError } from '../../contract/failure.ts';

/** Throws MB3705 unless it is the address of a PostgreSQL database. */
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
  // The rest of a password that has a slash of its own is taken for the path.
  if (url.pathname.includes('@')) {
    throw new CampaignError({
      code: 'MB3705',
      message: 'the address of the engine has an @ after its host',
      hint: 'write / as %2F and @ as %40 in the password, or put it into PGPASSWORD as it is',
    });
  }
  return text;
}

/** Ways of TLS that the driver carries out as `verify-full`, and warns of in words about itself. */
const asVerified = new Set(['prefer', 'require', 'verify-ca']);

/** The address as the driver takes it: whatever asks for TLS has the certificate checked. */
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

/** The address without anything that signs in. */
export function showEngine(text: string): string {
  // Without `//` a user name would be taken for the protocol, and a password for the path.
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return 'the engine';
  const { protocol, username, host, pathname } = new URL(text);
  if (pathname.includes('@')) return 'the engine';
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
