import { CampaignError } from '../contract/failure.ts';

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
      hint: 'it looks like postgres://user@host:5432/database; the password may stand in PGPASSWORD. `embedded` starts one on this machine',
    });
  }
  return text;
}

/** The address without anything that signs in. */
export function showEngine(text: string): string {
  // Without `//` a user name would be taken for the protocol, and a password for the path.
  if (!/^[a-z]+:\/\//i.test(text) || !URL.canParse(text)) return 'the engine';
  const { protocol, username, host, pathname } = new URL(text);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
