import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Answer, openRig } from './rig.ts';

type Node = Record<string, unknown>;

interface Document {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, { responses: Node }> & { servers?: { url: string }[] }>;
  components: { schemas: Record<string, Node>; securitySchemes: Node };
}

async function readDocument(): Promise<Document> {
  const { status, text } = await openRig().call('GET', '/api/v1/openapi.json', { token: '' });
  expect(status).toBe(200);
  return JSON.parse(text);
}

async function schemaChecker() {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(await readDocument(), 'api');
  return (name: string, value: unknown): string => {
    const check = ajv.getSchema(`api#/components/schemas/${name}`);
    if (check === undefined) throw new Error(`no schema ${name}`);
    return check(value) ? '' : ajv.errorsText(check.errors);
  };
}

describe('the document', () => {
  test('is OpenAPI 3.1.0 with the API version 1.2.0, the same at both places', async () => {
    const document = await readDocument();
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.0' },
      servers: [{ url: '/api/v1' }],
      components: { securitySchemes: { bearerAuth: { type: 'http', scheme: 'bearer' } } },
    });
    const { body } = await openRig().call('GET', '/api-docs/openapi.json', { token: '' });
    expect(body).toEqual(document);
  });

  test('names the documented operations', async () => {
    const { paths } = await readDocument();
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => method !== 'servers')
        .map((method) => `${method} ${path}`),
    );
    expect(operations.sort()).toEqual([
      'delete /music-generations/{id}',
      'get /api-docs/openapi.json',
      'get /files/{token}/{name}',
      'get /image/status/{id}',
      'get /music/status/{id}',
      'get /openapi.json',
      'post /image-generations/create',
      'post /music-generations/create',
    ]);
  });

  test('everything it names is served: nothing is an unknown path or a wrong method', async () => {
    const { paths } = await readDocument();
    for (const [path, item] of Object.entries(paths)) {
      const base = item.servers?.[0]?.url === '/' ? '' : '/api/v1';
      const { servers: _servers, ...operations } = item;
      for (const [method, operation] of Object.entries(operations)) {
        const url = base + path.replaceAll(/\{\w+\}/g, 'x');
        const answer = await openRig().call(method.toUpperCase(), url, method === 'post' ? { body: {} } : {});
        expect(answer.text).not.toContain('The sandbox serves nothing');
        expect(answer.status).not.toBe(405);
        expect(Object.keys(operation.responses)).toContain(String(answer.status));
      }
    }
  });

  test('every reference in it leads somewhere', async () => {
    const document = await readDocument();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(references.length).toBeGreaterThan(10);
    for (const reference of references) {
      const found = reference
        .slice(1)
        .split('/')
        .reduce<unknown>((node, name) => (node as Node | undefined)?.[name], document);
      expect(found, reference).toBeDefined();
    }
  });

  test('prices: music as documented, images as the choice of the sandbox', async () => {
    const { schemas } = (await readDocument()).components;
    expect(schemas.MusicCreate?.['x-models']).toMatchObject({ 'song-o2': { credits: 6 }, 'song-7.5': { credits: 4 } });
    expect(schemas.ImageCreate).toMatchObject({
      'x-models': { 'alpha-2': { credits: { '1k': 2, '2k': 3, '4k': 5 } } },
      'x-not-shown': expect.stringContaining('Credits per image'),
    });
  });
});

describe('document and service agree', () => {
  test('on the answers', async () => {
    const problems = await schemaChecker();
    const rig = openRig({ failRate: 0.5 });
    const check = (schema: string, answer: Answer) => expect(problems(schema, answer.body), answer.text).toBe('');
    check('ImageCreated', await rig.createImage({ prompt: 'x' }));
    check('MusicCreated', await rig.createMusic({ prompt: 'x', model: 'song-7.5' }));
    check('Error', await rig.createImage({}));
    check('Error', await rig.createImage({ prompt: 'x' }, { token: '' }));
    check('Error', await rig.call('GET', '/nowhere'));
    const seen = new Set<unknown>();
    for (let index = 0; index < 8; index += 1) {
      const id = await rig.imageId({ prompt: `picture ${index}` });
      for (const waitMs of [0, 1_900, 60_000]) {
        rig.clock.now += waitMs;
        const answer = await rig.call('GET', `/api/v1/image/status/${id}`);
        check('JobAnswer', answer);
        seen.add((answer.body.data as Node).status);
      }
    }
    expect(seen).toEqual(new Set(['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED']));
    const id = await rig.musicId({ prompt: 'x', model: 'song-7.5' });
    check('DeleteAnswer', await rig.call('DELETE', `/api/v1/music-generations/${id}`));
  });

  const text = fc.oneof(fc.constantFrom('', ' ', 'x', 'é🎵', 'x'.repeat(1024), 'x'.repeat(1025), 'x'.repeat(3001)));
  const anything = fc.oneof(fc.constant(null), fc.integer(), fc.boolean(), fc.constant([]), fc.constant({}));
  const mostly = (value: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: anything });

  const imageBody = fc.record(
    {
      prompt: mostly(text),
      model: mostly(fc.constantFrom('alpha-2', 'alpha-pro', 'beta-v5-lite', 'gamma-image-1.5', 'gamma-image-2', 'no')),
      aspectRatio: mostly(fc.constantFrom('auto', '1:1', '16:9', '9:16', '21:9', '1:8', '7:5', '')),
      resolution: mostly(fc.constantFrom('1k', '2k', '8k', '1024x1536', '')),
      quality: mostly(fc.constantFrom('basic', 'high', 'best')),
      referenceImages: mostly(
        fc.integer({ min: 0, max: 18 }).map((count) => Array(count).fill('https://cdn.example.com/a.png')),
      ),
      unknown: anything,
    },
    { requiredKeys: [] },
  );
  const musicBody = fc.record(
    {
      prompt: mostly(text),
      lyrics: mostly(text),
      model: mostly(fc.constantFrom('auto', 'song-9', 'song-o2', 'song-7.6', 'song-7.5', 'no')),
      output_format: mostly(fc.constantFrom('mp3', 'wav', 'flac', 'ogg')),
    },
    { requiredKeys: [] },
  );

  test.each([
    ['ImageCreate', 'image-generations', imageBody],
    ['MusicCreate', 'music-generations', musicBody],
  ] as const)('on which bodies are valid: %s', async (schema, path, bodies) => {
    const problems = await schemaChecker();
    const rig = openRig({ credits: 1_000_000 });
    const verdicts = new Set<number>();
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const { status, text: answer } = await rig.call('POST', `/api/v1/${path}/create`, { body });
        const problem = problems(schema, body);
        verdicts.add(status);
        expect(status, `${problem} · ${answer}`).toBe(problem === '' ? 200 : 400);
      }),
      { numRuns: 400 },
    );
    expect(verdicts).toEqual(new Set([200, 400]));
  });
});
