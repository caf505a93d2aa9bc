import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';

const read = (name: string) => readFileSync(join(root, 'dist/page', name));

test.each([
  // The gallery has all of the review page, and its own views.
  { name: 'page', mostKb: 45 },
  { name: 'gallery', mostKb: 47.5 },
])('$name: a small classic script and style sheet', ({ name, mostKb }) => {
  const [script, style] = [read(`${name}.js`), read(`${name}.css`)];
  const zipped = [script, style].reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
  expect(zipped).toBeLessThanOrEqual(mostKb * 1000);
  // From disk a browser loads no modules, and its policy forbids code made of text.
  expect(String(script)).not.toMatch(/^\s*(import|export)\b|\bimport\(|\beval\(|new Function/m);
});
