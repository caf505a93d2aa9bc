import type { JsonObject } from '../wire.ts';
import { type ImageModel, imageModels, pixelSize, type Resolution } from './image-models.ts';
import { readText, type SandboxKind } from './kind.ts';
import { isPublicHttpsUrl } from './public-url.ts';

const defaultModel = 'alpha-2';

export const image: SandboxKind = {
  name: 'image',
  paths: { create: '/image-generations/create', status: '/image/status/{id}' },
  schemaName: 'ImageCreate',
  durationMs: { least: 2_000, most: 5_000 },

  body: {
    type: 'object',
    required: ['prompt'],
    properties: {
      prompt: { type: 'string', minLength: 1, pattern: '\\S', description: 'Text describing the image.' },
      model: { type: 'string', enum: Object.keys(imageModels), default: defaultModel },
      aspectRatio: {
        type: 'string',
        description: 'Valid values depend on the model. `auto`, where supported, means the model default.',
      },
      resolution: {
        type: 'string',
        description: 'Values that the model does not offer fall back to the model default without an error.',
      },
      quality: {
        type: 'string',
        description: 'Quality tier (`basic`, `high`) of the models that have tiers. They also take it in `resolution`.',
        'x-not-shown': 'The name of this field is not documented; this one is the choice of the sandbox.',
      },
      referenceImages: {
        type: 'array',
        items: { type: 'string' },
        description: 'Public HTTPS image URLs. The maximum count depends on the model.',
      },
    },
    allOf: Object.entries(imageModels).map(([key, model]) => ({
      // "not this model, or else these rules": the same as if/then, which a JavaScript object should not spell.
      if: { not: { properties: { model: { const: key } }, ...(key === defaultModel ? {} : { required: ['model'] }) } },
      else: describeModelRules(model),
    })),
    'x-models': Object.fromEntries(
      Object.entries(imageModels).map(([key, model]) => [
        key,
        {
          ...(model.runs === key ? {} : { aliasOf: model.runs }),
          aspectRatio: [...model.ratios],
          resolution: Object.keys(model.resolutions),
          defaultResolution: model.defaultResolution,
          maxReferenceImages: model.references,
          credits: Object.fromEntries(Object.entries(model.resolutions).map(([name, value]) => [name, value.credits])),
        },
      ]),
    ),
    'x-not-shown':
      'Credits per image, the maximum number of reference images and the sizes of quality tiers are not documented; those in x-models are the choice of the sandbox.',
  },

  created: {
    generation: {
      type: 'object',
      required: ['id', 'status'],
      properties: {
        id: { type: 'string' },
        status: { $ref: '#/components/schemas/JobStatus' },
        model: { type: 'string' },
        mode: { type: 'string' },
        modelId: { type: 'string' },
      },
    },
    model: { type: 'string', description: 'The model that does the work; aliases are resolved.' },
  },

  findProblem(body, world) {
    const { key, model } = chooseModel(body);
    const ratio = readText(body, 'aspectRatio', '');
    if (Object.hasOwn(body, 'aspectRatio') && !model.ratios.includes(ratio)) {
      if (model.ratios.length === 0) return `aspectRatio is not taken by ${key}; its shape is set by resolution.`;
      return `aspectRatio of ${key} must be one of ${model.ratios.join(', ')}; got ${JSON.stringify(ratio.slice(0, 80))}.`;
    }
    const references = readReferences(body);
    if (references.length > model.references) {
      return `referenceImages has ${references.length} entries; ${key} takes at most ${model.references}.`;
    }
    const unreachable = references.findIndex((url) => !isPublicHttpsUrl(url) && !world.isOwnOutput(url));
    if (unreachable >= 0) return `referenceImages[${unreachable}] must be a public https URL.`;
    return undefined;
  },

  settle(body) {
    const { model } = chooseModel(body);
    return {
      model: model.runs,
      credits: chooseResolution(body, model).credits,
      output: { fileName: 'image.png', mediaType: 'image/png' },
    };
  },

  describeCreated(id, body) {
    const { model } = chooseModel(body);
    const mode = readReferences(body).length > 0 ? 'image-to-image' : 'text-to-image';
    const generation = { id, status: 'QUEUED', model: model.runs, mode, modelId: `sandbox/${model.runs}` };
    return { generation, model: model.runs };
  },

  async render(order) {
    const { model } = chooseModel(order.body);
    const { width, height } = pixelSize(
      chooseResolution(order.body, model).size,
      readText(order.body, 'aspectRatio', 'auto'),
    );
    const { drawPicture } = await import('../render/picture.ts');
    return drawPicture({
      seed: order.seed,
      prompt: readText(order.body, 'prompt', ''),
      footer: `sandbox · ${model.runs} · ${width}×${height}${order.take > 1 ? ` · take ${order.take}` : ''}`,
      width,
      height,
    });
  },
};

function chooseModel(body: JsonObject): { readonly key: string; readonly model: ImageModel } {
  const key = readText(body, 'model', defaultModel);
  const model = Object.hasOwn(imageModels, key) ? imageModels[key] : undefined;
  if (model === undefined) throw new Error(`internal error: the image model ${key} passed the schema`);
  return { key, model };
}

/** What the model does not offer falls back to its default, as documented. */
function chooseResolution(body: JsonObject, model: ImageModel): Resolution {
  const wanted = [readText(body, 'resolution', ''), readText(body, 'quality', ''), model.defaultResolution];
  for (const name of wanted) {
    const resolution = Object.hasOwn(model.resolutions, name) ? model.resolutions[name] : undefined;
    if (resolution !== undefined) return resolution;
  }
  throw new Error('internal error: an image model lacks its default resolution');
}

function readReferences(body: JsonObject): string[] {
  const list = Object.hasOwn(body, 'referenceImages') ? body.referenceImages : undefined;
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
}

function describeModelRules(model: ImageModel): JsonObject {
  const referenceImages = { maxItems: model.references };
  if (model.ratios.length === 0) return { properties: { aspectRatio: false, referenceImages } };
  return { properties: { aspectRatio: { enum: [...model.ratios] }, referenceImages } };
}
