import type { Json } from '../json.ts';
import type { Kind, Model } from './kind.ts';

/** A request body, rendered or with references still open. */
type Body = { readonly [field: string]: Json };

/**
 * Names what the price of a request depends on: `image/alpha-2/resolution=2k`. Requests of one class cost the same.
 * Defaults are filled in where the model is known to have them; an alias stays what it is, because the service does
 * not say that it costs the same.
 */
export function priceClass(kind: Kind, request: Body): string {
  const model = modelName(kind, request);
  const parts = [kind.name, model];
  for (const field of kind.pricedBy) {
    const value = ownValue(request, field) ?? defaultFor(kind, model, field);
    if (value !== undefined && value !== null) parts.push(`${field}=${asText(value)}`);
  }
  return parts.join('/');
}

/** Credits per job as the service documents them; `undefined` where it does not, which is not the same as free. */
export function documentedCredits(kind: Kind, request: Body): number | undefined {
  return modelOf(kind, modelName(kind, request))?.credits;
}

/** The entry of a model, and nothing for `constructor` and the like. */
export function modelOf(kind: Kind, name: string): Model | undefined {
  return Object.hasOwn(kind.model.models, name) ? kind.model.models[name] : undefined;
}

function modelName(kind: Kind, request: Body): string {
  const value = ownValue(request, kind.model.field);
  return value === undefined || value === null ? kind.model.default : asText(value);
}

/** A default counts only when the model is documented to take it. */
function defaultFor(kind: Kind, model: string, field: string): string | undefined {
  const value = kind.fields[field]?.default;
  if (value === undefined) return undefined;
  return modelOf(kind, model)?.allows?.[field]?.includes(value) === true ? value : undefined;
}

function ownValue(request: Body, field: string): Json | undefined {
  return Object.hasOwn(request, field) ? request[field] : undefined;
}

function asText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
