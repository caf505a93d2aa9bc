import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Column, type Text, table } from '../../../src/report/document.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { textOf } from './samples.ts';

function tableText(columns: readonly Column[], rows: readonly (readonly Text[])[], width?: number): string {
  return textOf([table(columns, rows)], width);
}

const columns: Column[] = [
  { title: 'id' },
  { title: 'credits', align: 'right' },
  { title: 'note', least: 6 },
  { title: 'path', least: 8, cut: 'middle' },
];
const rows = [
  ['job-1', '5', 'a long note that goes on', 'images/hero/at/the/end.png'],
  ['job-22', '?', '', 'a.png'],
];

describe('tableText', () => {
  test('a file or a pipe gets everything, in columns of spaces', () => {
    expect(tableText(columns, rows)).toMatchInlineSnapshot(`
      "id      credits  note                      path
      job-1         5  a long note that goes on  images/hero/at/the/end.png
      job-22        ?                            a.png
      "
    `);
  });

  test('a terminal gets what fits; what people copy is never cut', () => {
    expect(tableText(columns, rows, 45)).toMatchInlineSnapshot(`
      "id      credits  note           path
      job-1         5  a long note …  images…nd.png
      job-22        ?                 a.png
      "
    `);
  });

  test('spare columns are cut and left out, the last one first, before any other column is cut', () => {
    const spare = { title: 'prompt', least: 6, spare: true as const };
    const withSpare: Column[] = [{ title: 'path', least: 8, cut: 'middle' }, { title: 'size', spare: true }, spare];
    const one = [['images/hero.png', '768×1360', 'a long prompt']];
    const linesAt = [40, 34, 30, 20].map((width) => tableText(withSpare, one, width).split('\n')[1]);
    expect(linesAt).toEqual([
      'images/hero.png  768×1360  a long prompt',
      'images/hero.png  768×1360  a long…',
      'images/hero.png  768×1360',
      'images/hero.png',
    ]);
  });

  test('what is wrapped goes on below, and nothing of it is lost', () => {
    const wrapped = columns.map((column) => (column.title === 'note' ? { ...column, cut: 'wrap' as const } : column));
    expect(tableText(wrapped, rows, 45)).toMatchInlineSnapshot(`
      "id      credits  note           path
      job-1         5  a long note    images…nd.png
                       that goes on
      job-22        ?                 a.png
      "
    `);
  });

  test('empty columns are left out, and no rows are no text', () => {
    expect(tableText(columns, [['a', '', '', 'x']])).toBe('id  path\na   x\n');
    expect(tableText(columns, [])).toBe('');
  });

  test('texts from elsewhere do nothing to a terminal or a build system', () => {
    const text = tableText([{ title: 'id' }, { title: 'x' }], [['::error::\u001b[31m', 'a\n::b\tc']]);
    expect(text).toBe('id                    x\n\\x3a:error::\\x1b[31m  a\\n::b\\tc\n');
  });

  test('whatever the texts are, a table fits or becomes blocks, and has no tabs', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 30 }),
      fc.constantFrom('::stop::', '\t', '\u001b[1m'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(cell, cell, cell, cell), { minLength: 1 }),
        fc.integer({ min: 20, max: 90 }),
        (all, width) => {
          const text = tableText(columns, all, width);
          expect(text).not.toContain('\t');
          const [head = '', ...lines] = text.split('\n');
          const isTable = columns.filter(({ title }) => head.includes(title)).length > 1;
          if (isTable) for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: 200 },
    );
  });
});
