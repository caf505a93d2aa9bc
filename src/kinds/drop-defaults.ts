import type { Json } from '../ground/json.ts';
import { ownValue } from '../ground/values.ts';
import type { Kind } from './kind.ts';

type Body = { [field: string]: Json };

/**
 * Returns a request without the values that the service documents as its defaults for every model. Requests with and
 * without these values are the same purchase and are sent as the same bytes. Every other value is sent as written,
 * because a default of only most models, or another name of the default model, may change its meaning.
 */
export function dropDefaults(kind: Kind | undefined, request: Body): Body {
  const names = Object.keys(request).filter((name) => request[name] === defaultOf(kind, name));
  if (names.length === 0) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

/** Returns the value of a field in a request, or its documented default. */
export function meantValue(kind: Kind | undefined, name: string, request: Body): Json | undefined {
  const value = ownValue(request, name);
  return value === undefined ? defaultOf(kind, name) : value;
}

/** Returns a default that is valid for every model, which means that no model has its own values for the field. */
function defaultOf(kind: Kind | undefined, name: string): string | undefined {
  if (kind === undefined || !Object.hasOwn(kind.fields, name)) return undefined;
  const models = Object.values(kind.model?.models ?? {});
  return models.some(({ allows = {} }) => Object.hasOwn(allows, name)) ? undefined : kind.fields[name]?.default;
}
