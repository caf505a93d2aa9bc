/*
 * One file for each kind: all that is known about the API, as data.
 * Takes: nothing, or a catalogue and a document that the service published.
 * Returns: fields, limits, models, list prices, and how a lost answer is recovered.
 * May not know: steps, plans, HTTP. An undocumented fact is omitted, never guessed.
 */

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

/** All kinds of requests by name. The object has no prototype, so that `constructor` is not a kind. */
export const kinds: Readonly<Record<string, Kind>> = Object.freeze(
  Object.assign(Object.create(null) as Record<string, Kind>, all),
);

export function requireKind(name: string): Kind {
  const kind = kinds[name];
  if (kind === undefined) throw new Error(`internal error: no kind ${name}`);
  return kind;
}

/** Returns whether repeating a request costs nothing, so that the journal does not record it as a purchase. */
export function isFreelyRepeated(name: string): boolean {
  return kinds[name]?.recovery === 'again';
}

export function requireOf<Part extends 'status' | 'remove'>(name: string, part: Part): NonNullable<Kind[Part]> {
  const found = requireKind(name)[part];
  if (found === undefined) throw new Error(`internal error: no ${part} of the kind ${name}`);
  return found;
}
