import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it, test } from 'vitest';
import { composeManifest } from '../../../schemas/compose-manifest.ts';
import type { Schema } from '../../../schemas/schema.ts';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import {
  type CompiledSchema,
  loadSchemaCompiler,
  type SchemaCompiler,
} from '../../../src/manifest/check/json-schema.ts';
import { compileLinearPattern } from '../../../src/manifest/check/linear-pattern.ts';
import { undescribed } from '../../rig/undescribed.ts';

const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8')) as Schema;

it('the published schema is made from the base and the kinds', () => {
  expect(read('manifest.schema.json'), 'run `npm run generate` and commit the schema').toEqual(
    composeManifest(read('manifest.base.json'), kinds),
  );
});

it('every property has a description', () => {
  expect(undescribed(read('manifest.schema.json'), /\/(if|then|allOf)\//)).toEqual([]);
});

it('nothing of our own notes is published', () => {
  expect(JSON.stringify(read('manifest.schema.json'))).not.toMatch(/"expected"|"tsType"/);
});

interface FieldSchema {
  description?: string;
  anyOf?: { enum?: string[]; enumDescriptions?: string[]; markdownEnumDescriptions?: string[] }[];
}

function fieldOf(definition: string, field: string): FieldSchema {
  const { definitions } = read('manifest.schema.json');
  const { properties } = (definitions as Record<string, { properties: Record<string, FieldSchema> }>)[definition] ?? {};
  return properties?.[field] ?? {};
}

it('an editor describes each voice: on hover, and beside each value', () => {
  const voiceId = fieldOf('voiceoverRequest', 'voice_id');
  const [voices] = voiceId.anyOf ?? [];
  expect(voiceId.description).toContain('River: neutral, american.');
  expect(voices?.enum).toHaveLength(20);
  expect(voices?.enumDescriptions?.[voices.enum?.indexOf('Charlotte') ?? -1]).toBe('female, swedish');
  expect(voices?.markdownEnumDescriptions).toEqual(voices?.enumDescriptions);
});

const accepts = new Ajv({ strict: false }).compile(read('manifest.schema.json'));
const task = (kind: string, fields: object, more: object = {}) => ({ tasks: { a: { kind, with: fields, ...more } } });
const image = (fields: object, more?: object) => task('image', { prompt: 'x', ...fields }, more);

it.each<[string, object, boolean]>([
  ['templates anywhere', image({ prompt: '{{row.p}}', model: '{{row.m}}', referenceImages: '{{vars.r}}' }), true],
  ['a ratio of the model that is named', image({ model: 'alpha-pro', aspectRatio: '21:9' }), true],
  ['a template where the model limits', image({ model: 'alpha-pro', aspectRatio: '{{row.r}}' }), true],
  ['a field that the model does not take', image({ model: 'beta-v5-lite', resolution: '2k' }), false],
  ['an axis that is one string', image({}, { matrix: { r: '1:1' } }), false],
  ['lyrics that are too long', task('music', { prompt: 'x', lyrics: 'y'.repeat(3001) }), false],
  ['a kind that is none', task('imag', {}), false],
  ['a video with fields that nobody knows', task('video', { prompt: 'x', fps: 24, style: { a: [1] } }), true],
  ['a length that is no number', task('video', { duration: 'long' }), false],
  ['a field that an upload does not take', task('upload', { path: 'x.png' }), false],
  [
    'everything a task can have',
    image(
      {},
      {
        foreach: 'p.csv',
        key: '{{row.k}}',
        matrix: { r: ['1:1', 2], include: [{ r: 3 }], exclude: [{ r: 2 }] },
        takes: 2,
        needs: ['a'],
        from: { a: { r: 2 } },
        save: 'x',
        when: '{{row.active}}',
        schema: 's.json',
        timeout: '90s',
        retry: { attempts: 2, credits: 10 },
        expect: {
          width: 1024,
          height: { min: 1 },
          ratio: '1:1',
          duration: { min: 1.5, max: 2 },
          bytes: 9,
          type: 'image',
        },
        tags: ['t'],
        description: 'd',
      },
    ),
    true,
  ],
  ['rows from the parts of a task', image({}, { foreach: '{{tasks.b.clips}}', maxItems: 3, when: true }), true],
  [
    'sections of the whole campaign',
    { ...task('image', {}), include: ['a.yaml'], selectors: { a: 'b' }, prices: { 'image/alpha-2': 3 } },
    true,
  ],
  ['tasks from elsewhere', { include: ['a.yaml'] }, true],
  ['a time without a unit', task('image', {}, { timeout: 90 }), false],
  ['a key that is none', image({}, { colour: 'x' }), false],
  ['canaries that ask', image({}, { canary: JSON.parse('{"first":2,"then":"ask"}') }), true],
  ['the address of the service', { ...image({}), service: { url: 'https://example.com' } }, false],
])('editors see the same: %s', (_, value, right) => {
  expect(accepts({ version: 1, name: 'x', 'x-mine': [1], ...value })).toBe(right);
});

/** Only the work is limited here, not the time. */
const compile = await loadSchemaCompiler();

function compiled(schema: Json, options?: Parameters<SchemaCompiler>[1]): CompiledSchema {
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
      properties: { name: { type: 'string', pattern: '^[a-z]+$' }, parts: { items: { $ref: '#/properties/name' } } },
      additionalProperties: false,
    };
    expect(isValid(tree, { name: 'a', parts: ['b'] })).toBe(true);
    expect(isValid(tree, { name: 'a', parts: ['B'] })).toBe(false);
    expect(isValid({ properties: { enum: { type: 'string' } }, $ref: '#/properties/enum' }, 'x')).toBe(true);
    expect(isValid({ const: { __proto__: 1 } }, {})).toBe(true);
    expect(isValid({ uniqueItems: true }, [1, 2, { a: 1 }, { a: 1 }])).toBe(false);
  });

  test('accepts strings as numbers if that option is set, also when it reports errors', () => {
    const found = compiled({ properties: { a: { type: 'number' }, b: { type: 'number' } } }, { textsAreValues: true });
    expect(found.validate({ a: '1', b: '2' })).toEqual([]);
    expect(found.validate({ a: '1', b: 'x' })).toMatchObject([{ path: ['b'] }]);
  });

  /** A schema whose definition refers to itself. */
  const selfIn = (definition: (self: Json) => Json): Json => ({
    ...{ $defs: { a: definition({ $ref: '#/$defs/a' }) }, $ref: '#/$defs/a' },
  });
  const deepMap = nested(40, 1, (x) => ({ x }));

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
    ['with the depth of the value', selfIn((a) => ({ properties: { x: { allOf: [a, a] } } })), deepMap],
    ['with the length of lists', selfIn((a) => ({ items: { allOf: [a, a] } })), nested(40, 1, (x) => [x])],
    [
      'by a dynamic reference',
      { $dynamicAnchor: 'a', properties: { x: { allOf: [{ $dynamicRef: '#a' }, { $dynamicRef: '#a' }] } } },
      deepMap,
    ],
    ['by an anchor', { $anchor: 'a', properties: { x: { allOf: [{ $ref: '#a' }, { $ref: '#a' }] } } }, deepMap],
    [
      'by its own address',
      { $id: 'https://example.com/a', properties: { x: { allOf: [{ $ref: 'a' }, { $ref: '#' }] } } },
      deepMap,
    ],
    [
      'a hundredfold',
      selfIn((a) => ({ properties: { x: { allOf: Array.from({ length: 100 }, () => a) } } })),
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
      'patterns are too large',
      { allOf: Array.from({ length: 200 }, (_, index) => ({ pattern: `(a${index}{1,100}b{1,100}){1,9}` })) },
    ],
    ['has more than 10000 parts', { enum: Array.from({ length: 30_000 }, (_, index) => index) }],
    ['has more than 10000 parts', nested(15, true, (x) => ({ allOf: [x, x] }))],
    ['is too large', nested(5000, true, (x) => ({ not: x }))],
    ['more than 1000000 characters', { description: 'x'.repeat(1_000_001) }],
    ['has an `$id` below its root', { $defs: { a: { $id: 'https://example.com/a' } } }],
    ['which does not exist', { $ref: '#/$defs/a' }],
    ['cannot be used: (?=…) looks ahead', { pattern: '(?=a)b' }],
    ['(?<!…) looks ahead or back', { patternProperties: { '(?<!a)b': true } }],
    ['refers back', { propertyNames: { pattern: '(a)\\1' } }],
    ['repeats something more than 1000 times', { pattern: 'a{1001}' }],
    ['repeats too much', { pattern: '(?:a{1,300}){1,300}' }],
    ['repeats too much', { pattern: 'a{1000}'.repeat(1000) }],
    ['longer than', { pattern: 'a'.repeat(20_000) }],
    ['only references such as', { $ref: 'https://example.com/other.json' }],
    ['only references such as', { $ref: 'file:///etc/passwd' }],
    ['only references such as', { $anchor: 'a', items: { $ref: '#a' } }],
    ['no schema with key or ref', { $schema: 'https://example.com/my-own-dialect' }],
    ['`$async` cannot be used', { $async: true }],
  ])('is none when it %s', (why, schema) => {
    expect(problemOf(schema)).toContain(why);
  });

  test('is limited by time as well, for all values together', async () => {
    let now = 0;
    const result = (await loadSchemaCompiler(() => (now += 1000)))({ items: { type: 'number' } });
    if ('problem' in result) expect.fail(result.problem);
    for (const _ of [1, 2, 3]) expect(result.validate([1])).toEqual([]);
    expect(result.validate([1])).toEqual([]);
    expect(result.validate([1])).toBe('too-much');
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
