import { pairCommon } from '../../ground/common-words.ts';

/** A run of words that differs between two strings. One side may be empty. */
interface WordChange {
  before: string;
  after: string;
  /** Up to two common words before the difference. */
  lead: string;
  trail: string;
}

/** Larger tables take too long to compute; the whole difference is then one run of words. */
const mostCells = 40_000;
const contextWords = 2;

/** Finds the runs of words that differ between two strings. Differences in white space alone are ignored. */
export function findWordChanges(before: string, after: string): WordChange[] {
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const changes: WordChange[] = [];
  let [from, to] = [0, 0];
  for (const [inOld, inNow] of [...pairCommon(old, now, mostCells), [old.length, now.length] as const]) {
    if (inOld > from || inNow > to) {
      changes.push({
        before: joinWords(old.slice(from, inOld)),
        after: joinWords(now.slice(to, inNow)),
        lead: joinWords(now.slice(Math.max(0, to - contextWords), to)),
        trail: joinWords(now.slice(inNow, inNow + contextWords)),
      });
    }
    from = inOld + 1;
    to = inNow + 1;
  }
  return changes;
}

const shownChanges = 2;
const shownWords = 5;

/**
 * Describes how a string changed, for example `oak → elm`. If words (or a comma) were only added or removed, the words
 * around them are included, for example `“a lamp” → “a red lamp”`. Never cuts a word.
 */
export function describeWords(before: string, after: string): string {
  const changes = findWordChanges(before, after);
  if (changes.length === 0) return 'white space';
  const listed = changes.slice(0, shownChanges).map(describeChange);
  const more = changes.length - listed.length;
  return `${listed.join(', ')}${more === 0 ? '' : `, and ${more} more`}`;
}

function describeChange({ before, after, lead, trail }: WordChange): string {
  if (!before.includes(after) && !after.includes(before)) {
    const [old, now] = withoutSharedEnds(before, after);
    return `${shorten(old)} → ${shorten(now)}`;
  }
  const around = (middle: string) => `“${[lead, middle, trail].filter(Boolean).join(' ')}”`;
  return `${around(shorten(before))} → ${around(shorten(after))}`;
}

/** Removes punctuation that both strings begin or end with: it belongs to the sentence, not to the words. */
function withoutSharedEnds(before: string, after: string): [string, string] {
  const isSign = (sign: string | undefined) => sign !== undefined && /\p{P}/u.test(sign);
  let start = 0;
  while (start < Math.min(before.length, after.length) - 1 && before[start] === after[start] && isSign(before[start])) {
    start += 1;
  }
  let end = 0;
  const most = Math.min(before.length, after.length) - start - 1;
  while (end < most && before.at(-1 - end) === after.at(-1 - end) && isSign(before.at(-1 - end))) end += 1;
  return [before.slice(start, before.length - end), after.slice(start, after.length - end)];
}

function shorten(text: string): string {
  const words = wordsOf(text);
  return words.length <= shownWords ? text : `${joinWords(words.slice(0, shownWords))} …`;
}

/** In scripts that are written without spaces, each character is a word. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]\p{M}*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+/gu;
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

function wordsOf(text: string): string[] {
  return text.match(word) ?? [];
}

function joinWords(words: readonly string[]): string {
  return words.reduce((text, one, index) => {
    const glued = index > 0 && unspaced.test(one) && unspaced.test(words[index - 1] ?? '');
    return index === 0 ? one : `${text}${glued ? '' : ' '}${one}`;
  }, '');
}
