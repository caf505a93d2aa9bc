import type { Json } from '../../ground/json.ts';
import { defined } from '../../ground/values.ts';
import type { Kind } from '../../kinds/kind.ts';

/**
 * Returns the kinds as JSON: `{mediabatch: 'kinds', version: 1, kinds: [{name, description, media, documented, fields:
 * [{name, description, type, required, values?, default?, maxLength?}], models?, outputs, parts?}]}`.
 */
export function kindsJson(kinds: readonly Kind[]): Json {
  return {
    mediabatch: 'kinds',
    version: 1,
    kinds: kinds.map((kind) => ({
      name: kind.name,
      description: kind.description,
      media: kind.media,
      documented: kind.create.documented,
      fields: Object.entries(kind.fields).map(([name, field]) => ({
        name,
        description: field.description,
        type: field.type,
        required: field.required === true,
        ...defined({ values: field.values && [...field.values], default: field.default, maxLength: field.maxLength }),
      })),
      ...(kind.model !== undefined && {
        models: Object.entries(kind.model.models).map(([name, { description, credits, aliasOf }]) => ({
          name,
          description,
          ...defined({ credits, aliasOf }),
        })),
      }),
      outputs: [...kind.outputs],
      ...(kind.parts !== undefined && { parts: { name: kind.parts.name, most: kind.parts.most } }),
    })),
  };
}
