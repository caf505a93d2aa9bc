import type { Json } from '../ground/json.ts';
import { ownValue } from '../ground/values.ts';
import type { Kind, Model } from './kind.ts';

type Body = { [field: string]: Json };

/**
 * Returns the price class of a request, for example `image/alpha-2/resolution=2k`. It contains all values that
 * determine the price. Requests of one class cost the same. Documented defaults of the model are included. An alias
 * stays as written, because the documentation does not state that it costs the same.
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
 * Returns the parts of an undocumented price: every value except free texts and links, and the length of each free
 * text, rounded up to a power of two.
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

export function defaultFor(kind: Kind, model: string, field: string): string | undefined {
  const value = kind.fields[field]?.default;
  if (value === undefined) return undefined;
  return modelOf(kind, model)?.allows?.[field]?.includes(value) === true ? value : undefined;
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Returns a request without the documented defaults that apply to every model. Requests with and without such a value
 * are the same purchase and are sent as the same bytes. Other values do not change.
 */
export function dropDefaults(kind: Kind | undefined, request: Body): Body {
  const names = Object.keys(request).filter((name) => request[name] === defaultOf(kind, name));
  if (names.length === 0) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

export function meantValue(kind: Kind | undefined, name: string, request: Body): Json | undefined {
  const value = ownValue(request, name);
  return value === undefined ? defaultOf(kind, name) : value;
}

function defaultOf(kind: Kind | undefined, name: string): string | undefined {
  if (kind === undefined || !Object.hasOwn(kind.fields, name)) return undefined;
  const models = Object.values(kind.model?.models ?? {});
  return models.some(({ allows = {} }) => Object.hasOwn(allows, name)) ? undefined : kind.fields[name]?.default;
}
