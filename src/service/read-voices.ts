import type { Json } from '../ground/json.ts';
import { defined } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { readAt, readText } from './fields.ts';

export interface Voice {
  id: string;
  label: string;
  description: string;
  gender: string;
  accent: string;
  previewUrl?: string;
}

export interface Account {
  id: string;
  /** Name of the platform; `google` means YouTube. */
  provider: string;
  name: string;
  username: string;
  /** Date in ISO 8601. */
  expiresAt?: string;
}

export function readVoices(json: Json): Voice[] {
  return listIn(json, envelope.voices.lists).flatMap((voice): Voice[] => {
    const id = readText(voice, 'id');
    if (id === undefined) return [];
    const previewUrl = readText(voice, 'previewUrl');
    return [
      {
        id,
        label: readText(voice, 'label') ?? id,
        description: readText(voice, 'description') ?? '',
        gender: readText(voice, 'gender') ?? '',
        accent: readText(voice, 'accent') ?? '',
        ...defined({ previewUrl }),
      },
    ];
  });
}

export function readAccounts(json: Json): Account[] {
  return readAccountList(json).accounts;
}

/**
 * `isWhole`: every account could be read, and no page follows; only then is a missing account proof that it does not
 * exist.
 */
export function readAccountList(json: Json): { accounts: Account[]; isWhole: boolean } {
  const { accounts: names } = envelope;
  const list = listIn(json, names.lists);
  const accounts = list.flatMap((account): Account[] => {
    const found = readAt(account, 'id');
    const id = typeof found === 'number' ? String(found) : readText(account, 'id');
    if (id === undefined) return [];
    const expiresAt = readText(account, 'expiresAt');
    return [
      {
        id,
        provider: readText(account, 'provider') ?? '',
        name: readText(account, names.name) ?? '',
        username: readText(account, names.username) ?? '',
        ...defined({ expiresAt }),
      },
    ];
  });
  return { accounts, isWhole: accounts.length === list.length && readAt(json, envelope.page.hasNext) !== true };
}

function listIn(json: Json, names: readonly string[]): readonly Json[] {
  if (Array.isArray(json)) return json;
  for (const name of names) {
    const list = readAt(json, name);
    if (Array.isArray(list)) return list;
  }
  return [];
}
