import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { root } from '../rig/command.ts';

const read = (name: string) => readFileSync(join(root, 'dist/page', name));

test.each([
  // The gallery has all of the review page, and its own views.
  { name: 'page', most: { zipped: 52, later: 20 } },
  { name: 'gallery', most: { zipped: 60, later: 24 } },
])(
  '$name: a small classic script and style sheet, and another script for what the first picture does without',
  ({ name, most }) => {
    const [script, style, later] = [read(`${name}.js`), read(`${name}.css`), read(`${name}-later.js`)];
    const zipped = (...parts: Buffer[]) => parts.reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
    expect(zipped(script, style)).toBeLessThanOrEqual(most.zipped * 1024);
    expect(zipped(later)).toBeLessThanOrEqual(most.later * 1024);
    // From disk a browser loads no modules, and its policy forbids code made of text.
    for (const text of [script, later].map(String)) {
      expect(text).not.toMatch(/^\s*(import|export)\b|\bimport\(|\beval\(|new Function/m);
    }
  },
);
