import type { Json } from '../ground/json.ts';
import { readRecord } from './fields.ts';

/** A voice as the service lists it. */
export interface Voice {
  id: string;
  label: string;
  description: string;
  gender: string;
  accent: string;
  previewUrl?: string;
}

/** A connected social account. */
export interface Account {
  id: string;
  /** `google` means YouTube. */
  provider: string;
  name: string;
  username: string;
  /** ISO 8601. */
  expiresAt?: string;
}

/** A model as the service's catalog lists it. The shape is not documented: only what could be read is here. */
export interface CatalogModel {
  model: string;
  kind?: string;
  /** Per job, with nothing but defaults. */
  credits?: number;
  aliasOf?: string;
  description?: string;
}

export function readVoices(json: Json): Voice[] {
  return listIn(json, ['voices', 'data']).flatMap((item): Voice[] => {
    const voice = readRecord(item);
    const id = textOf(voice?.id);
    if (voice === undefined || id === undefined) return [];
    const previewUrl = textOf(voice.previewUrl);
    return [
      {
        id,
        label: textOf(voice.label) ?? id,
        description: textOf(voice.description) ?? '',
        gender: textOf(voice.gender) ?? '',
        accent: textOf(voice.accent) ?? '',
        ...(previewUrl !== undefined && { previewUrl }),
      },
    ];
  });
}

export function readAccounts(json: Json): Account[] {
  return listIn(json, ['data', 'accounts']).flatMap((item): Account[] => {
    const account = readRecord(item);
    const id = textOf(account?.id);
    if (account === undefined || id === undefined) return [];
    const expiresAt = textOf(account.expiresAt);
    return [
      {
        id,
        provider: textOf(account.provider) ?? '',
        name: textOf(account.accountName) ?? '',
        username: textOf(account.accountUsername) ?? '',
        ...(expiresAt !== undefined && { expiresAt }),
      },
    ];
  });
}

const mostModels = 2000;
/** Names of lists that say nothing about what is in them. */
const innerNames = ['data', 'models', 'catalog', 'items'];

/** Any list of objects with a key, at any place that people would put one. */
export function readCatalog(json: Json): CatalogModel[] {
  const found: CatalogModel[] = [];
  const visit = (value: Json, kind: string | undefined, depth: number): void => {
    if (depth > 6 || found.length >= mostModels) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        const record = readRecord(item);
        // An entry that holds models is a group of them.
        const isGroup = innerNames.some((name) => Array.isArray(record?.[name]));
        const model = isGroup ? undefined : readModel(item, kind);
        if (model === undefined) visit(item, isGroup ? (nameOf(record) ?? kind) : kind, depth + 1);
        else if (found.length < mostModels) found.push(model);
      }
      return;
    }
    for (const [key, item] of Object.entries(readRecord(value) ?? {})) {
      // A map of lists by kind, as in { image: [ … ] }.
      const inner = innerNames.includes(key) ? kind : key;
      if (item !== null && typeof item === 'object') visit(item, inner, depth + 1);
    }
  };
  visit(json, undefined, 0);
  return found;
}

function readModel(item: Json, around: string | undefined): CatalogModel | undefined {
  const record = readRecord(item);
  const model = nameOf(record);
  if (record === undefined || model === undefined) return undefined;
  const kind = textOf(record.kind) ?? textOf(record.type) ?? around;
  const isPerJob = record.per === undefined || record.per === null || record.per === 'job';
  const credits = [record.credits, record.cost, record.price, record.creditCost].find(
    (value): value is number => isPerJob && typeof value === 'number' && Number.isFinite(value) && value >= 0,
  );
  const aliasOf = textOf(record.aliasOf);
  const description = textOf(record.description) ?? textOf(record.label);
  return {
    model,
    ...(kind !== undefined && { kind: kind.toLowerCase() }),
    ...(credits !== undefined && { credits }),
    ...(aliasOf !== undefined && { aliasOf }),
    ...(description !== undefined && { description }),
  };
}

function nameOf(record: { [key: string]: Json } | undefined): string | undefined {
  return textOf(record?.key) ?? textOf(record?.model) ?? textOf(record?.id) ?? textOf(record?.name);
}

function listIn(json: Json, names: readonly string[]): readonly Json[] {
  if (Array.isArray(json)) return json;
  const body = readRecord(json);
  for (const name of names) {
    const list = body?.[name];
    if (Array.isArray(list)) return list;
  }
  return [];
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, 500) : undefined;
}
