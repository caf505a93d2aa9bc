import { canonicalJson, type Json } from '../ground/json.ts';
import { defined, isMap, mapOf, ownValue } from '../ground/values.ts';
import { envelope } from './envelope.ts';
import type { Kind } from './kind.ts';

/** Unit of a listed price. `unknown`: this version cannot read the listed unit. */
type ListedUnit = 'job' | { readonly seconds: number } | { readonly characters: number } | 'unknown';

/**
 * Facts that a service lists about a model. Malformed facts are omitted, because the list serves only for estimates.
 */
export interface ListedModel {
  /** Credits for each started unit of `per`, for a request with only default values. */
  credits?: number;
  per: ListedUnit;
  creditsBy: { readonly [field: string]: { readonly [value: string]: number } };
  ceiling?: number;
  allows: { readonly [field: string]: readonly string[] };
  defaults: { readonly [field: string]: string | number };
  isDeprecated?: true;
}

export interface ListedKind {
  models: { readonly [model: string]: ListedModel };
  defaults: { readonly [field: string]: string | number };
  values: { readonly [field: string]: readonly string[] };
  fields?: readonly string[];
  /** Set for the list of the sandbox. The sandbox accepts any model and charges for its own default model. */
  isSandbox?: true;
}

export type Listing = { readonly [kind: string]: ListedKind };

/** Maximum credits of a job. A larger price in a list or in another user's lock is treated as a mistake. */
export const mostCredits = 1_000_000;
const mostValues = 200;
const longestName = 200;
const { catalog: names } = envelope;

function readAmount(value: Json | undefined): number | undefined {
  const isDigits = typeof value === 'string' && /^[0-9]{1,7}(\.[0-9]{1,4})?$/.test(value);
  const amount = isDigits ? Number(value) : value;
  return typeof amount === 'number' && amount >= 0 && amount <= mostCredits ? amount : undefined;
}

function firstOf(map: Json | undefined, fields: readonly string[]): Json | undefined {
  return fields.map((field) => ownValue(mapOf(map), field)).find((one) => one != null);
}

export function readListedModel(facts: Json, kind: Kind | undefined): ListedModel {
  const listed = firstOf(facts, names.credits);
  const { credits, per } = readPrice(facts);
  const ceiling = positive(readAmount(firstOf(facts, names.ceiling)));
  const allows = { ...readLists(firstOf(facts, names.allowed)), ...readLists(facts) };
  const byField = bare(
    entriesOf(firstOf(facts, names.creditsBy)).map(([field, map]) => [field, readAmounts(map)] as const),
  );
  if (isMap(listed) && credits === undefined) {
    const amounts = readAmounts(listed);
    const field = fieldOf(amounts, { allows, kind });
    if (field !== undefined) byField[field] = amounts;
  }
  const creditsBy = bare(Object.entries(byField).filter(([, amounts]) => Object.keys(amounts).length > 0));
  return {
    per,
    creditsBy,
    allows: bare(Object.entries(allows)),
    defaults: readDefaults(facts),
    ...defined({ credits, ceiling }),
    ...(isMarkedDeprecated(facts) && { isDeprecated: true }),
  };
}

function isMarkedDeprecated(facts: Json): boolean {
  const { deprecated, state } = envelope.catalog;
  const stated = firstOf(facts, deprecated);
  const word = firstOf(facts, state);
  return stated === true || asValue(stated) !== undefined || (typeof word === 'string' && /^deprecated$/i.test(word));
}

/**
 * Reads a price and its unit. The unit may be a separate field, a part of the amount (`price: { amount: 2, unit: second
 * }`), or a part of the field's name (`creditsPerSecond: 2`). Without a unit, the price is for a job.
 */
function readPrice(facts: Json): { credits?: number; per: ListedUnit } {
  const listed = firstOf(facts, names.credits);
  const stated = [
    ...entriesOf(facts).flatMap(([name, value]) => unitsIn(name, value, isPriceField(name))),
    ...(isMap(listed) ? entriesOf(listed) : []).flatMap(([name, value]) => unitsIn(name, value, true)),
  ];
  const known = new Map(stated.map(({ unit }) => [canonicalJson(unit), unit]));
  const [per = 'job', ...others] = [...known.values()].filter((unit) => unit !== 'job');
  const [rate, ...rates] = stated.flatMap(({ rate: one }) => one ?? []);
  if (others.length + rates.length > 0 || (rate !== undefined && known.size > 1)) return { per: 'unknown' };
  const credits = positive(readAmount(rate ?? firstOf(listed, names.amount) ?? listed));
  return { per, ...defined({ credits }) };
}

const longestUnit = 40;
const rateForm = /^(?:(?:credits?|cost|price)_?)*per_?([a-z0-9_]+)$/i;
const inText =
  /(?<!\bframes? )\bper[ _-]((?:\d[\d,]*k? |thousand )?(?:second|sec|minute|min|hour|char|character|word|token|megapixel)s?)\b/i;

function unitsIn(name: string, value: Json, isPrice: boolean): { unit: ListedUnit; rate?: Json }[] {
  const amounts: readonly string[] = [...names.credits, ...names.creditsBy, ...names.ceiling, ...names.amount];
  if (value === null || value === false || amounts.includes(name)) return [];
  if (names.per.some((one) => one === name)) return [{ unit: readUnit(value) }];
  const [, unit] = rateForm.exec(name) ?? [];
  if (unit !== undefined) return [{ unit: readUnit(spaced(unit)), ...(value !== true && { rate: value }) }];
  if (/per_?credit$/i.test(name) || (isPrice && isMap(value))) return [{ unit: 'unknown' }];
  if (typeof value !== 'string' || readAmount(value) !== undefined) return [];
  const found = inText.exec(value)?.[1] ?? (isPrice && value.length <= longestUnit ? value : undefined);
  return found === undefined ? [] : [{ unit: readUnit(found) }];
}

function isPriceField(name: string): boolean {
  return /\b(rate$|(credit|cost|price|charge|bill|meter)s?\b|(pric|charg|bill|meter)(ing|ed)\b)/.test(
    spaced(name).toLowerCase(),
  );
}

function spaced(name: string): string {
  return name.replace(/([a-z])([A-Z0-9])|([0-9])([A-Za-z])/g, '$1$3 $2$4').replaceAll('_', ' ');
}

export function asValue(value: Json | undefined): string | number | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value.length <= longestName) ? value : undefined;
}

/** Makes a map without a prototype, so that a key from a service (such as `__proto__`) is only data. */
export function bare<Value>(entries: readonly (readonly [string, Value])[]): { [key: string]: Value } {
  return Object.assign(Object.create(null) as { [key: string]: Value }, Object.fromEntries(entries));
}

/** Returns a price above 0. A listed price of 0 is ignored, because it does not guarantee a free job. */
function positive(amount: number | undefined): number | undefined {
  return amount === undefined || amount <= 0 ? undefined : amount;
}

function readAmounts(map: Json | undefined): { [value: string]: number } {
  const amounts = entriesOf(map).flatMap(([value, cost]) => {
    const amount = positive(readAmount(cost));
    return amount === undefined ? [] : [[value, amount] as const];
  });
  return bare(amounts);
}

function readLists(map: Json | undefined): { [field: string]: readonly string[] } {
  const lists = entriesOf(map).flatMap(([field, values]) => {
    if (!Array.isArray(values)) return [];
    const allowed = values.slice(0, mostValues).flatMap((one) => asValue(one) ?? []);
    return allowed.length === 0 ? [] : [[field, allowed.map(String)] as const];
  });
  return bare(lists);
}

function readDefaults(facts: Json): { [field: string]: string | number } {
  const defaults = entriesOf(facts).flatMap(([name, setting]) => {
    const [, head, rest = ''] = /^default([A-Z])([A-Za-z0-9]*)$/.exec(name) ?? [];
    const value = asValue(setting);
    return head === undefined || value === undefined ? [] : [[`${head.toLowerCase()}${rest}`, value] as const];
  });
  return bare(defaults);
}

function fieldOf(
  amounts: { readonly [value: string]: number },
  { allows, kind }: { allows: { readonly [field: string]: readonly string[] }; kind: Kind | undefined },
): string | undefined {
  const values = Object.keys(amounts);
  const listed = Object.keys(allows).filter((field) => values.every((value) => allows[field]?.includes(value)));
  if (listed.length === 1) return listed[0];
  return kind === undefined || kind.pricedBy === 'all' ? undefined : kind.pricedBy[0];
}

function entriesOf(map: Json | undefined): [string, Json][] {
  return Object.entries(mapOf(map))
    .filter(([name]) => name.length <= longestName)
    .slice(0, mostValues);
}

const words: { readonly [word: string]: ListedUnit } = {
  ...named('job', ['job', 'request', 'generation', 'call', 'creation', 'run']),
  ...named('job', ['flat', 'fixed', 'image', 'video', 'song', 'track', 'thumbnail', 'voiceover']),
  ...named({ seconds: 1 }, ['second', 'sec', 's']),
  ...named({ seconds: 60 }, ['minute', 'min']),
  ...named({ seconds: 3600 }, ['hour', 'hr', 'h']),
  ...named({ characters: 1 }, ['character', 'char']),
};

function unitText(unit: ListedUnit): string {
  if (typeof unit === 'string') return unit;
  const [count, word] = 'seconds' in unit ? [unit.seconds, 'second'] : [unit.characters, 'character'];
  return count === 1 ? word : `${count} ${word}s`;
}

/** Parses a unit such as `second`, `per_second`, `1000 characters` or `1k chars`. */
function readUnit(text: Json): ListedUnit {
  if (typeof text !== 'string') return 'unknown';
  const plain = text
    .trim()
    .toLowerCase()
    .replace(/[\s_/-]+/g, ' ')
    .trim()
    .replace(/^credits? ?/, '')
    .replace(/^(?:per|for|each|every) /, '')
    .replace(/^an? /, '');
  if (plain === '') return 'job';
  const [, digits, thousand, word = ''] = /^(\d{1,7}|\d{1,3},\d{3})? ?(k |thousand )?([a-z]+)$/.exec(plain) ?? [];
  const single = word.length > 1 ? word.replace(/s$/, '') : word;
  const unit = Object.hasOwn(words, single) ? words[single] : undefined;
  const count = (digits === undefined ? 1 : Number(digits.replace(',', ''))) * (thousand === undefined ? 1 : 1000);
  return unit === undefined ? 'unknown' : times(unit, count);
}

function times(unit: ListedUnit, count: number): ListedUnit {
  const isCount = Number.isFinite(count) && count > 0 && count <= 10_000_000;
  if (!isCount || unit === 'unknown') return 'unknown';
  if (unit === 'job') return count === 1 ? 'job' : 'unknown';
  return 'seconds' in unit ? { seconds: unit.seconds * count } : { characters: unit.characters * count };
}

function named(unit: ListedUnit, list: readonly string[]): { [word: string]: ListedUnit } {
  return Object.fromEntries(list.map((word) => [word, unit]));
}

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
    const known = Object.values(kinds).filter((kind) => Object.hasOwn(kind.model?.models ?? {}, model));
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
