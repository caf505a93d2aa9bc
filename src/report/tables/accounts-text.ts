import type { Json } from '../../ground/json.ts';
import { bad, type Document, strong, type Text, table, warning } from '../document.ts';
import { spanText } from '../numbers.ts';

interface AccountRow {
  id: string;
  /** The service's name of the provider; `google` is YouTube. */
  provider: string;
  /** Empty if the service reports none. */
  name: string;
  username: string;
  /** ISO 8601. After this time the account must be connected again. */
  expiresAt?: string;
}

const platforms: Readonly<Record<string, string>> = {
  google: 'YouTube',
  youtube: 'YouTube',
  instagram: 'Instagram',
  tiktok: 'TikTok',
  facebook: 'Facebook',
  linkedin: 'LinkedIn',
  bluesky: 'Bluesky',
  threads: 'Threads',
  pinterest: 'Pinterest',
};

/** Returns the common name of the provider; for an unknown provider, the service's name. */
export function platformName(provider: string): string {
  const word = provider.toLowerCase();
  return Object.hasOwn(platforms, word) ? (platforms[word] ?? provider) : provider;
}

type Expiry = 'unknown' | 'valid' | 'soon' | 'past';

const soonMs = 7 * 86_400_000;

export function expiryOf(expiresAt: string | undefined, now: number): Expiry {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  if (Number.isNaN(at)) return 'unknown';
  if (at <= now) return 'past';
  return at - now <= soonMs ? 'soon' : 'valid';
}

export function accountsView(rows: readonly AccountRow[], now: number): Document {
  const columns = [
    { title: 'id' },
    { title: 'platform' },
    { title: 'name', least: 8 },
    { title: 'username', least: 8 },
    { title: 'expires' },
  ];
  const cells = rows.map(({ id, provider, name, username, expiresAt }) => [
    strong(id),
    platformName(provider),
    name,
    username === '' ? '' : `@${username.replace(/^@+/, '')}`,
    expiresCell(expiresAt, now),
  ]);
  return [table(columns, cells)];
}

function expiresCell(expiresAt: string | undefined, now: number): Text {
  const at = Date.parse(expiresAt ?? '');
  const expiry = expiryOf(expiresAt, now);
  switch (expiry) {
    case 'unknown':
      return '?';
    case 'past':
      return bad(`expired ${spanText(now - at)} ago`);
    case 'soon':
      return warning(`in ${spanText(at - now)}`);
    case 'valid':
      return `${new Date(at).toISOString().slice(0, 10)}`;
    default:
      return expiry satisfies never;
  }
}

export function accountsJson(rows: readonly AccountRow[], now: number): Json {
  return {
    mediabatch: 'accounts',
    version: 1,
    accounts: rows.map((row) => ({
      ...row,
      platform: platformName(row.provider),
      expiry: expiryOf(row.expiresAt, now),
    })),
  };
}
