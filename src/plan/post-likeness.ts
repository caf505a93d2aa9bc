import type { OpenRequest } from '../graph/graph.ts';
import { canonicalJson, type Json } from '../ground/json.ts';
import { wordsOfPost } from './post-accounts.ts';

/** Features by which two posts are compared. */
export interface PostFeatures {
  words: ReadonlySet<string>;
  /** Links, references and times. */
  others: ReadonlySet<string>;
}

export function featuresOf(request: OpenRequest | undefined): PostFeatures {
  if (request === undefined) return { words: new Set(), others: new Set() };
  const others = new Set<string>();
  const visit = (value: Json): void => {
    if (typeof value === 'string' && /^https?:|^\d{4}-\d\d-\d\dT/.test(value)) others.add(value);
    if (value === null || typeof value !== 'object') return;
    if (!Array.isArray(value) && typeof value.$ref === 'string') others.add(canonicalJson(value));
    else for (const item of Object.values(value)) visit(item);
  };
  visit(request);
  const words: string[] =
    wordsOfPost(request)
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  // Neighbours as well: the same words in another order are another text.
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  return { words: new Set([...words, ...pairs]), others };
}

/** How alike two posts are, from 0 to 1: mostly by their words, then by what they show and when, where either does. */
export function likenessOf(one: PostFeatures, other: PostFeatures): number {
  const words = shareOf(one.words, other.words);
  return one.others.size + other.others.size === 0 ? words : 0.7 * words + 0.3 * shareOf(one.others, other.others);
}

/** The part of two sets that both have, from 0 to 1. */
function shareOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [small, large] = one.size <= other.size ? [one, other] : [other, one];
  let shared = 0;
  for (const item of small) if (large.has(item)) shared += 1;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}
