import type { Json } from '../ground/json.ts';
import { ownValue } from '../ground/values.ts';
import type { Kind, Model } from './kind.ts';
import type { ListedKind, ListedModel, Listing } from './listed-model.ts';

type Body = { readonly [field: string]: Json };

/**
 * Returns the price class of a request, for example `image/alpha-2/resolution=2k`. The class contains all values that
 * determine the price, including documented defaults of the model. Requests of one class cost the same. An alias of a
 * model has its own class, because its price may differ.
 */
export function priceClass(kind: Kind, request: Body): string {
  const model = modelName(kind, request);
  const parts = model === undefined ? [kind.name] : [kind.name, model];
  return [...parts, ...(kind.pricedBy === 'all' ? everyPart(kind, request) : documentedParts(kind, request))].join('/');
}

/** Returns the documented credits per job. `undefined` means that the price is unknown, not that the job is free. */
export function documentedCredits(kind: Kind, request: Body): number | undefined {
  if (kind.free === true) return 0;
  const model = modelName(kind, request);
  return model === undefined ? undefined : modelOf(kind, model)?.credits;
}

export function modelOf(kind: Kind, name: string): Model | undefined {
  const models = kind.model?.models;
  return models !== undefined && Object.hasOwn(models, name) ? models[name] : undefined;
}

export function modelName(kind: Kind, request: Body): string | undefined {
  const value = ownValue(request, kind.model?.field ?? 'model');
  const fallback = kind.model?.default;
  if (value === undefined || value === null) return fallback;
  const name = asText(value);
  // A documented alias of the default model, for example `song-9` for `auto`, is the same model.
  return fallback !== undefined && modelOf(kind, fallback)?.aliasOf === name ? fallback : name;
}

function documentedParts(kind: Kind, request: Body): string[] {
  if (kind.pricedBy === 'all') return [];
  const model = modelName(kind, request) ?? '';
  return kind.pricedBy.flatMap((field) => {
    const value = ownValue(request, field) ?? defaultFor(kind, model, field);
    return value === undefined || value === null ? [] : [`${field}=${asText(value)}`];
  });
}

/**
 * Returns the parts of an undocumented price class: every value except free texts and links, and the length of each
 * free text, rounded up to a power of two.
 */
function everyPart(kind: Kind, request: Body): string[] {
  return Object.keys(request)
    .sort()
    .flatMap((name) => {
      const value = request[name];
      const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
      if (value === undefined || value === null || name === (kind.model?.field ?? 'model')) return [];
      if (field?.url === true || field?.priced === false) return [];
      if (typeof value === 'number' || typeof value === 'boolean') return [`${name}=${value}`];
      if (typeof value !== 'string') return [];
      if (/^https?:\/\//i.test(value)) return [];
      const isText = field?.free === true || value.length > 40 || /\s/.test(value);
      return [isText ? `${name}~${2 ** Math.ceil(Math.log2(Math.max(16, value.length)))}` : `${name}=${value}`];
    });
}

function defaultFor(kind: Kind, model: string, field: string): string | undefined {
  const value = kind.fields[field]?.default;
  if (value === undefined) return undefined;
  return modelOf(kind, model)?.allows?.[field]?.includes(value) === true ? value : undefined;
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns a request without the documented defaults that apply to every model. Requests with and without a default
 * value are the same purchase and are sent as the same bytes.
 */
export function dropDefaults(kind: Kind | undefined, request: Body): Body {
  const names = Object.keys(request).filter((name) => request[name] === defaultOf(kind, name));
  if (names.length === 0) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

export function defaultedValue(kind: Kind | undefined, name: string, request: Body): Json | undefined {
  const value = ownValue(request, name);
  return value === undefined ? defaultOf(kind, name) : value;
}

function defaultOf(kind: Kind | undefined, name: string): string | undefined {
  if (kind === undefined || !Object.hasOwn(kind.fields, name)) return undefined;
  const models = Object.values(kind.model?.models ?? {});
  return models.some(({ allows = {} }) => Object.hasOwn(allows, name)) ? undefined : kind.fields[name]?.default;
}

interface ListPrice {
  low: number;
  likely: number;
  high?: number;
}

/**
 * Estimates the price of a request in whole credits, from the service's lists. The charge may exceed the estimate, but
 * not a listed ceiling. Returns `undefined` if the lists have no price, or if the request does not determine the number
 * of units.
 */
export function listPrice(kind: Kind, request: Body, listings: readonly Listing[]): ListPrice | undefined {
  const prices = listings.flatMap((listing) => {
    const listed = listing[kind.name];
    return listed === undefined ? [] : (priceIn(listed, kind, request) ?? []);
  });
  if (prices.length === 0) return undefined;
  const likely = Math.max(...prices.map((price) => price.likely));
  const ceilings = prices.flatMap(({ high }) => high ?? []);
  return {
    low: Math.min(...prices.map(({ low }) => low)),
    likely,
    // The price in one list may exceed the maximum price in another list.
    ...(ceilings.length > 0 && { high: Math.max(likely, ...ceilings) }),
  };
}

export function highestListed(kind: Kind, request: Body, listings: readonly Listing[]): number | undefined {
  const field = kind.model?.field ?? 'model';
  const prices = listings.flatMap((listing) => {
    const listed = listing[kind.name];
    if (listed === undefined) return [];
    return Object.keys(listed.models).flatMap((model) => priceIn(listed, kind, { ...request, [field]: model }) ?? []);
  });
  return prices.length === 0 ? undefined : Math.max(...prices.map(({ likely, high }) => high ?? likely));
}

function priceIn(listed: ListedKind, kind: Kind, request: Body): ListPrice | undefined {
  const { models, defaults } = listed;
  const name = modelName(kind, request) ?? modelOfDefaults(listed, kind);
  const known = name !== undefined && Object.hasOwn(models, name) ? name : undefined;
  const model = models[known ?? (listed.isSandbox && modelOfDefaults(listed, kind)) ?? ''];
  if (name === undefined || model === undefined) return undefined;
  const valueFor = (field: string): Json | undefined =>
    ownValue(request, field) ??
    model.defaults[field] ??
    (Object.hasOwn(defaults, field) ? defaults[field] : undefined) ??
    defaultFor(kind, name, field);
  const rates = ratesOf(model, valueFor);
  const units = unitsOf(model, { kind, request, valueFor });
  if (rates === undefined || units === undefined) return undefined;
  const [low, likely] = [Math.ceil(rates.low * units), Math.ceil(rates.likely * units)];
  const { ceiling } = model;
  // A ceiling below the price is ignored.
  return { low, likely, ...(ceiling !== undefined && ceiling >= likely && { high: Math.ceil(ceiling) }) };
}

function modelOfDefaults({ models, defaults }: ListedKind, kind: Kind): string | undefined {
  const field = kind.model?.field ?? 'model';
  const listed = Object.hasOwn(defaults, field) ? defaults[field] : undefined;
  const [only, ...others] = Object.keys(models);
  return typeof listed === 'string' ? listed : others.length === 0 ? only : undefined;
}

function ratesOf(
  { credits, creditsBy }: ListedModel,
  valueFor: (field: string) => Json | undefined,
): { low: number; likely: number } | undefined {
  const amounts = Object.entries(creditsBy).map(([field, byValue]) => {
    const value = valueFor(field);
    const key = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    const found = key !== undefined && Object.hasOwn(byValue, key) ? byValue[key] : undefined;
    const all = Object.values(byValue);
    return found === undefined ? { low: Math.min(...all), likely: Math.max(...all) } : { low: found, likely: found };
  });
  if (amounts.length === 0) return credits === undefined ? undefined : { low: credits, likely: credits };
  return {
    low: Math.min(...amounts.map(({ low }) => low)),
    likely: Math.max(...amounts.map(({ likely }) => likely)),
  };
}

function unitsOf(
  { per }: ListedModel,
  of: { kind: Kind; request: Body; valueFor: (field: string) => Json | undefined },
): number | undefined {
  if (per === 'job') return 1;
  if (per === 'unknown') return undefined;
  if ('seconds' in per) {
    const seconds = readSeconds(of.valueFor('duration'));
    return seconds === undefined ? undefined : Math.ceil(seconds / per.seconds);
  }
  const text = mainText(of.kind, of.request);
  // The length of a text is counted in UTF-16 units: no service counts more units per character.
  return text === undefined ? undefined : Math.max(1, Math.ceil(text.length / per.characters));
}

function readSeconds(value: Json | undefined): number | undefined {
  const [, digits] = typeof value === 'string' ? (/^(\d{1,5}(?:\.\d{1,3})?) ?s?$/.exec(value) ?? []) : [];
  const seconds = digits === undefined ? value : Number(digits);
  return typeof seconds === 'number' && seconds > 0 && seconds <= 86_400 ? seconds : undefined;
}

function mainText({ fields }: Kind, request: Body): string | undefined {
  const name = Object.keys(fields).find((field) => fields[field]?.free === true);
  const text = name === undefined ? undefined : ownValue(request, name);
  return typeof text === 'string' ? text : undefined;
}
