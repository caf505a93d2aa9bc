import { expect, test } from 'vitest';
import { likenessOf } from '../../../src/ground/likeness.ts';

test.each([
  ['HTTP 500: boom after 12 s', 'HTTP 500: boom after 3.5 s', true],
  ['HTTP 500: boom', 'HTTP 400: boom', false],
  ['"rot" is no colour', '"blau" is no colour', true],
  ['no file at img/a/b.png', 'no file at img/c.png', true],
  ['job j-12 was moderated', 'Job k_7@x was  moderated.', false],
  ['job j-12 was moderated', 'Job k_7@x was  moderated', true],
  ['see https://a.example/x?y', 'see http://b.example', true],
  ['moderated', 'timed out', false],
])('%j and %j: alike %s', (one, other, alike) => {
  expect(likenessOf(one) === likenessOf(other)).toBe(alike);
});
