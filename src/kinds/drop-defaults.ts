import type { Json } from '../ground/json.ts';
import { ownValue } from '../ground/values.ts';
import type { Kind } from './kind.ts';
import { defaultFor, modelName } from './price.ts';

type Body = { [field: string]: Json };

/**
 * Leaves out what a request says and would mean without saying it, as the service documents its defaults: so it is the same
 * purchase, and the same bytes, however much of that is written out. The very request where there is nothing to leave out.
 *
 * A model that another one is mapped to is not left out for it: that they are charged alike is not documented, and the
 * values that they allow differ. The one exception is the default model itself, where the documentation calls both the same.
 */
export function dropDefaults(kind: Kind | undefined, request: Body): Body {
  if (kind === undefined) return request;
  const names = Object.keys(request).filter((name) => isDefault(kind, name, request));
  if (names.length === 0) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

/** The value that a request gives a field, or means by leaving it out. */
export function meantValue(kind: Kind | undefined, name: string, request: Body): Json | undefined {
  const value = ownValue(request, name);
  return value !== undefined || kind === undefined ? value : defaultOf(kind, name, request);
}

function isDefault(kind: Kind, name: string, request: Body): boolean {
  const value = ownValue(request, name);
  if (typeof value !== 'string') return false;
  if (name === kind.model?.field) return modelName(kind, request) === kind.model.default;
  return value === defaultOf(kind, name, request);
}

function defaultOf(kind: Kind, name: string, request: Body): string | undefined {
  const field = Object.hasOwn(kind.fields, name) ? kind.fields[name] : undefined;
  // A field with values of its own, and that of the model, have one default for all models.
  if (field?.values !== undefined || name === kind.model?.field) return field?.default;
  const model = modelName(kind, request);
  return model === undefined ? undefined : defaultFor(kind, model, name);
}
