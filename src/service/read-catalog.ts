import type { Json } from '../ground/json.ts';
import { isMap } from '../ground/values.ts';
import { envelope } from '../kinds/envelope.ts';
import { readAt, readText } from './fields.ts';

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

/** A model as the service's catalog lists it. The shape is undocumented: only readable fields are here. */
export interface CatalogModel {
  model: string;
  kind?: string;
  /** Per job, with default parameters. */
  credits?: number;
  aliasOf?: string;
  description?: string;
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
        ...(previewUrl !== undefined && { previewUrl }),
      },
    ];
  });
}

export function readAccounts(json: Json): Account[] {
  const { accounts: names } = envelope;
  return listIn(json, names.lists).flatMap((account): Account[] => {
    const id = readText(account, 'id');
    if (id === undefined) return [];
    const expiresAt = readText(account, 'expiresAt');
    return [
      {
        id,
        provider: readText(account, 'provider') ?? '',
        name: readText(account, names.name) ?? '',
        username: readText(account, names.username) ?? '',
        ...(expiresAt !== undefined && { expiresAt }),
      },
    ];
  });
}

const mostModels = 2000;
const { catalog: names } = envelope;

/** Finds any list of objects with a key, in any usual place. */
export function readCatalog(json: Json): CatalogModel[] {
  const found: CatalogModel[] = [];
  const visit = (value: Json, kind: string | undefined, depth: number): void => {
    if (depth > 6 || found.length >= mostModels) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        // An entry that holds models is a group of them.
        const isGroup = names.lists.some((name) => Array.isArray(readAt(item, name)));
        const model = isGroup ? undefined : readModel(item, kind);
        if (model === undefined) visit(item, isGroup ? (nameOf(item) ?? kind) : kind, depth + 1);
        else if (found.length < mostModels) found.push(model);
      }
      return;
    }
    for (const [key, item] of Object.entries(isMap(value) ? value : {})) {
      // A map of lists by kind, as in { image: [ … ] }.
      const inner = names.lists.some((name) => name === key) ? kind : key;
      if (item !== null && typeof item === 'object') visit(item, inner, depth + 1);
    }
  };
  visit(json, undefined, 0);
  return found;
}

function readModel(item: Json, around: string | undefined): CatalogModel | undefined {
  const model = nameOf(item);
  if (model === undefined) return undefined;
  const kind = readText(item, names.kind) ?? around;
  const per = readAt(item, 'per') ?? 'job';
  const credits = names.credits
    .map((name) => readAt(item, name))
    .find(
      (value): value is number => per === 'job' && typeof value === 'number' && Number.isFinite(value) && value >= 0,
    );
  const aliasOf = readText(item, 'aliasOf');
  const description = readText(item, names.description);
  return {
    model,
    ...(kind !== undefined && { kind: kind.toLowerCase() }),
    ...(credits !== undefined && { credits }),
    ...(aliasOf !== undefined && { aliasOf }),
    ...(description !== undefined && { description }),
  };
}

function nameOf(item: Json): string | undefined {
  return readText(item, names.model);
}

function listIn(json: Json, names: readonly string[]): readonly Json[] {
  if (Array.isArray(json)) return json;
  for (const name of names) {
    const list = readAt(json, name);
    if (Array.isArray(list)) return list;
  }
  return [];
}
