import { shorten } from '../../ground/values.ts';
import type { Kind } from '../../kinds/kind.ts';
import type { Listing } from '../../kinds/listed-model.ts';
import type { RequestFault } from './request-fault.ts';

/** A value of a request that this version does not know. */
export interface NewName {
  kind: Kind;
  field: string;
  value: string;
  /** The model of the request, where the kind has models. */
  model?: string | undefined;
}

/**
 * Tells whether the service itself lists a value for this very field – and, where values depend on the model, for this
 * very model. Nothing less counts: for a value that a model does not take, the service would silently use its default.
 */
export function isListed({ kind, field, value, model }: NewName, listings: readonly Listing[]): boolean {
  return listings.some((listing) => {
    const listed = Object.hasOwn(listing, kind.name) ? listing[kind.name] : undefined;
    if (listed === undefined) return false;
    const { models, values } = listed;
    if (field === kind.model?.field) return Object.hasOwn(models, value) || values[field]?.includes(value) === true;
    const ofModel = model !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
    if (ofModel?.allows[field]?.includes(value) === true) return true;
    return !dependsOnModel(kind, field) && values[field]?.includes(value) === true;
  });
}

/** Tells whether some model allows only certain values. */
export function dependsOnModel(kind: Kind, field: string): boolean {
  return Object.values(kind.model?.models ?? {}).some((model) => model.allows?.[field] !== undefined);
}

/** Warns of a value that counts because the service lists it. */
export function tellNew({ kind, field, value, model }: NewName): RequestFault {
  const what = field === kind.model?.field ? `model of kind ${kind.name}` : `\`${field}\``;
  const owner = model === undefined || field === kind.model?.field ? '' : ` of the model ${model}`;
  return {
    code: 'MB1507',
    severity: 'warning',
    message: `"${shorten(value)}" is a ${what}${owner} that is new at the service`,
    hint: 'this version does not know it; the request is checked by what the service lists',
    at: [field],
  };
}
