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

/** Looks up a name that was checked before. */
export function requireKind(name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`internal error: no kind ${name}`);
  return kind;
}

/** Whether a request of this kind can be repeated for nothing: it is no purchase, and no journal needs it. */
export function isFreelyRepeated(name: string): boolean {
  return kinds[name]?.recovery === 'again';
}

/** Returns what a kind is known to have: who calls has asked. */
export function requireOf<Part extends 'status' | 'remove'>(name: string, part: Part): NonNullable<Kind[Part]> {
  const found = requireKind(name)[part];
  if (found === undefined) throw new Error(`internal error: no ${part} of the kind ${name}`);
  return found;
}
