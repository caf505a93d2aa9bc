import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';

const read = (name: string) => readFileSync(join(root, 'dist/page', name));

test('the review page is one small classic script and one small style sheet', () => {
  const [script, style] = [read('page.js'), read('page.css')];
  expect(script.length).toBeLessThanOrEqual(120 * 1024);
  expect(style.length).toBeLessThanOrEqual(30 * 1024);
  expect([script, style].reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0)).toBeLessThanOrEqual(
    45 * 1024,
  );
  // From disk a browser loads no modules, and its policy forbids code made of text.
  expect(script.toString()).not.toMatch(/^\s*(import|export)\b|\bimport\(|\beval\(|new Function/m);
});
