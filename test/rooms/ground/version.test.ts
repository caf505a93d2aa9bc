import { expect, test } from 'vitest';
import { fitsRange } from '../../../src/ground/version.ts';

test.each([
  ['>=0.3', ['0.3.0', '0.3.1', '1.0.0', '0.4.0-rc.1'], ['0.2.9', '0.3.0-rc.1']],
  ['<2', ['1.9.9', '0.1.0'], ['2.0.0', '2.0.0-rc.1', '3.0.0']],
  ['>=0.3 <2', ['0.3.0', '1.2.3'], ['0.2.0', '2.0.0']],
  [' >=0.3  <2 ', ['1.0.0'], ['2.0.0']],
  ['^1.2', ['1.2.0', '1.99.0'], ['1.1.9', '2.0.0', '2.0.0-rc.1']],
  ['^0.3', ['0.3.0', '0.3.9'], ['0.4.0', '1.0.0', '0.2.0']],
  ['^0.0.3', ['0.0.3'], ['0.0.4', '0.1.0']],
  ['^0', ['0.0.0', '0.9.0'], ['1.0.0']],
  ['^0.0', ['0.0.7'], ['0.1.0']],
  ['>=1.10', ['1.10.0', '1.11.0'], ['1.9.0']],
])('%s takes what npm takes for it', (range, fitting, other) => {
  expect(fitting.filter((version) => fitsRange(version, range) !== true)).toEqual([]);
  expect(other.filter((version) => fitsRange(version, range) !== false)).toEqual([]);
});

test.each(['', '1.2', '=1', '>=1.2.3.4', '>= 1', '~1.2', '>=1 || <2', '>=x', '*', `>=${'9'.repeat(10)}`])(
  'no range: %j',
  (range) => {
    expect(fitsRange('1.0.0', range)).toBeUndefined();
  },
);
