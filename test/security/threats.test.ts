import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';
import { threats } from './threats.ts';

test.each(threats)('$threat: its tests are there', ({ shown }) => {
  const missing = shown.filter(([file, title]) => !readFileSync(join(root, file), 'utf8').includes(title));
  expect(missing).toEqual([]);
  expect(shown).not.toHaveLength(0);
});

test('no threat is listed twice', () => {
  const names = threats.map(({ threat }) => threat);
  expect(new Set(names).size).toBe(names.length);
});
