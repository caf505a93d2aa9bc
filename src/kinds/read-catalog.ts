import type { Json } from '../ground/json.ts';
import { defined, isMap, ownValue } from '../ground/values.ts';
import { envelope } from './envelope.ts';
import type { Kind } from './kind.ts';
import { bare, type ListedModel, type Listing, readListedModel, readPrice, unitText } from './listed-model.ts';
import { modelOf } from './price.ts';

export interface CatalogModel {
  model: string;
  kind?: string;
  /** Credits of one job with default values, or of each started unit in `per`. */
  credits?: number;
  per?: string;
  aliasOf?: string;
  description?: string;
}

const mostModels = 2000;
const { catalog: names } = envelope;

export function readCatalog(json: Json): CatalogModel[] {
  return findEntries(json).map(({ model, kind, facts }) => {
    const { credits, per } = readPrice(facts);
    const aliasOf = textOf(facts, ['aliasOf']);
    const description = textOf(facts, names.description);
    return {
      model,
      ...(kind !== undefined && { kind: kind.toLowerCase() }),
      ...defined({ credits }),
      ...(credits !== undefined && per !== 'job' && { per: per === 'unknown' ? '?' : unitText(per) }),
      ...defined({ aliasOf, description }),
    };
  });
}

/**
 * Reads the models of a catalog response, by kind. A model without a kind belongs to the kind that documents it, if
 * only one does.
 */
export function readCatalogListing(json: Json, kinds: Readonly<Record<string, Kind>>): Listing {
  const models = new Map<string, [string, ListedModel][]>();
  for (const { model, kind: word, facts } of findEntries(json)) {
    const known = Object.values(kinds).filter((kind) => modelOf(kind, model) !== undefined);
    const name = word === undefined ? (known.length === 1 ? known[0]?.name : undefined) : kindName(word, kinds);
    if (name === undefined || !Object.hasOwn(kinds, name)) continue;
    models.set(name, [...(models.get(name) ?? []), [model, readListedModel(facts, kinds[name])]]);
  }
  return bare([...models].map(([kind, list]) => [kind, { models: bare(list), defaults: {}, values: {} }] as const));
}

/** Returns the kind for a word such as `IMAGE`, `Image` or `images`. */
export function kindName(word: string, kinds: Readonly<Record<string, unknown>>): string {
  const name = word.toLowerCase();
  if (Object.hasOwn(kinds, name)) return name;
  const single = name.replace(/s$/, '');
  return Object.hasOwn(kinds, single) ? single : name;
}

interface Entry {
  model: string;
  kind: string | undefined;
  facts: Json;
}

function findEntries(json: Json): Entry[] {
  const found: Entry[] = [];
  const visit = (value: Json, kind: string | undefined, depth: number): void => {
    if (depth > 6 || found.length >= mostModels) return;
    if (Array.isArray(value)) {
      for (const item of value) {
        // An entry that contains models is a group of models.
        const isGroup = names.lists.some((name) => Array.isArray(ownValue(item, name)));
        const model = isGroup || !isMap(item) ? undefined : textOf(item, names.model);
        if (model === undefined) visit(item, isGroup ? (textOf(item, names.model) ?? kind) : kind, depth + 1);
        else if (found.length < mostModels) found.push({ model, kind: textOf(item, names.kind) ?? kind, facts: item });
      }
      return;
    }
    for (const [key, item] of Object.entries(isMap(value) ? value : {})) {
      // Some catalogs are maps of lists by kind, for example { image: [ … ] }.
      const inner = names.lists.some((name) => name === key) ? kind : key;
      if (item !== null && typeof item === 'object') visit(item, inner, depth + 1);
    }
  };
  visit(json, undefined, 0);
  return found;
}

function textOf(value: Json, fields: readonly string[]): string | undefined {
  for (const name of fields) {
    const found = isMap(value) ? ownValue(value, name) : undefined;
    if (typeof found === 'string' && found !== '') return found.slice(0, 500);
  }
  return undefined;
}
