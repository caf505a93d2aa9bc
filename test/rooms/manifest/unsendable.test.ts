import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadSchemaCompiler } from '../../../src/manifest/check/json-schema.ts';
import {
  findUnsendableInJson,
  whyNumberIsUnsendable,
  whyTextIsUnsendable,
} from '../../../src/manifest/check/unsendable.ts';
import { anyCharacter } from '../../rig/any-character.ts';
import { image, load, steps, tasks } from './load.ts';
import { productTask, testMistakes } from './mistakes.ts';

const influencer = (...lines: string[]) => image(...lines).replace('kind: image', 'kind: influencer');

describe('texts that no request can carry', () => {
  testMistakes([
    [
      'NUL, as each of its escapes',
      image('prompt: "a \\0 b"', 'model: "alpha\\u00002"', 'resolution: "\\x00"', 'aspectRatio: "\\U00000000"'),
      'MB1106 7:18, MB1106 8:20, MB1106 9:20, MB1106 10:21',
      'U+0000',
      'remove it',
    ],
    {
      name: 'half a character, first or second',
      text: image('prompt: "a \\ud83d b"', 'referenceImages: ["https://example.com/\\uDE00.png"]'),
      found: ['MB1106 7:18', 'MB1106 8:46'],
      says: ['U+D83D', 'U+DE00', 'both of its halves'],
    },
    [
      'half a character behind a whole one, and two halves in the wrong order',
      image('prompt: "\\ud83d\\ude00\\ud83d"', 'model: "\\ude00\\ud83d"', 'resolution: "\\ud83d \\ude00"'),
      'MB1106 7:28, MB1106 8:15, MB1106 9:20',
    ],
    [
      'in a name, a tag, a key, a var, a default, a save name, the campaign’s name',
      `${[
        'version: 1',
        'name: "a\\0"',
        'vars: { v: "a\\0", list: [["\\ud800"]] }',
        'defaults: { image: { prompt: "\\ud800" } }',
        'tasks:',
        '  "he\\0ro": { kind: image, with: { prompt: x } }',
        '  vase: { kind: image, tags: ["\\0"], save: "a\\0", key: "\\0", description: "\\0" }',
        '  bowl: { kind: influencer, with: { a: { b: { "\\ud800": 1 } } } }',
      ].join('\n')}\n`,
      'MB1106 2:9, MB1106 3:14, MB1106 3:28, MB1106 4:31, MB1106 6:6, MB1106 7:32, MB1106 7:46, MB1106 7:57, MB1106 7:76, MB1106 8:48',
    ],
    ['a raw NUL in the manifest', image('prompt: a \0 b', '# nothing'), 'MB1003 7:17', 'NUL byte', 'save it as UTF-8'],
    {
      name: 'a raw NUL in a table',
      text: productTask('    with: { prompt: "{{row.name}}" }'),
      data: { 'products.csv': 'sku,name\nA,b\nB,c\0d\n' },
      found: ['MB1302 products.csv:3:4'],
    },
    {
      name: 'a table in UTF-16 without a mark',
      text: productTask('    with: { prompt: "{{row.name}}" }'),
      data: { 'products.csv': [...'sku,name\nA,b\n'].join('\0') },
      found: ['MB1302 products.csv:1:2'],
      says: ['UTF-16'],
    },
    {
      name: 'in data, as a value and as a column',
      text: productTask('    with: { prompt: "{{row.name}}" }').replace('.csv', '.json'),
      data: { 'products.json': '[{"sku": "A", "name": "x\\u0000"},\n {"sku": "B", "na\\ud800me": "\\\\u0000"}]' },
      found: ['MB1106 products.json:1:25', 'MB1106 products.json:2:18'],
    },
    {
      name: 'in an included manifest and in YAML rows',
      text: `include: [more.yaml]\n${tasks('  a: { kind: image, foreach: r.yaml, key: "{{row.k}}", with: { prompt: "{{row.p}}" } }')}`,
      data: { 'more.yaml': 'vars: { v: "\\0" }\n', 'r.yaml': '- { k: a, p: "\\ud800" }\n' },
      found: ['MB1106 more.yaml:1:13', 'MB1106 r.yaml:1:15'],
    },
    [
      'made by a helper',
      tasks('  a: { kind: image, foreach: [a], with: { prompt: \'{{pad row 4 "😀"}}\' } }'),
      'MB1204 4:52',
      'would cut "😀" in half',
    ],
    {
      name: 'in a value from outside',
      text: `vars: { map: {}, list: [], text: a }\n${tasks('  a: { kind: image, with: { prompt: x } }')}`,
      vars: { map: '{"a": "\\u0000"}', list: '["\\ud800"]', text: 'caf\ufffd' },
      found: ['MB1106 1:9', 'MB1106 1:18', 'MB1106 1:28'],
      says: ['set from outside', 'not UTF-8'],
    },
  ]);

  it('is no mistake where both halves stand, or where the escape is escaped', () => {
    const [step] = steps(image('prompt: "\\ud83d\\ude00 😀 \\\\u0000 \\\\ud800"'));
    expect(step?.request.prompt).toBe('😀 😀 \\u0000 \\ud800');
  });
});

describe('numbers that arrive as others', () => {
  testMistakes([
    [
      'in every way to write one',
      influencer(
        'prompt: x',
        'a: -9007199254740993',
        'b: 0x20000000000001',
        'c: 0o400000000000000001',
        'd: 1e400',
        'e: -1e999',
        'f: 9007199254740993.0',
        'g: 1e-400',
        'h: [[12345678901234567890]]',
      ),
      'MB1106 8:10, MB1106 9:10, MB1106 10:10, MB1106 11:10, MB1106 12:10, MB1106 13:10, MB1106 14:10, MB1106 15:12',
    ],
    ['.inf and .nan', influencer('a: .inf', 'b: .nan'), 'MB1003 7:10, MB1003 8:10'],
    {
      name: 'in JSON rows, at their own places, five of many',
      text: productTask('    with: { prompt: "{{row.name}}" }').replace('.csv', '.json'),
      data: {
        'products.json': `[${Array.from({ length: 9 }, (_, at) => `{"sku": "A${at}", "id": 9007199254740993}`).join(',\n')}]`,
      },
      found: [22, 21, 21, 21, 21].map((column, at) => `MB1106 products.json:${at + 1}:${column}`),
      says: ['(and 4 more like this)'],
    },
    {
      name: 'in JSON Lines',
      text: productTask('    with: { prompt: "{{row.name}}" }').replace('.csv', '.jsonl'),
      data: { 'products.jsonl': '{"sku": "A", "name": 1}\n{"sku": "B", "name": 1e400}\n' },
      found: ['MB1106 products.jsonl:2:22'],
    },
    {
      name: 'from outside',
      text: `vars: { a: 1, b: 2, c: [], d: 3 }\n${tasks('  a: { kind: image, with: { prompt: x } }')}`,
      vars: { a: '9007199254740993', b: ' 1e400 ', c: '[9007199254740993]', d: 'Infinity' },
      found: ['MB1106 1:9', 'MB1106 1:15', 'MB1106 1:21', 'MB1103 1:28'],
    },
  ]);

  it('stay as they are up to 2^53 - 1, as texts, in tables and with an exponent', () => {
    const [step] = steps(influencer('a: 9007199254740991', 'b: -9007199254740991', 'c: "9007199254740993"', 'd: 1e15'));
    expect(step?.request).toEqual({ a: 9007199254740991, b: -9007199254740991, c: '9007199254740993', d: 1e15 });
    const text = productTask('    with: { prompt: "{{row.name}}" }');
    const [first] = steps(text, { data: { 'products.csv': 'sku,name\nA,9007199254740993\n' } });
    expect(first?.request.prompt).toBe('9007199254740993');
  });

  it('may stand in a schema of rows, which is sent nowhere', async () => {
    const schemaCompiler = await loadSchemaCompiler();
    const schema =
      '{"properties": {"name": {"type": "string", "pattern": "^[^\\u0000]*$"}, "n": {"maximum": 18446744073709551615}}}';
    const text = productTask('    schema: s.json', '    with: { prompt: "{{row.name}}" }');
    const data = { 'products.csv': 'sku,name\nA,b\n', 's.json': schema };
    expect(load(text, { data, schemaCompiler }).found).toEqual([]);
  });
});

describe('what is said of a value', () => {
  it('is nothing exactly where JSON in UTF-8 gives it back', () => {
    const texts = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom('\ud83d', '\ude00', 'a') }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const isSame = new TextDecoder().decode(new TextEncoder().encode(text)) === text;
        expect(whyTextIsUnsendable(text) === undefined).toBe(isSame && !text.includes('\0'));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 60n), max: 2n ** 60n }), (number) => {
        const isExact = number > -(2n ** 53n) && number < 2n ** 53n;
        expect(whyNumberIsUnsendable(Number(number), String(number)) === undefined).toBe(isExact);
      }),
      { numRuns: 2000 },
    );
  });

  it('is found in any JSON, whatever stands around it, and points to it', () => {
    const odd = fc.constantFrom('9007199254740993', '"a\\u0000"', '"\\ud83d"', '1e400', '"\\\\\\ud800"');
    fc.assert(
      fc.property(fc.json(), fc.json(), odd, (before, after, written) => {
        expect([...findUnsendableInJson(`[${before}]`)].length).toBe(
          [...findUnsendableInJson(`[${before}, "x"]`)].length,
        );
        const text = `[${before}, ${written}, ${after}]`;
        const at = `[${before}, `.length;
        const found = [...findUnsendableInJson(text)].filter(({ start }) => start >= at && start < at + written.length);
        expect(found).toHaveLength(1);
        expect(written).toContain(text.slice(found[0]?.start, found[0]?.end));
      }),
      { numRuns: 500 },
    );
  });
});
