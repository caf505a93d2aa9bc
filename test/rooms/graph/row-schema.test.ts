import { describe, expect, it, test } from 'vitest';
import { readWorkbook } from '../../../src/disk/workbook/read-workbook.ts';
import { loadSchemaCompiler } from '../../../src/manifest/check/json-schema.ts';
import type { DataFile } from '../../../src/manifest/rows/rows.ts';
import { sheetXml, workbook } from '../../rig/workbook.ts';
import { load, steps, tasks } from '../manifest/load.ts';

const schemaCompiler = await loadSchemaCompiler();
const schema = JSON.stringify({
  type: 'object',
  required: ['sku', 'price'],
  additionalProperties: false,
  properties: {
    sku: { type: 'string', pattern: '^[A-Z]+[0-9]+$', description: 'Capital letters and digits.' },
    price: { type: 'number', minimum: 1 },
    state: { enum: ['live', 'draft'] },
  },
});
const manifest = (file: string) => `version: 1
name: t
tasks:
  hero: { kind: image, foreach: ${file}, schema: p.schema.json, key: "{{row.sku}}", with: { prompt: "for {{default row.price 0}}" } }
`;

const check = (file: string, rows: string, written = schema) =>
  load(manifest(file), { data: { [file]: rows, 'p.schema.json': written }, schemaCompiler });

describe('rows by a schema of their own', () => {
  test('strings of a CSV file count as what they say', () => {
    const { graph } = check('p.csv', 'sku,price,state\nA1,5,live\nB2,7.5,draft\n');
    expect(graph?.steps.map(({ request }) => request.prompt)).toEqual(['for 5', 'for 7.5']);
  });

  test.each([
    [
      'p.csv',
      'sku,price,state\nA1,5,live\nB2,cheap,live\n',
      '3',
      '`price` of row 2 of p.csv is "cheap": it must be number',
    ],
    ['p.csv', 'sku,price,state\nA1,0,live\n', '2', 'must be >= 1'],
    [
      'p.csv',
      'sku,price,state\nA1,5,lvie\n',
      '2',
      '`state` of row 1 of p.csv is "lvie", which the schema does not allow',
    ],
    ['p.csv', 'sku,price,state,x\nA1,5,live,1\n', '2', '`x` is not a field of row 1 of p.csv'],
    ['p.json', '[{"sku":"A1"},{"sku":"A2","price":5}]', '1', '`price` is missing in row 1 of p.json'],
    ['p.json', '[{"sku":"A1","price":"5"}]', '1', 'must be number'],
    ['p.json', '[{"sku":"a","price":5}]', '1', 'must match pattern'],
  ])('%s %j', (file, rows, line, said) => {
    const { diagnostics } = check(file, rows);
    expect(diagnostics.map(({ code }) => code)).toContain('MB1304');
    expect(String(diagnostics[0]?.place?.start.line)).toBe(line);
    expect(diagnostics[0]?.message).toContain(said);
  });

  test('those of a table by the schema of the table', () => {
    const text = `version: 1
name: t
tables: { products: { file: p.csv, schema: p.schema.json } }
tasks:
  hero: { kind: image, foreach: "{{tables.products}}", key: "{{row.sku}}", with: { prompt: "for {{row.price}}" } }
`;
    const read = (rows: string) => load(text, { data: { 'p.csv': rows, 'p.schema.json': schema }, schemaCompiler });
    expect(read('sku,price\nA1,5\n').diagnostics).toEqual([]);
    const { diagnostics } = read('sku,price\nA1,cheap\n');
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'MB1304 `price` of row 1 of p.csv is "cheap": it must be number',
    ]);
    expect(diagnostics[0]?.related?.[0]?.place?.start.line).toBe(3);
  });

  test.each([
    ['{"type":"nothing"}', 'MB1305'],
    ['{', 'MB1302'],
    ['[]', 'MB1305'],
    ['null', 'MB1302'],
    ['7', 'MB1305'],
    ['{"$async":true,"type":"object"}', 'MB1305'],
    ['{"$ref":"https://a.example/other.json"}', 'MB1305'],
  ])('a schema %j is reported: %s', (written, code) => {
    expect(check('p.csv', 'sku,price\nA1,5\n', written).diagnostics[0]?.code).toBe(code);
  });

  test('a schema that takes too long is reported at the row, and ends the checks', () => {
    const written = JSON.stringify({ properties: { list: { uniqueItems: true } } });
    const list = Array.from({ length: 40_000 }, (_, index) => index);
    const rows = JSON.stringify([{ sku: 'A1' }, { sku: 'A2', list }, { sku: 'A3', list: 1 }]);
    const { diagnostics } = check('p.json', rows, written);
    expect(diagnostics.filter(({ code }) => code.startsWith('MB130')).map(({ message }) => message)).toEqual([
      'checking row 2 of p.json against p.schema.json takes too long',
    ]);
  });

  test('a pattern that would try every way, on the text that makes it', () => {
    const written = JSON.stringify({ properties: { sku: { pattern: '^(a+)+$' } } });
    const { diagnostics } = check(
      'p.csv',
      `sku,price
${'a'.repeat(5000)}!,5
`,
      written,
    );
    expect(diagnostics.map(({ code }) => code)).toContain('MB1304');
  });
});

describe('formats', () => {
  type Value = string | number | boolean | null;

  /** One sheet, with cells of each type and empty ones. */
  const columns = ['id', 'text', 'seconds', 'done', 'style', 'size'];
  const rows: Value[][] = [
    ['a', 'Light, "warm"\nand soft', 5, false, 'matte', '2k'],
    ['b', ' kept as it is ', 8, true, null, '1k'],
    [3, 'ünï 😀; c', 0.5, false, null, null],
  ];

  const texts = rows.map((row) => row.map((value) => String(value ?? '')));
  const table = (separator: string, lineEnd: string, change = (text: string) => text) =>
    [columns, ...texts].map((row) => row.map((cell) => quoted(change(cell))).join(separator)).join(lineEnd);
  const quoted = (cell: string) => (/[",;\n\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const asSpreadsheet = (text: string) => (/^(true|false)$/.test(text) ? text.toUpperCase() : text);
  const maps = rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index], value])));

  function cellXml(value: Value, index: number): string {
    if (typeof value === 'string')
      return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\n', '&#10;');
    const at = (row: number) => `${'ABCDEF'[index]}${row}`;
    if (typeof value === 'boolean') return `<c r="${at(0)}" t="b"><v>${Number(value)}</v></c>`;
    return value === null ? '' : `<c r="${at(0)}"><v>${value}</v></c>`;
  }

  async function book(above: string[][] = []): Promise<DataFile> {
    const cells = rows.map((row, number) =>
      row.map((value, index) => cellXml(value, index).replace(/(?<=r="[A-F])0/, String(number + 2 + above.length))),
    );
    const read = await readWorkbook(workbook({ Texts: sheetXml([...above, columns, ...cells]) }), [undefined]);
    if ('problem' in read) throw new Error(read.problem);
    return { workbook: read };
  }

  const yaml = maps
    .map((row) => Object.entries(row).map(([key, value]) => `${key}: ${value === null ? '' : JSON.stringify(value)}`))
    .map((lines) => `- ${lines.join('\n  ')}`)
    .join('\n');

  const manifest = (foreach: string) =>
    tasks(
      '  a:',
      '    kind: video',
      `    foreach: ${foreach}`,
      '    key: "{{row.id}}"',
      '    when: "{{not row.done}}"',
      '    with: { prompt: "{{row.text}} {{#if row.style}}{{row.style}}{{else}}plain{{/if}}|{{row.style}}", duration: "{{row.seconds}}" }',
      '  b:',
      '    kind: image',
      `    foreach: ${foreach}`,
      '    key: "{{row.id}}"',
      '    with: { prompt: "{{row.text}} {{row.done}}", resolution: "{{row.size}}" }',
    );

  const files: [name: string, foreach: string, file: () => DataFile | Promise<DataFile>][] = [
    ['csv', 'r.csv', () => ({ text: table(',', '\n') })],
    ['csv of a German Excel', 'r.csv', () => ({ text: `\ufeff${table(';', '\r\n', asSpreadsheet)}\r\n` })],
    ['csv of Google Sheets, with rows and columns emptied', 'r.csv', () => ({ text: sheetsExport() })],
    ['csv below a title', '{ file: r.csv, header: 3 }', () => ({ text: `Plan; 2026\n\n${table(',', '\n')}` })],
    ['tsv', 'r.tsv', () => ({ text: table('\t', '\r\n') })],
    ['xlsx', 'r.xlsx', () => book()],
    ['xlsx below a title', '{ file: r.xlsx, header: 2 }', () => book([['Plan 2026']])],
    ['json', 'r.json', () => ({ text: `\ufeff${JSON.stringify(maps, null, 2)}` })],
    ['json lines', 'r.ndjson', () => ({ text: maps.map((row) => JSON.stringify(row)).join('\r\n') })],
    ['yaml', 'r.yaml', () => ({ text: yaml })],
  ];

  function sheetsExport(): string {
    const wide = [columns, ...texts].map((row) => row.map((cell) => quoted(asSpreadsheet(cell))).join(','));
    return [...wide.map((line) => `${line},,`), ',,,,,,', ',,,,,,'].join('\r\n');
  }

  describe('one sheet', () => {
    const expected = steps(manifest('r.csv'), { data: { 'r.csv': table(',', '\n') } });

    it.each(files)('gives the same requests as %s', async (_name, foreach, file) => {
      const name = /r\.\w+/.exec(foreach)?.[0] ?? '';
      const found = steps(manifest(foreach), { data: { [name]: await file() } });
      expect(found.map(({ address, request }) => [address, request])).toEqual(
        expected.map(({ address, request }) => [address, request]),
      );
    });

    it('has fields of their types, and leaves empty ones out', () => {
      const requests = new Map(expected.map(({ address, request }) => [address, request]));
      expect(requests.get('a@a')).toEqual({ prompt: 'Light, "warm"\nand soft matte|matte', duration: 5 });
      expect(requests.get('a@3')).toEqual({ prompt: 'ünï 😀; c plain|', duration: 0.5 });
      expect(requests.has('a@b')).toBe(false);
    });
  });

  it.each([
    ['columns separated by |', 'r.csv', 'k|p\na|x, y\n', undefined],
    ['a space before a quote', 'r.csv', '"k", "p"\na,x\n', 'remove the space'],
    ['a string written as a formula', 'r.csv', 'k,p\n="007",x\n', 'remove the space or `=`'],
    ['a quote inside', 'r.csv', 'k,p\na,19" rack\n', 'put the whole value in double quotes'],
    ['an empty JSON file', 'r.json', '\n', 'r.json is empty'],
    ['a comment in JSON', 'r.json', '// rows\n[]', 'JSON has no comments'],
    ['two merges in YAML', 'r.yaml', '- &a { k: a }\n- &b { p: b }\n- { <<: *a, <<: *b }\n', '<<: [*a, *b]'],
  ])('a file that is nearly a table: %s', (_name, file, text, says) => {
    const manifest = tasks(`  a: { kind: image, foreach: ${file}, with: { prompt: "{{row.p}}" }, key: "{{row.k}}" }`);
    const { diagnostics } = load(manifest, { data: { [file]: text } });
    const said = diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n');
    if (says === undefined) expect(said).toBe('');
    else expect(said).toContain(says);
  });

  describe('the row of names', () => {
    const task = (foreach: string) =>
      tasks(`  a: { kind: image, foreach: ${foreach}, with: { prompt: "{{row.p}}" }, key: "{{row.k}}" }`);

    it.each([
      ['a title above them', 'r.csv', { 'r.csv': 'Plan 2026\nk,p\na,x\n' }, 'header: 2'],
      ['a title of a wide table', 'r.csv', { 'r.csv': 'Plan 2026,\nk,p\na,x\n' }, 'header: 2'],
      [
        'a line behind the end',
        '{ file: r.csv, header: 9 }',
        { 'r.csv': 'k,p\na,x\n' },
        'r.csv has only 2 lines with values, and none from line 9 on',
      ],
      ['no row', '{ file: r.csv, header: 0 }', { 'r.csv': 'k,p\na,x\n' }, 'is the number 0'],
      [
        'rows that name their values',
        '{ file: r.json, header: 2 }',
        { 'r.json': '[{"k":"a","p":"x"}]' },
        'has no effect on r.json',
      ],
    ])('%s', (_name, foreach, data, says) => {
      const { diagnostics } = load(task(foreach), { data });
      expect(diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n')).toContain(says);
    });
  });
});
