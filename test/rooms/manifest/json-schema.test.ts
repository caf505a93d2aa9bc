import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import {
  type CompiledSchema,
  type CompileOptions,
  loadSchemaCompiler,
} from '../../../src/manifest/check/json-schema.ts';
import { compileLinearPattern } from '../../../src/manifest/check/linear-pattern.ts';

/** The work alone is limited: no clock has a part in what these say. */
const compile = await loadSchemaCompiler();

function compiled(schema: Json, options?: CompileOptions): CompiledSchema {
  const result = compile(schema, options);
  if ('problem' in result) expect.fail(result.problem);
  return result;
}

function problemOf(schema: Json): string | undefined {
  const result = compile(schema);
  return 'problem' in result ? result.problem : undefined;
}

const isValid = (schema: Json, value: Json) => {
  const found = compiled(schema).validate(value);
  return found === 'too-much' ? found : found.length === 0;
};

function nested(levels: number, leaf: Json, around: (inner: Json) => Json): Json {
  let value = leaf;
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

/** `s0` is twice `s1`, that is twice `s2`, and so on. */
function doubling(levels: number, leaf: Json, both: (one: Json, other: Json) => Json): Json {
  const $defs: { [name: string]: Json } = { [`s${levels}`]: leaf };
  for (let level = 0; level < levels; level += 1) {
    const next = { $ref: `#/$defs/s${level + 1}` };
    $defs[`s${level}`] = both(next, { ...next });
  }
  return { $defs, $ref: '#/$defs/s0' };
}

describe('a schema of somebody else', () => {
  test('judges as JSON Schema says', () => {
    const tree = {
      $id: 'https://example.com/tree',
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string', pattern: '^[a-z]+$' }, parts: { type: 'array', items: { $ref: '#' } } },
      additionalProperties: false,
    };
    expect(isValid(tree, { name: 'a', parts: [{ name: 'b', parts: [] }] })).toBe(true);
    expect(isValid(tree, { name: 'a', parts: [{ name: 'B' }] })).toBe(false);
    expect(isValid({ $defs: { a: { $anchor: 'a', const: 1 } }, $ref: '#a' }, 1)).toBe(true);
    expect(
      isValid({ definitions: { a: { enum: [{ $ref: '#/enum/0' }] } }, $ref: '#/definitions/a' }, { $ref: '#/enum/0' }),
    ).toBe(true);
    expect(isValid({ properties: { enum: { type: 'string' } }, $ref: '#/properties/enum' }, 'x')).toBe(true);
    expect(isValid({ const: { __proto__: 1 } }, {})).toBe(true);
    expect(isValid({ uniqueItems: true }, [1, 2, { a: 1 }, { a: 1 }])).toBe(false);
  });

  test('takes texts for numbers where it is told to, also when it tells what is wrong', () => {
    const found = compiled({ properties: { a: { type: 'number' }, b: { type: 'number' } } }, { textsAreValues: true });
    expect(found.validate({ a: '1', b: '2' })).toEqual([]);
    expect(found.validate({ a: '1', b: 'x' })).toMatchObject([{ path: ['b'] }]);
  });

  test.each<[string, Json, Json]>([
    ['a choice of choices', doubling(40, { type: 'number' }, (a, b) => ({ anyOf: [a, b] })), 'x'],
    ['all of all', doubling(40, { type: 'string' }, (a, b) => ({ allOf: [a, b] })), 'x'],
    ['one of one', doubling(40, { type: 'number' }, (a, b) => ({ oneOf: [a, b] })), 'x'],
    ['not not', doubling(40, { type: 'number' }, (a, b) => ({ not: { anyOf: [{ not: a }, b] } })), 'x'],
    [
      'if and then',
      doubling(40, true, (a, b) =>
        Object.fromEntries([
          ['if', a],
          ['then', b],
        ]),
      ),
      'x',
    ],
    ['dependent schemas', doubling(40, true, (a, b) => ({ dependentSchemas: { a }, allOf: [b] })), { a: 1 }],
    ['unevaluated', doubling(40, true, (a, b) => ({ allOf: [a, b], unevaluatedProperties: false })), {}],
    [
      'with the depth of the value',
      {
        $defs: { a: { properties: { x: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } } },
        $ref: '#/$defs/a',
      },
      nested(40, 1, (x) => ({ x })),
    ],
    [
      'with the length of lists',
      {
        $defs: { a: { items: { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } } },
        $ref: '#/$defs/a',
      },
      nested(40, 1, (x) => [x]),
    ],
    [
      'by a dynamic reference',
      { $dynamicAnchor: 'a', properties: { x: { allOf: [{ $dynamicRef: '#a' }, { $dynamicRef: '#a' }] } } },
      nested(40, 1, (x) => ({ x })),
    ],
    [
      'by an anchor',
      { $anchor: 'a', properties: { x: { allOf: [{ $ref: '#a' }, { $ref: '#a' }] } } },
      nested(40, 1, (x) => ({ x })),
    ],
    [
      'by its own address',
      { $id: 'https://example.com/a', properties: { x: { allOf: [{ $ref: 'a' }, { $ref: '#' }] } } },
      nested(40, 1, (x) => ({ x })),
    ],
    [
      'a hundredfold',
      {
        $defs: { a: { properties: { x: { allOf: Array.from({ length: 100 }, () => ({ $ref: '#/$defs/a' })) } } } },
        $ref: '#/$defs/a',
      },
      nested(10, 1, (x) => ({ x })),
    ],
    ['unequal things', { uniqueItems: true }, Array.from({ length: 100_000 }, (_, index) => ({ index }))],
    [
      'a long list of things',
      { items: { enum: Array.from({ length: 3000 }, (_, index) => ({ index })) } },
      Array.from({ length: 100_000 }, () => ({ index: 2999 })),
    ],
    [
      'many patterns for many names',
      { patternProperties: Object.fromEntries(Array.from({ length: 400 }, (_, index) => [`x${index}$`, true])) },
      Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`name${index}`, 1])),
    ],
    ['a format of a long text', { format: 'url' }, `http://${'a:@'.repeat(100_000)} `],
    [
      'a length, many times',
      { allOf: Array.from({ length: 3000 }, () => ({ maxLength: 10_000_000 })) },
      'x'.repeat(1_000_000),
    ],
    ['a part that is itself', { $ref: '#' }, 1],
    [
      'parts that are each other',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
      1,
    ],
  ])('gives up on what grows without end: %s', (_, schema, value) => {
    const result = compile(schema);
    const seen = 'problem' in result ? 'too-much' : result.validate(value);
    expect(seen).toBe('too-much');
  });

  test.each<[string, Json]>([
    [
      'has more than 500 patterns',
      { patternProperties: Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`x${index}$`, true])) },
    ],
    [
      'patterns are too large',
      { allOf: Array.from({ length: 200 }, (_, index) => ({ pattern: `(a${index}{1,100}b{1,100}){1,9}` })) },
    ],
    ['has more than', { enum: Array.from({ length: 30_000 }, (_, index) => index) }],
    ['has more than', nested(15, true, (x) => ({ allOf: [x, x] }))],
    ['nested more than', nested(5000, true, (x) => ({ not: x }))],
    ['nested more than', { const: nested(5000, 1, (x) => [x]) }],
    ['more than 1000000 characters', { description: 'x'.repeat(1_000_001) }],
    ['which is not a schema', { enum: [{ type: 'string' }], $ref: '#/enum/0' }],
    ['which is not a schema', { properties: { a: { type: 'string' } }, $ref: '#/properties' }],
    [
      'which is not a schema',
      { $defs: { a: { $id: 'https://example.com/a', const: { type: 'string' }, $ref: '#/const' } } },
    ],
    ['cannot be used: (?=…) looks ahead', { pattern: '(?=a)b' }],
    ['(?<!…) looks ahead or back', { patternProperties: { '(?<!a)b': true } }],
    ['refers back', { propertyNames: { pattern: '(a)\\1' } }],
    ['repeats something more than 1000 times', { pattern: 'a{1001}' }],
    ['repeats too much', { pattern: '(?:a{1,300}){1,300}' }],
    ['repeats too much', { pattern: 'a{1000}'.repeat(1000) }],
    ['longer than', { pattern: 'a'.repeat(20_000) }],
    ["can't resolve reference", { $ref: 'https://example.com/other.json' }],
    ["can't resolve reference", { $ref: 'file:///etc/passwd' }],
    ['no schema with key or ref', { $schema: 'https://example.com/my-own-dialect' }],
    ['`$async` cannot be used', { $async: true }],
  ])('is none when it %s', (why, schema) => {
    expect(problemOf(schema)).toContain(why);
  });

  test('is limited by time as well, for all values together', () => {
    let now = 0;
    // A look at the clock every thousand steps: each takes a second here.
    return loadSchemaCompiler(() => (now += 1000)).then((compileTimed) => {
      const result = compileTimed({ items: { type: 'number' } });
      if ('problem' in result) expect.fail(result.problem);
      expect(result.validate([1])).toEqual([]);
      expect(result.validate(Array.from({ length: 10_000 }, () => 1))).toBe('too-much');
      expect(result.validate([1])).toBe('too-much');
    });
  });

  test('does not judge by a pattern that it cannot match, where that is asked for', () => {
    const schema = { properties: { a: { pattern: '^(?=b)' }, c: { pattern: '^d' } } };
    expect(compiled(schema, { skipsHardPatterns: true }).validate({ a: 'x', c: 'x' })).toMatchObject([{ path: ['c'] }]);
    expect(compile({ pattern: '(' }, { skipsHardPatterns: true })).toHaveProperty('problem');
  });
});

describe('a pattern', () => {
  test.each([
    '^(a+)+$',
    '^(a|a)*$',
    '^(.*a){20}$',
    '^(a?){30}a{30}$',
    '(x+x+)+y',
    '^(?:a|ab|b)*c$',
    '^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+$',
  ])('takes no longer than the text is long: %s', (pattern) => {
    const { test: matches } = compileLinearPattern(pattern);
    for (const text of [`${'a'.repeat(50_000)}!`, 'a'.repeat(50_000), 'x'.repeat(50_000), 'ab'.repeat(50_000)])
      matches(text);
    expect(matches('!')).toBe(false);
  });

  const patterns = [
    String.raw`^\s+$ ^\S+$ ^[\s,]+$ ^.$ ^[^]$ ^\d{2,3}$ ^[\w-]+$ \bb\b ^\u0041$ ^\x41|\cA$ ^(?<year>\d+)$ ^\p{Lu}$`,
    String.raw`^a{2}$|^(bc){1,2}$ ^[\]]$ ^\/$ ^a|b$ ^$ ^\u{1f600}$ ^[a\-z]$`,
  ].flatMap((several) => several.split(' '));
  const texts = [
    ...'a A aa b bc bcbc bcbcbc 12 1234 a-b 😀 Ä ä ] / - é1'.split(' '),
    ...['', 'ab b', ' ,', '\u00a0', '\ufeff', '\u000b', '\u2028', '\n', '\r', '\u0001'],
  ];
  test.each(patterns)('means what it means in JavaScript: %s', (pattern) => {
    const linear = compileLinearPattern(pattern);
    const own = new RegExp(pattern, 'u');
    for (const text of texts) expect([text, linear.test(text)]).toEqual([text, own.test(text)]);
  });
});
