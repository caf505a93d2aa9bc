import type { Json } from '../../ground/json.ts';
import { spanText } from '../numbers.ts';
import type { Style } from '../style.ts';
import { tableText } from './table.ts';

/** A connected social account. */
export interface AccountRow {
  /** The value for `accountIds` of a post. */
  id: string;
  /** The service's name for it; `google` is YouTube. */
  provider: string;
  /** Empty when the service states none. */
  name: string;
  username: string;
  /** ISO 8601. After it the account has to be reconnected. */
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

/** Common name of the provider; an unknown one keeps the service's name. */
export function platformName(provider: string): string {
  const word = provider.toLowerCase();
  return Object.hasOwn(platforms, word) ? (platforms[word] ?? provider) : provider;
}

export type Expiry = 'unknown' | 'valid' | 'soon' | 'past';

const soonMs = 7 * 86_400_000;

export function expiryOf(expiresAt: string | undefined, now: number): Expiry {
  const at = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt);
  if (Number.isNaN(at)) return 'unknown';
  if (at <= now) return 'past';
  return at - now <= soonMs ? 'soon' : 'valid';
}

export function accountsText(
  rows: readonly AccountRow[],
  options: { style: Style; width?: number; now: number },
): string {
  const columns = [
    { title: 'id' },
    { title: 'platform' },
    { title: 'name', least: 8 },
    { title: 'username', least: 8 },
    { title: 'expires' },
  ];
  const cells = rows.map(({ id, provider, name, username, expiresAt }) => [
    { text: id, paint: options.style.bold },
    platformName(provider),
    name,
    username === '' ? '' : `@${username.replace(/^@+/, '')}`,
    expiresCell(expiresAt, options),
  ]);
  return tableText(columns, cells, options);
}

function expiresCell(
  expiresAt: string | undefined,
  { now, style }: { now: number; style: Style },
): string | { text: string; paint(text: string): string } {
  const at = Date.parse(expiresAt ?? '');
  const expiry = expiryOf(expiresAt, now);
  switch (expiry) {
    case 'unknown':
      return '?';
    case 'past':
      return { text: `expired ${spanText(now - at)} ago`, paint: style.red };
    case 'soon':
      return { text: `in ${spanText(at - now)}`, paint: style.yellow };
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
