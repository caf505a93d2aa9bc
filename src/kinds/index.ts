import { clipping } from './clipping.ts';
import { image } from './image.ts';
import { influencer } from './influencer.ts';
import type { Kind } from './kind.ts';
import { music } from './music.ts';
import { post } from './post.ts';
import { thumbnail } from './thumbnail.ts';
import { upload } from './upload.ts';
import { video } from './video.ts';
import { voiceover } from './voiceover.ts';

const all = { image, music, voiceover, video, clipping, thumbnail, influencer, upload, post };

/** Every kind of request by name. It has no prototype, so that `constructor` is not a kind. */
export const kinds: Readonly<Record<string, Kind>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Kind>, all),
);

/** Looks up a name that was checked before; an unknown one is an internal error. */
export function requireKind(name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`internal error: no kind ${name}`);
  return kind;
}
