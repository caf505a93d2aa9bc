import type { JsonObject } from '../wire.ts';
import type { CatalogModel } from './kind.ts';

/** Repeats the catalog beside the request body, where people who write a request look. */
export function describeModels(models: readonly CatalogModel[]): JsonObject {
  return Object.fromEntries(models.map(({ key, credits, per }) => [key, { credits, per }]));
}
