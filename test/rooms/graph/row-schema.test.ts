import { describe, expect, test } from 'vitest';
import { loadSchemaCompiler } from '../../../src/manifest/check/json-schema.ts';
import { load } from '../manifest/load.ts';

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
  test('texts of a CSV file count as what they say', () => {
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
    ['p.csv', 'sku,price,state\nA1,5,lvie\n', '2', 'must be one of the allowed values'],
    ['p.csv', 'sku,price,state,x\nA1,5,live,1\n', '2', 'does not know: `x`'],
    ['p.json', '[{"sku":"A1"},{"sku":"A2","price":5}]', '1', 'has no `price`'],
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

  test('numbers of a schema may be written in any way', () => {
    const written = '{"properties": {"price": {"type": "number", "minimum": 1.0, "maximum": 18446744073709551615}}}';
    const { diagnostics } = check('p.csv', 'sku,price\nA1,0\n', written);
    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'MB1304 `price` of row 1 of p.csv is "0": it must be >= 1',
    ]);
  });

  test('near misses and the words of the schema are in the hint', () => {
    expect(check('p.csv', 'sku,price,state\nA1,5,lvie\n').diagnostics[0]?.hint).toContain('did you mean `live`?');
    expect(check('p.json', '[{"sku":"a","price":5}]').diagnostics[0]?.hint).toContain('Capital letters and digits.');
  });

  test.each([
    ['{"type":"nothing"}', 'MB1305'],
    ['{', 'MB1302'],
    ['[]', 'MB1305'],
    ['null', 'MB1302'],
    ['7', 'MB1305'],
    ['{"$async":true,"type":"object"}', 'MB1305'],
    ['{"$ref":"https://a.example/other.json"}', 'MB1305'],
  ])('a schema %j is told: %s', (written, code) => {
    expect(check('p.csv', 'sku,price\nA1,5\n', written).diagnostics[0]?.code).toBe(code);
  });

  test('a schema that takes too long is told, at the row, and ends the checks', () => {
    const $defs = { a: { items: { allOf: Array.from({ length: 10 }, () => ({ $ref: '#/$defs/a' })) } } };
    const written = JSON.stringify({ $defs, properties: { list: { $ref: '#/$defs/a' } } });
    const rows = JSON.stringify([{ sku: 'A1' }, { sku: 'A2', list: [[[[[[[[]]]]]]]] }, { sku: 'A3', list: 1 }]);
    const { diagnostics } = check('p.json', rows, written);
    expect(diagnostics.filter(({ code }) => code.startsWith('MB130')).map(({ message }) => message)).toEqual([
      'to check row 2 of p.json by p.schema.json takes too long',
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

  test('draft-07 works as well', () => {
    const old = JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...JSON.parse(schema) });
    expect(check('p.csv', 'sku,price\nA1,5\n', old).graph?.steps).toHaveLength(1);
  });
});
