import type { Json } from '../ground/json.ts';
import { ownValue } from '../ground/values.ts';
import type { Kind } from './kind.ts';
import type { ListedKind, ListedModel, Listing } from './listed-model.ts';
import { defaultFor, modelName } from './price.ts';

type Body = { readonly [field: string]: Json };

interface ListPrice {
  low: number;
  likely: number;
  high?: number;
}

/**
 * Estimates the price of a request in whole credits, from the service's lists. Only a listed ceiling is a limit for the
 * charge. Returns `undefined` if the lists have no price, or if the request does not determine the number of units.
 */
export function listPrice(kind: Kind, request: Body, listings: readonly Listing[]): ListPrice | undefined {
  const prices = listings.flatMap((listing) => {
    const listed = Object.hasOwn(listing, kind.name) ? listing[kind.name] : undefined;
    return listed === undefined ? [] : (priceIn(listed, kind, request) ?? []);
  });
  if (prices.length === 0) return undefined;
  const likely = Math.max(...prices.map((price) => price.likely));
  const ceilings = prices.flatMap(({ high }) => high ?? []);
  return {
    low: Math.min(...prices.map(({ low }) => low)),
    likely,
    // A price in one list may exceed the maximum in another list.
    ...(ceilings.length > 0 && { high: Math.max(likely, ...ceilings) }),
  };
}

export function highestListed(kind: Kind, request: Body, listings: readonly Listing[]): number | undefined {
  const field = kind.model?.field ?? 'model';
  const prices = listings.flatMap((listing) => {
    const listed = Object.hasOwn(listing, kind.name) ? listing[kind.name] : undefined;
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
  // Counted in UTF-16 units. No service counts more units per character.
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
