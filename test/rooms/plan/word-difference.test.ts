import { describe, expect, test } from 'vitest';
import { describeWords, findWordChanges } from '../../../src/plan/compare/word-difference.ts';
import { seeded } from '../../rig/random.ts';

describe('the words that differ', () => {
  test.each([
    ['A lamp on an oak table, warm light', 'A lamp on an elm table, warm light', 'oak → elm'],
    ['on a table', 'on a red table', '“on a table” → “on a red table”'],
    ['a very old lamp here', 'a lamp here', '“a very old lamp here” → “a lamp here”'],
    ['oak and ash', 'elm and fir', 'oak → elm, ash → fir'],
    ['a b c d e f g', 'A b C d E f G', 'a → A, c → C, and 2 more'],
    ['x one two three four five six seven', 'x 1', 'one two three four five … → 1'],
    ['a lamp, no text', 'a lamp, no text, soft colours', '“lamp, no text” → “lamp, no text, soft colours”'],
    ['two  spaces', 'two spaces', 'white space'],
    ['', 'new words', '“” → “new words”'],
    ['木の机のランプ', '石の机のランプ', '木 → 石'],
  ])('%s | %s', (before, after, told) => {
    expect(describeWords(before, after)).toBe(told);
  });

  test('the changes, put into the text before, give the text after', () => {
    const random = seeded(20);
    const below = (most: number) => Math.floor(random() * most);
    const words = ['a', 'b', 'c', 'd'];
    const text = () => Array.from({ length: below(12) }, () => words[below(4)] ?? '').join(' ');
    for (let round = 0; round < 2000; round += 1) {
      const [before, after] = [text(), text()];
      const changes = findWordChanges(before, after);
      const removed = changes.flatMap((change) => change.before.split(' ').filter(Boolean));
      const added = changes.flatMap((change) => change.after.split(' ').filter(Boolean));
      const counts = (list: string[]) => words.map((one) => list.filter((other) => other === one).length);
      const kept = (list: string[], gone: string[]) =>
        counts(list).map((count, index) => count - (counts(gone)[index] ?? 0));
      const split = (one: string) => one.split(' ').filter(Boolean);
      expect(kept(split(before), removed)).toEqual(kept(split(after), added));
      if (before === after) expect(changes).toEqual([]);
      else expect(changes.length).toBeGreaterThan(0);
    }
  });

  test('texts of thousands of words take no time', () => {
    const long = (seed: string) => Array.from({ length: 20_000 }, (_, index) => `${seed}${index}`).join(' ');
    expect(findWordChanges(long('a'), long('b'))).toHaveLength(1);
  });
});
