import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';

const read = (name: string) => readFileSync(join(root, 'dist/page', name));

test.each([
  // The gallery has all of the review page, and its own views.
  { name: 'page', most: { script: 120, style: 30, zipped: 45 } },
  { name: 'gallery', most: { script: 150, style: 30, zipped: 60 } },
])('$name: one small classic script and one small style sheet', ({ name, most }) => {
  const [script, style] = [read(`${name}.js`), read(`${name}.css`)];
  expect(script.length).toBeLessThanOrEqual(most.script * 1024);
  expect(style.length).toBeLessThanOrEqual(most.style * 1024);
  const zipped = [script, style].reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  expect(zipped).toBeLessThanOrEqual(most.zipped * 1024);
  // From disk a browser loads no modules, and its policy forbids code made of text.
  expect(script.toString()).not.toMatch(/^\s*(import|export)\b|\bimport\(|\beval\(|new Function/m);
});
