import { expect, test } from 'vitest';
import { wantedPath, withoutExtension } from '../../../src/plan/select/names.ts';

test.each([
  ['image', 0, 'output/a'],
  ['image', 1, 'output/a'],
  ['clipping', 0, 'output/a-1'],
  ['clipping', 9, 'output/a-10'],
])('the name of a file of kind %s at %i', (kind, index, path) => {
  expect(wantedPath({ kind, save: 'output/a' }, index)).toBe(path);
});

test.each([
  ['a/b.png', 'a/b'],
  ['a.b/c.d.mp4', 'a.b/c.d'],
  ['a.b/c', 'a.b/c'],
  ['a.b c', 'a.b c'],
  ['a', 'a'],
])('%j without its extension', (path, expected) => {
  expect(withoutExtension(path)).toBe(expected);
});
