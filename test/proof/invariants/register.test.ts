import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';
import { findMarks, switchOff } from '../controls/marks.ts';
import { controls, invariantOf, invariants, type Shown } from './register.ts';

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `src/${path.replaceAll('\\', '/')}`);
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/** Titles stand between quotes of any sort; a table may go on after the beginning that is registered. */
function stands({ file, title }: Shown): boolean {
  const text = textOf(file).replaceAll("\\'", "'");
  return ["'", '"', '`'].some((quote) => text.includes(quote + title));
}

describe('the register of invariants', () => {
  test('has them in order, each once, and the first twenty', () => {
    const numbers = invariants.map(({ id }) => Number(id.slice(1)));
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(numbers.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });

  // A table may write a title whole: a test that has a control was run by it under this title.
  test.each(invariants)('$id is shown by tests that exist: $says', ({ shown }) => {
    const controlled = new Set(controls.map(({ seenBy }) => seenBy));
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((entry) => !stands(entry) && !controlled.has(entry))).toEqual([]);
  });

  test('each has a control', () => {
    const controlled = new Set(controls.map(invariantOf));
    expect(invariants.filter(({ id }) => !controlled.has(id)).map(({ id }) => id)).toEqual([]);
  });

  test('a title with a control ends before the first value of its table, because the control finds it by its beginning', () => {
    expect(controls.filter(({ seenBy }) => /%[sidjo]/.test(seenBy.title)).map(({ off }) => off)).toEqual([]);
  });

  test.each(controls)('$mark in $file can be switched off: $off', ({ file, mark, switch: change }) => {
    const source = textOf(file);
    expect(switchOff(source, mark, change)).not.toBe(source);
  });

  test('each mark in a source has a control, and stands once in its file', () => {
    const marked = sources.flatMap((file) => findMarks(textOf(file)).map(({ name }) => `${file} ${name}`));
    const controlled = new Set(controls.map(({ file, mark }) => `${file} ${mark}`));
    expect(marked.toSorted()).toEqual([...controlled].toSorted());
  });
});

describe('a mark', () => {
  test.each([
    ['at the end of a line', 'a();\nb(); // I2\nc();', [['I2', 1]]],
    ['alone before its line', 'a();\n  // I9 (rename)\n  b();', [['I9 (rename)', 2]]],
    [
      'beside another',
      'a(); // I5, I20',
      [
        ['I5', 0],
        ['I20', 0],
      ],
    ],
    ['within a sentence is none', '// I2 is kept here\na(); // see I3 and I4', []],
  ])('%s', (_name, source, marks) => {
    expect(findMarks(source).map(({ name, line }) => [name, line])).toEqual(marks);
  });

  test('that stands twice, or nowhere, switches nothing off', () => {
    const off = { line: '' };
    expect(() => switchOff('a(); // I2\nb(); // I2', 'I2', off)).toThrow('the mark I2 stands 2 times, not once');
    expect(() => switchOff('a(); // I2', 'I3', off)).toThrow('the mark I3 stands 0 times, not once');
    expect(() => switchOff('a(a); // I2', 'I2', { part: 'a', by: 'b' })).toThrow('“a” stands 2 times, not once');
    expect(switchOff('a(b); // I2', 'I2', { part: 'b', by: 'c' })).toBe('a(c); // I2');
  });
});
