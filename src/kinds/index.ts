import { image } from './image.ts';
import type { Kind } from './kind.ts';
import { music } from './music.ts';

/** Every kind of generation by name. Without a prototype, so that `constructor` is no kind. */
export const kinds: Readonly<Record<string, Kind>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Kind>, { image, music }),
);

/** Kinds that the product knows and this version cannot run yet. */
export const futureKinds: readonly string[] = [
  'voiceover',
  'video',
  'clipping',
  'thumbnail',
  'influencer',
  'upload',
  'post',
];
