import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';

type Map = { [key: string]: Json };

const body = (schema: Json) => ({ requestBody: { content: { 'application/json': { schema } } } });
const documentOf = (paths: Map, more: Map = {}): Json => ({
  openapi: '3.1.0',
  info: { version: '1.2.0' },
  servers: [{ url: '/api/v1' }],
  paths,
  ...more,
});
const read = (document: Json) => readServiceDocument(document, kinds);
const schemaOf = (schema: Json, more: Map = {}) =>
  read(documentOf({ '/videos/create': { post: body(schema) } }, more)).creates.video?.schema;

describe('where creates go to', () => {
  it.each<[string, Json]>([
    ['relative to the server', documentOf({ '/videos/create': { post: {} } })],
    ['with the prefix in each path', documentOf({ '/api/v1/videos/create': { post: {} } })],
    [
      'with the whole address of the server',
      { servers: [{ url: 'https://a.example/api/v1/' }], paths: { '/api/v1/videos/create': { post: {} } } },
    ],
    ['from the root, said at the path', documentOf({ '/api/v1/videos/create': { servers: [{ url: '/' }], post: {} } })],
  ])('%s', (_name, document) => {
    const { creates, operations } = read(document);
    expect(creates.video).toEqual({ path: '/videos/create' });
    expect(operations).toEqual(['POST /videos/create']);
  });

  it('the first candidate that takes a POST', () => {
    const { creates } = read(
      documentOf({ '/voiceovers/create': { get: {} }, '/voiceovers': { post: {} }, '/clippings': { post: {} } }),
    );
    expect(creates.voiceover?.path).toBe('/voiceovers');
    expect(creates.clipping?.path).toBe('/clippings');
    expect(creates.thumbnail).toBeUndefined();
    expect(read(documentOf({ '/posts': { post: {} }, '/posts/create': { post: {} } })).creates.post?.path).toBe(
      '/posts',
    );
  });

  const takes = (...fields: string[]) => ({
    post: body({ type: 'object', properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])) }),
  });
  const all = ['prompt', 'model', 'ratio', 'duration', 'image'];

  it.each<[string, Map, object]>([
    [
      'the only one that takes what it is made from',
      { '/videos/generations/new': takes('prompt') },
      { path: '/videos/generations/new' },
    ],
    [
      'beside others that take other things',
      { '/videos/a': takes('prompt'), '/videos/b': takes('videoId'), '/videos/c': { post: {} } },
      { path: '/videos/a' },
    ],
    [
      'none where two take all',
      { '/videos/a': takes(...all), '/videos/b': takes(...all) },
      { why: 'several operations may create this kind: POST /videos/a, POST /videos/b' },
    ],
    [
      'none where two take what it is made from',
      { '/videos/a': takes('prompt'), '/videos/b': takes('prompt') },
      { why: 'several operations may create this kind: POST /videos/a, POST /videos/b' },
    ],
    [
      'none below an id',
      { '/videos/{id}/again': takes(...all) },
      { why: 'no other POST operation below /videos has the field `prompt`' },
    ],
    [
      'none of another collection',
      { '/videosphere/new': takes(...all), '/images/new': takes(...all) },
      { why: 'no other POST operation below /videos has the field' },
    ],
    ['none that is only asked', { '/videos/new': { get: takes(...all).post } }, { why: 'no other POST' }],
    [
      'in one of its forms',
      {
        '/videos/new': {
          post: body({ oneOf: [{ properties: { url: {} } }, { allOf: [{ properties: { prompt: {} } }] }] }),
        },
      },
      { path: '/videos/new' },
    ],
  ])('another path by its operation: %s', (_name, paths, expected) => {
    const { creates, missing } = read(documentOf(paths));
    if ('path' in expected)
      expect([creates.video, missing.video]).toEqual([
        expect.objectContaining({ ...expected, byOperation: true }),
        undefined,
      ]);
    else
      expect([creates.video, missing.video]).toEqual([
        undefined,
        expect.stringContaining((expected as { why: string }).why),
      ]);
  });

  it('a known path goes before any other', () => {
    const { creates } = read(documentOf({ '/videos/new': takes(...all), '/videos': { post: {} } }));
    expect(creates.video).toEqual({ path: '/videos' });
  });

  it('what stands beside the API is no operation of it', () => {
    expect(read(documentOf({ '/uploads': { servers: [{ url: '/' }], post: {} } })).operations).toEqual([]);
  });

  it('the version and all operations', () => {
    const { version, operations } = read(documentOf({ '/uploads': { get: {}, post: {}, parameters: [] } }));
    expect(version).toBe('1.2.0');
    expect(operations).toEqual(['GET /uploads', 'POST /uploads']);
  });
});

describe('the schema of a body', () => {
  it('has every reference written out, with what stands beside it', () => {
    const schemas = {
      Video: {
        type: 'object',
        properties: { size: { $ref: '#/components/schemas/a~1b' }, n: { minimum: 1, $ref: '#/components/schemas/N' } },
      },
      'a/b': { type: 'string', description: 'theirs' },
      N: { type: 'number' },
    };
    expect(schemaOf({ $ref: '#/components/schemas/Video' }, { components: { schemas } })).toEqual({
      type: 'object',
      properties: {
        size: { type: 'string', description: 'theirs' },
        n: { minimum: 1, allOf: [{ type: 'number' }] },
      },
    });
  });

  it('keeps fields that are called like keywords, and drops keywords that do not judge', () => {
    const properties = {
      example: { type: 'string', example: 'x' },
      $id: { type: 'string' },
      default: { const: { $ref: '#/x' } },
    };
    expect(
      schemaOf({ $id: 'https://a.example/s', $schema: 'https://a.example/d', 'x-models': {}, properties }),
    ).toEqual({
      properties: { example: { type: 'string' }, $id: { type: 'string' }, default: { const: { $ref: '#/x' } } },
    });
  });

  it('matches anything where it contains itself or leads out of the document', () => {
    const schemas: Map = {
      Node: {
        properties: { left: { $ref: '#/components/schemas/Node' }, right: { $ref: '#/components/schemas/Node' } },
      },
      Circle: { $ref: '#/components/schemas/Circle' },
    };
    const properties = {
      node: { $ref: '#/components/schemas/Node' },
      circle: { $ref: '#/components/schemas/Circle' },
      away: { $ref: 'https://a.example/schema.json' },
      nowhere: { $ref: '#/components/schemas/constructor' },
    };
    expect(schemaOf({ properties }, { components: { schemas } })).toEqual({
      properties: { node: { properties: { left: true, right: true } }, circle: true, away: true, nowhere: true },
    });
  });

  it('is given up when it is no schema of a request any more', () => {
    const schemas: Map = {};
    for (let level = 0; level < 30; level += 1) {
      const next = { $ref: `#/components/schemas/s${level + 1}` };
      schemas[`s${level}`] = { properties: { a: next, b: next } };
    }
    expect(schemaOf({ $ref: '#/components/schemas/s0' }, { components: { schemas } })).toBeUndefined();
  });
});

describe('a document of any content', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`) as Json;
  it.each<[string, Json]>([
    ['nothing', null],
    ['a text', 'openapi'],
    ['servers that are none', { servers: 'x', info: [], paths: { '/videos/create': null } }],
    ['an operation that is a text', documentOf({ '/videos/create': { post: 'x' } })],
    ['a body that refers to itself', documentOf({ '/videos/create': { post: { requestBody: { $ref: '#/paths' } } } })],
    ['a schema without end', documentOf({ '/videos/create': { post: body(deep) } })],
    ['names of every object', JSON.parse('{"paths":{"__proto__":{"post":{}},"constructor":{"post":1}}}') as Json],
    [
      'required that is a map',
      documentOf({ '/music-generations/create': { post: body({ required: {}, properties: [] }) } }),
    ],
    ['a reference with broken escapes', documentOf({ '/videos/create': { post: body({ $ref: '#/%E0%A4%A/x' }) } })],
  ])('%s', (_name, document) => {
    expect(() => JSON.stringify(read(document).creates)).not.toThrow();
    expect(({} as Map).post).toBeUndefined();
  });

  it('a field called __proto__ is a field', () => {
    const schema = schemaOf(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}') as Json);
    expect(JSON.stringify(schema)).toBe('{"properties":{"__proto__":{"type":"string"}}}');
  });
});

it('credits are read where they stand beside a body', () => {
  const schema = {
    'x-models': {
      'motion-2': { credits: 20, per: 'job' },
      odd: { credits: -1 },
      worse: 'x',
      half: { credits: 0.5 },
      slow: { credits: 4, per: 'second' },
    },
  };
  const { listing } = read(documentOf({ '/videos/create': { post: body(schema) } }));
  const credits = Object.entries(listing.video?.models ?? {}).map(([model, facts]) => [model, facts.credits]);
  expect(Object.fromEntries(credits)).toEqual({ 'motion-2': 20, odd: undefined, worse: undefined, half: 0.5, slow: 4 });
});
