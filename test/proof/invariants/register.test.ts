import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../rig/command.ts';
import { controls } from '../controls/controls.ts';
import { invariants, type Shown } from './register.ts';

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

  test.each(invariants)('$id is shown by tests that exist: $says', ({ shown }) => {
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter((entry) => !stands(entry))).toEqual([]);
  });

  test('each has a control, and each control finds its text exactly once', () => {
    const controlled = new Set(controls.map(({ invariant }) => invariant));
    expect(invariants.filter(({ id }) => !controlled.has(id)).map(({ id }) => id)).toEqual([]);
    const stale = controls.filter(({ file, find }) => textOf(file).split(find).length !== 2);
    expect(stale.map(({ off }) => off)).toEqual([]);
  });
});
