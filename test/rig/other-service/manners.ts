/**
 * What the service's documentation leaves open, as one service may have decided it. Nothing here is a choice of the
 * sandbox, and nothing contradicts the documentation.
 */
export interface Manners {
  /** Form of the ids of jobs and records. */
  ids: (kind: string, nth: number) => string;
  /** Where the answer to a create request that is not documented holds the job; `undefined`: the answer is the job. */
  holder: string | undefined;
  /** The path of each create that is not documented. Any other path is answered by 404 in the service's own envelope. */
  paths: Readonly<Record<string, string>>;
  /** Creates that say `creditsDeducted`: documented are image, music and video. */
  tellsCharge: readonly string[];
  /** Status of the refusal of a key that comes back with another body. */
  reusedKey: 409 | 422;
  /** Its own names for fields of creates that are not documented, by kind. Fields under other names are passed over. */
  names: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Whether it serves an OpenAPI document. */
  isDescribed: boolean;
  /** Items on a page of the voiceover list at most; a larger `limit` is cut. */
  voiceoverPage: number;
  /** What `DELETE /thumbnails/{generationId}` and `/image/status/{id}` of a thumbnail take. */
  thumbnail: { create: 'record' | 'job' | 'both'; status: 'record' | 'job'; remove: 'record' | 'job' };
  /** Times, as ISO 8601 allows them. */
  time: (at: Date) => string;
}

const uuid = (kind: string, nth: number) => {
  const digits = [...kind].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7).toString(16);
  return `${digits.padStart(8, '0').slice(-8)}-0000-4000-8000-${String(nth).padStart(12, '0')}`;
};

/** No document, creates at the roots of their collections, as little in each answer as it may be. */
export const terse: Manners = {
  ids: uuid,
  holder: 'data',
  paths: {
    video: '/videos/create',
    voiceover: '/voiceovers/create',
    clipping: '/clippings',
    thumbnail: '/thumbnails',
    influencer: '/influencer-studio',
    post: '/posts',
  },
  tellsCharge: ['image', 'music', 'video'],
  reusedKey: 422,
  names: {},
  isDescribed: false,
  voiceoverPage: 3,
  thumbnail: { create: 'record', status: 'record', remove: 'record' },
  time: (at) => at.toISOString().replace(/\.\d+Z$/, 'Z'),
};

/** Describes itself, under names of its own; ids that look like numbers, and a thumbnail that is deleted by its job. */
export const described: Manners = {
  ...terse,
  ids: (kind, nth) => `${kind.length}${String(nth).padStart(9, '0')}`,
  holder: 'job',
  paths: {
    video: '/videos/create',
    voiceover: '/voiceovers/create',
    clipping: '/clippings/jobs',
    thumbnail: '/thumbnails/generate',
    influencer: '/influencer-studio/images',
    post: '/posts',
  },
  reusedKey: 409,
  names: { video: { image: 'imageUrl', ratio: 'aspectRatio' } },
  isDescribed: true,
  thumbnail: { create: 'both', status: 'job', remove: 'job' },
  time: (at) => at.toISOString().replace('Z', '+00:00'),
};

/** Long ids of odd characters, and answers that are the job themselves. */
export const odd: Manners = {
  ...terse,
  ids: (kind, nth) => `gen:${kind}|${nth}~(${"'".repeat(60)})*${'%41'.repeat(20)}`,
  holder: undefined,
  paths: { ...terse.paths, clipping: '/clippings/create', thumbnail: '/thumbnails/create' },
  thumbnail: { create: 'job', status: 'job', remove: 'record' },
};
