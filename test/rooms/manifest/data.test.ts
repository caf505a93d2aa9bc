import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRows } from '../../../src/manifest/rows/read-rows.ts';
import { forAll } from '../../rig/runs.ts';
import { ofProducts, productTask, testMistakes } from './mistakes.ts';

describe('data', () => {
  testMistakes([
    ['a data file that is not there', productTask('    with: { prompt: x }'), 'MB1301 6:14', 'products.csv'],
    {
      name: 'a data file outside',
      text: productTask('    with: { prompt: x }'),
      data: { 'products.csv': { problem: 'outside' } },
      found: ['MB1303 6:14'],
    },
    ['no data', productTask('    with: { prompt: x }').replace('products.csv', 'products.ods'), 'MB1103 6:14', '.csv'],
    ofProducts(
      'a row with too many values',
      '.csv',
      'sku,name\nA,b\n\nC,d,e\n',
      'MB1302 products.csv:4:1',
      'row 2',
      '3 values',
    ),
    ofProducts('a column twice', '.csv', '\ufeffsku,sku\r\nA,b\r\n', 'MB1302 products.csv:1:5'),
    ofProducts('a column without name', '.csv', 'sku,\nA,b\n', 'MB1302 products.csv:1:5'),
    ofProducts('rows that a spreadsheet wrote for nothing', '.csv', 'sku;name\r\nA;b\r\n;\r\n ; \r\n;;;\r\n', ''),
    {
      name: 'white space of any kind in the name of a column',
      text: productTask('    with: { prompt: "{{row.[Product name (EN)]}} {{lookup row \'Price (€)\'}}" }'),
      data: { 'products.csv': 'sku;" Product  name\r\n(EN)";"Price\u00a0(€)"\r\nA;b;1\r\n' },
      found: [],
    },
    ofProducts(
      'a merge that was not settled',
      '.csv',
      'sku,name\nA,b\n<<<<<<< HEAD\nC,d\n=======\nC,e\n>>>>>>> other\n',
      'MB1302 products.csv:3:1',
      'products.csv holds merge conflict markers',
      'keep one side',
    ),
    ofProducts('a quote that is not closed', '.csv', 'sku,name\nA,"b\nC,d\nE,f\n', 'MB1302 products.csv:2:1'),
    ofProducts('semicolons between the columns', '.csv', '\ufeff"sku";"name"\r\nA;1,5\r\nB;d\r\n', ''),
    ofProducts(
      'semicolons between the columns, and too many',
      '.csv',
      '\nsku;name\nA;b\nC;d;e\n',
      'MB1302 products.csv:4:1',
      'row 2 of products.csv has 3 values',
      'put values that hold `;` in double quotes',
      'as ;;',
    ),
    ofProducts(
      'separators that nothing decides between',
      '.csv',
      '\nsku;name,x\nA;b,c\n',
      'MB1302 products.csv:2:1',
      'cannot tell which of `,` or `;`',
      'foreach: { file: products.csv, separator: ";" }',
    ),
    {
      name: 'a separator that is none',
      text: productTask('    with: { prompt: "{{row.name}}" }').replace(
        'foreach: products.csv',
        'foreach: { file: products.csv, separator: ":" }',
      ),
      data: { 'products.csv': 'sku,name\nA,b\n' },
      found: ['MB1103 6:47'],
    },
    ofProducts('an empty table', '.csv', '', 'MB1302 products.csv:1:1'),
    ofProducts('a table without rows', '.csv', 'sku,name\n', 'MB1408 6:14'),
    ofProducts('broken JSON', '.json', '[\n  {"sku": 1},\n  {"sku": 2,}\n]', 'MB1302 products.json:3:13'),
    ofProducts(
      'a value that JSON does not know',
      '.json',
      '[\n  {"sku": NaN},\n  {"sku": 2}\n]',
      'MB1302 products.json:2:11',
    ),
    ofProducts(
      'a row that repeats the column names',
      '.csv',
      'sku,name\nA,b\n\ufeffsku,name\n',
      'MB1302 products.csv:3:2',
    ),
    ofProducts(
      'a pointer of Git LFS',
      '.csv',
      'version https://git-lfs.github.com/spec/v1\n',
      'MB1302 products.csv:1:1',
    ),
    ofProducts(
      'a no-break space in the indentation',
      '.yaml',
      '- sku: a\n\u00a0\u00a0name: b: c\n',
      'MB1302 products.yaml:2:1',
    ),
    ofProducts('a byte order mark where two files were joined', '.csv', 'sku,name\nA,b\n\ufeffB,c\n', ''),
    ofProducts(
      'a quote inside of a value with spaces',
      '.tsv',
      'sku\tname\nA\tb, "c"\n',
      'MB1302 products.tsv:2:1',
      'twice',
    ),
    ofProducts(
      'values that YAML cuts',
      '.yaml',
      '- sku: A\n  name: &Sons Lamp #1\n',
      'MB1009 products.yaml:2:9 warning, MB1009 products.yaml:2:20 warning',
    ),
    ofProducts(
      'a number that loses its last digit',
      '.json',
      '[{"sku": "A", "name": 19.90, "x": [1.5, 2.0, "1.90"]}]',
      'MB1302 products.json:1:23 warning',
      '19.90 is read as the number 19.9',
    ),
    ofProducts('letters converted twice', '.csv', 'sku,name\nA,cafÃ©\n', 'MB1302 products.csv:2:6 warning', 'twice'),
    ofProducts('capital letters of other languages', '.csv', 'sku,name\nA,MANHÃ… ÂNGULO\n', ''),
    ofProducts('a broken line', '.jsonl', '{"sku": "1"}\n\n{"sku": \n', 'MB1302 products.jsonl:3:8'),
    ofProducts('a map instead of rows', '.yaml', 'a: 1\n', 'MB1302 products.yaml:1:1'),
    ofProducts('a tab in the data', '.yaml', '- a: 1\n\tb: 2\n', 'MB1302 products.yaml:2:1'),
  ]);
});

test('a line break of any system in a value is LF', () => {
  const text = JSON.stringify([{ text: 'a\rb\r\nc\nd' }]);
  expect(readRows({ path: 'p.json', file: 'p.json', text }).rows?.rows).toMatchObject([
    { value: { text: 'a\nb\nc\nd' } },
  ]);
});

const separators = [',', ';', '\t'] as const;

function read(text: string, separator?: string) {
  const { rows, diagnostics } = readRows({ path: 'p.csv', file: 'p.csv', text, separator });
  return {
    rows: rows?.rows.map(({ value }) => ({ ...(value as object) })),
    columns: rows?.columns,
    rows_: rows,
    diagnostics,
  };
}

/** A table as a spreadsheet writes it: quotes where a value needs them. */
function write(cells: readonly (readonly string[])[], separator: string, lineBreak: string): string {
  const quoted = (cell: string) => (/[",;\t\r\n]|^\s|\s$|^$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return cells.map((row) => row.map(quoted).join(separator) + lineBreak).join('');
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ü', '1', ' ', ',', ';', '\t', '"', '\n', '.'), maxLength: 6 });

describe('what separates the columns of a table', () => {
  forAll([
    fc
      .integer({ min: 2, max: 4 })
      .chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 5 }),
      ),
    fc.constantFrom(...separators),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  ])('is recognized, whatever stands in its values', (body, separator, lineBreak, mark) => {
    const columns = body[0]?.map((_value, index) => `c${index}`) ?? [];
    const text = `${mark ? '\ufeff' : ''}${write([columns, ...body], separator, lineBreak)}`;
    const { rows, diagnostics, rows_ } = read(text);
    expect(diagnostics).toEqual([]);
    // A row of empty cells is one that a spreadsheet wrote for nothing.
    const filled = body.filter((row) => row.some((value) => value.trim() !== ''));
    expect(rows).toEqual(filled.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], value]))));
    expect(rows_?.separator ?? ',').toBe(separator);
    expect(read(text, separator).rows).toEqual(rows);
  });

  test('with a decimal comma, and with a comma in the name of a column', () => {
    expect(read('sku;price\nA;1,5\n').rows).toEqual([{ sku: 'A', price: '1,5' }]);
    expect(read('sku;"name, long"\nA;b\n').columns).toEqual(['sku', 'name, long']);
    // Without quotes the rows decide.
    expect(read('sku;name, long;price\nA;b;1\nC;d;2\n').columns).toEqual(['sku', 'name, long', 'price']);
    expect(read('sku,a;b\nA,b\n').columns).toEqual(['sku', 'a;b']);
  });

  test('may be said by a spreadsheet, in a first line of its own, and lines keep their numbers', () => {
    const said = read('sep=;\r\nsku;a,b\r\nA;1,5\r\n');
    expect(said.rows).toEqual([{ sku: 'A', 'a,b': '1,5' }]);
    expect(said.rows_?.rows[0]?.place().start.line).toBe(3);
    expect(said.rows_?.isGuess).toBe(false);
  });

  test('one that was said counts, even against the header', () => {
    expect(read('a,b|c\n1,2|3\n', '|').columns).toEqual(['a,b', 'c']);
    expect(read('a;b\n1;2\n', ',').columns).toEqual(['a;b']);
  });

  test('where the rows fit both or neither, it is asked for', () => {
    for (const text of ['a;b,c\n', 'a;b,c\n1;2,3\n', 'a;b,c\n1\n']) {
      expect(read(text).diagnostics).toMatchObject([
        { code: 'MB1302', message: expect.stringContaining('`,` or `;`') },
      ]);
    }
  });
});

test('a table of 100,000 columns is read, and two of a name among them are reported', () => {
  const columns = Array.from({ length: 100_000 }, (_, index) => `c${index}`);
  expect(read(`${columns.join()}\n${columns.map(() => 'x').join()}\n`).columns).toHaveLength(100_000);
  const { diagnostics } = read(`${[...columns, 'c7'].join()}\n${columns.join()},x\n`);
  expect(diagnostics.map(({ message }) => message)).toEqual(['two columns of p.csv are named "c7"']);
});
