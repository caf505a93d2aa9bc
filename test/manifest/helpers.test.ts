import { expect, test } from 'vitest';
import { helpers } from '../../src/manifest/helpers.ts';

test('replace refuses to fill the memory, before it does', () => {
  const long = 'a'.repeat(9000);
  const result = helpers.replace?.run([long, 'a', long]);
  expect(result).toEqual({ wrong: 'would give more than 262144 characters' });
  expect(helpers.replace?.run(['a-b-c', '-', '+'])).toEqual({ value: 'a+b+c' });
});
