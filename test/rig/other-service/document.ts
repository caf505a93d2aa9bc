import type { Manners } from './manners.ts';

const text = { type: 'string' };
const links = { type: 'array', items: text };

const fields: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  image: { prompt: text, model: text, aspectRatio: text, resolution: text, quality: text, referenceImages: links },
  music: { prompt: text, lyrics: text, model: text, output_format: text },
  video: { prompt: text, model: text, ratio: text, duration: { type: 'number' }, image: text },
  voiceover: { text, voice_id: text, model: text, output_format: text },
  clipping: { videoUrl: text },
  thumbnail: { title: text, description: text, link: text, image: text },
  influencer: { prompt: text, model: text, aspectRatio: text, referenceImages: links },
  post: { accountIds: links, caption: text, media: links, scheduledAt: text },
};

/** An OpenAPI document that says less than the sandbox's: bodies in place, no models, no marks of its own. */
export function describeOther({ paths, names }: Manners): object {
  const all = { image: '/image-generations/create', music: '/music-generations/create', ...paths };
  const creates = Object.entries(all).map(([kind, path]) => {
    const properties = Object.entries(fields[kind] ?? {}).map(([name, schema]) => [
      names[kind]?.[name] ?? name,
      schema,
    ]);
    const schema = { type: 'object', properties: Object.fromEntries(properties) };
    return [path, { post: { requestBody: { content: { 'application/json; charset=utf-8': { schema } } } } }] as const;
  });
  const others = Object.fromEntries(
    ['/uploads', '/uploads/complete', '/uploads/signed-url'].map((path) => [path, { post: {} }]),
  );
  return {
    info: { title: 'Media', version: '1.2.0' },
    openapi: '3.1.0',
    servers: [{ url: '/api/v1' }],
    paths: { ...others, ...Object.fromEntries(creates) },
  };
}

/** By kind, with units beside the prices and names of its own. */
export const otherCatalog = {
  success: true,
  models: {
    images: [
      { id: 'alpha-2', creditCost: 3 },
      { id: 'beta-5.0-pro', creditCost: 4 },
    ],
    videos: [{ id: 'film-1', creditCost: 2, creditsPer: 'second' }],
    voiceovers: [{ id: 'speech-9', creditCost: 1, creditsPer: '1000 characters' }],
  },
};
