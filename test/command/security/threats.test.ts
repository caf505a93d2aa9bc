import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../rig/command.ts';
import { readPage } from '../../rig/manual-pages.ts';

interface Threat {
  threat: string;
  shown: { file: string; title: string }[];
}

/** `threats.txt`, whose head says what its lines are. */
const threats: Threat[] = [];
for (const line of readFileSync(join(import.meta.dirname, 'threats.txt'), 'utf8').split('\n')) {
  const [, path, title] = /^ {2}(\S+) › (.+)$/.exec(line) ?? [];
  if (path && title) threats.at(-1)?.shown.push({ file: `test/${path}.test.ts`, title });
  else if (line !== '' && !line.startsWith('#')) threats.push({ threat: line, shown: [] });
}

/**
 * What a line gives a name to: a test, a table of tests, a case with a `name`, or a row of a table or of arguments. A
 * comment is none of them.
 */
const naming = /^\s*(?:(?:test|it|describe)(?:\.each\(.*\))?\(|\}?[\])]+\(|name: |(?=\[?['"]))(['"`]?)(.+)$/;

function titlesOf(file: string): string[] {
  const lines = readFileSync(join(root, file), 'utf8').split('\n');
  return lines.flatMap((line) => naming.exec(line)?.[2] ?? []);
}

test.each(threats)('$threat: its tests are there', ({ shown }) => {
  const missing = shown.filter(({ file, title }) => !titlesOf(file).some((known) => known.startsWith(title)));
  expect(missing).toEqual([]);
  expect(shown).not.toHaveLength(0);
});

test('no threat is listed twice', () => {
  const names = threats.map(({ threat }) => threat);
  expect(new Set(names).size).toBe(names.length);
});

test('the manual names each of them, so that the page and the tests say the same', () => {
  const page = readPage('trust');
  expect(threats.map(({ threat }) => threat).filter((threat) => !page.includes(threat))).toEqual([]);
});
