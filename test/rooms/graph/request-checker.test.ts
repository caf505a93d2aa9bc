import { describe, expect, it } from 'vitest';
import type { RequestChecker, RequestFault } from '../../../src/graph/check/check-request.ts';
import { makeRequestChecker } from '../../../src/graph/check/request-checker.ts';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';
import { loadSchemaCompiler } from '../../../src/manifest/check/json-schema.ts';

const compile = await loadSchemaCompiler();

/** A checker by a document that describes one create of videos. */
function checkerFor(schema: Json): RequestChecker {
  const document = {
    paths: { '/videos/create': { post: { requestBody: { content: { 'application/json': { schema } } } } } },
  };
  return makeRequestChecker(readServiceDocument(document, kinds), compile);
}

function check(schema: Json, request: Json): RequestFault[] {
  const faults = checkerFor(schema)('video', request);
  if (faults === 'unchecked') throw new Error('unchecked');
  return faults;
}

const strict: Json = {
  type: 'object',
  required: ['prompt'],
  additionalProperties: false,
  properties: {
    prompt: { type: 'string', minLength: 3, maxLength: 100 },
    model: { type: 'string', enum: ['motion-2', 'motion-2-fast'] },
    duration: { type: 'integer', minimum: 1, maximum: 12, description: 'Seconds.' },
    image: { type: 'string', format: 'uri', pattern: '\\.png$' },
    images: { type: 'array', maxItems: 2, uniqueItems: true, items: { type: 'string' } },
    loop: { type: 'boolean' },
    at: { type: 'string', format: 'date-time' },
    seed: { type: 'integer' },
  },
};

describe('mistakes, in words', () => {
  it.each<[string, object, string, string, string[]?]>([
    ['too long', { duration: 60 }, 'duration', 'is the number 60: it must be <= 12', ['“Seconds.”']],
    [
      'a time without seconds',
      { at: '2030-05-01T09:00+02:00' },
      'at',
      'is "2030-05-01T09:00+02:00": it must match format "date-time"',
    ],
    ['no whole number', { duration: 1.5 }, 'duration', 'is the number 1.5: it must be integer'],
    ['a string for a number', { seed: '5' }, 'seed', 'is "5": it must be integer'],
    [
      'a long string',
      { prompt: 'a'.repeat(101) },
      'prompt',
      'is a string of 101 characters: it must NOT have more than 100 characters',
    ],
    [
      'a model that is none',
      { model: 'motion2' },
      'model',
      'is "motion2", which the service does not allow',
      ['did you mean `motion-2`?', 'motion-2-fast'],
    ],
    [
      'a field that is none',
      { durration: 5 },
      'durration',
      'is not a field of the request',
      ['did you mean `duration`?', 'fields: prompt, model'],
    ],
    ['a field like no other', { fps: 24 }, 'fps', 'is not a field of the request', ['fields: prompt']],
    ['a field that is missing', { prompt: undefined, duration: 5 }, 'prompt', 'is missing in the request', ['add it']],
    [
      'a required field with a typing mistake',
      { prompt: undefined, promt: 'abc' },
      'promt',
      'is not a field of the request',
      ['did you mean `prompt`?'],
    ],
    ['too many', { images: ['a', 'b', 'c'] }, 'images', 'is a list: it must NOT have more than 2 items'],
    ['an entry of the wrong type', { images: ['a', 7] }, 'images.1', 'is the number 7: it must be string'],
    ['a string for yes', { loop: 'yes' }, 'loop', 'is "yes": it must be boolean'],
  ])('%s', (_name, request, at, message, says = []) => {
    const faults = check(strict, JSON.parse(JSON.stringify({ prompt: 'abc', ...request })));
    expect(faults.map((fault) => [fault.code, fault.message, fault.at.join('.')])).toEqual([
      ['MB1506', `\`${at}\` ${message}`, at],
    ]);
    for (const words of [...says, "the service's OpenAPI document, POST /videos/create"]) {
      expect(faults[0]?.hint).toContain(words);
    }
  });

  it('all at once', () => {
    expect(
      check(strict, { duration: 0, loop: 1 })
        .map(({ at }) => at.join('.'))
        .sort(),
    ).toEqual(['duration', 'loop', 'prompt']);
  });
});

describe('what comes from other steps', () => {
  it.each<[string, Json]>([
    ['a link stands for itself, whatever its form', { $ref: 'hero', field: 'url' }],
    ['a string with a link in it', { $text: ['see ', { $ref: 'hero', field: 'url' }] }],
  ])('%s', (_name, image) => {
    expect(check(strict, { prompt: 'abc', image })).toEqual([]);
  });

  it('a link where no text can stand', () => {
    const faults = check(strict, { prompt: 'abc', seed: { $ref: 'hero', field: 'url' } });
    expect(faults.map(({ message }) => message)).toEqual(['`seed` is the output of one step: it must be integer']);
  });
});

describe('choices', () => {
  const either: Json = {
    anyOf: [{ required: ['prompt'] }, { required: ['image'] }],
    properties: { duration: { anyOf: [{ type: 'integer', maximum: 12 }, { const: 'auto' }] } },
  };

  it('one thing that is missing of several is one mistake', () => {
    const faults = check(either, { duration: 5 });
    expect(faults.map(({ message }) => message)).toEqual(['the request fits none of the allowed forms']);
    expect(faults[0]?.hint).toContain('`prompt` is missing in the request; `image` is missing in the request');
  });

  it('a rule of one model only', () => {
    const rule: Json = {
      if: { required: ['model'], properties: { model: { const: 'fast' } } },
      [`${'then'}`]: { properties: { duration: { maximum: 4 } } },
      not: { required: ['image', 'video'] },
    };
    expect(check(rule, { model: 'fast', duration: 5 }).map(({ message }) => message)).toEqual([
      '`duration` is the number 5: it must be <= 4',
    ]);
    expect(check(rule, { model: 'slow', duration: 5 })).toEqual([]);
    expect(check(rule, { image: 'x', video: 'y' }).map(({ message }) => message)).toEqual([
      'the request is a map: it must NOT be valid',
    ]);
  });
});

it('a value that breaks several rules is one mistake', () => {
  const text: Json = { properties: { prompt: { type: 'string', minLength: 1, pattern: '\\S' } } };
  expect(check(text, { prompt: '' }).map(({ message }) => message)).toEqual([
    '`prompt` is "": it must NOT have fewer than 1 characters',
  ]);
});

describe('what nobody can judge', () => {
  it.each<[string, Json]>([
    ['no schema', {}],
    ['a kind that the document does not have', { paths: {} }],
  ])('%s', (_name, document) => {
    const checker = makeRequestChecker(readServiceDocument(document, kinds), compile);
    expect(checker('video', {})).toBe('unchecked');
    expect(checker('constructor', {})).toBe('unchecked');
  });

  it.each<[string, Json]>([
    ['a type that is none', { type: 'file' }],
    ['an expression that is none', { properties: { a: { pattern: '(' } } }],
    ['a number', 7],
  ])('a schema with %s', (_name, schema) => {
    expect(checkerFor(schema)('video', { prompt: 'x' })).toBe('unchecked');
  });

  it('a request that takes too long, and no other', () => {
    const parts = Array.from({ length: 300 }, () => ({ uniqueItems: true }));
    const checker = checkerFor({ properties: { list: { allOf: parts } }, required: ['prompt'] });
    expect(checker('video', { prompt: 'x', list: Array.from({ length: 9000 }, (_, index) => index) })).toBe(
      'unchecked',
    );
    expect(checker('video', { prompt: 'x', list: [] })).toEqual([]);
    expect(checker('video', { list: [] })).toHaveLength(1);
  });
});

describe('fields that the document does not list', () => {
  const listed: Json = {
    type: 'object',
    properties: {
      prompt: { type: 'string' },
      imageUrl: { type: 'string' },
    },
  };
  const open = { ...(listed as object), additionalProperties: true } as Json;
  const unlisted = (schema: Json, request: Json) =>
    check(schema, request)
      .filter(({ code }) => code === 'MB1501')
      .map(({ at, meant, severity }) => [at.join('.'), meant, severity]);

  it.each<[string, Json, Json, unknown[]]>([
    ['a slip', listed, { prompt: 'x', imagUrl: 'y' }, [['imagUrl', 'imageUrl', 'warning']]],
    ['another end of the same word', listed, { image: 'https://a.example/x.png' }, [['image', 'imageUrl', 'warning']]],
    ['a slip of one that is there, too', listed, { imageUrl: 'y', imagUrl: 'y' }, [['imagUrl', undefined, 'warning']]],
    ['a strange one', listed, { seedling: 1 }, [['seedling', undefined, 'warning']]],
    ['in any of its forms', { anyOf: [{ properties: { a1: {} } }, { properties: { b1: {} } }] }, { a1: 1, b1: 2 }, []],
    ['an output of another step', listed, { imageUrl: { $ref: 'hero', field: 'url' } }, []],
    ['where nothing is listed', { type: 'object' }, { anything: 1 }, []],
    ['where others may come', open, { seedling: 1 }, []],
    ['a slip where others may come', open, { imagUrl: 'y' }, [['imagUrl', 'imageUrl', 'warning']]],
    ['where others are refused already', { ...(listed as object), additionalProperties: false }, { imagUrl: 'y' }, []],
  ])('%s', (_name, schema, request, found) => {
    expect(unlisted(schema, request)).toEqual(found);
  });
});
