import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { sandboxDocument } from '../../../src/campaign/embed-sandbox.ts';
import { checkRequest } from '../../../src/graph/check/check-request.ts';
import type { Json } from '../../../src/ground/json.ts';
import { type JsonMap, mapOf } from '../../../src/ground/values.ts';
import { kinds, requireKind } from '../../../src/kinds/index.ts';
import type { Field, Kind } from '../../../src/kinds/kind.ts';
import { readCatalogListing } from '../../../src/kinds/listed-model.ts';
import { documentedCredits, listPrice, priceClass } from '../../../src/kinds/price.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';
import { kindSection } from '../../../src/report/manual/references.ts';
import { kinds as sandboxKinds } from '../../../src/sandbox/kinds/index.ts';
import { root } from '../../rig/command.ts';
import { forAll } from '../../rig/runs.ts';

function kind(name: string): Kind {
  const found = kinds[name];
  if (found === undefined) throw new Error(`no kind ${name}`);
  return found;
}

const modelsOf = (name: string) => kind(name).model?.models ?? {};

const imageTable: [model: string, resolutions: string, ratios: string, aliasOf?: string][] = [
  ['alpha-2', '1k 2k 4k', 'auto 1:1 16:9 9:16 4:3 3:4 3:2 2:3 4:5 5:4 21:9 1:4 4:1 1:8 8:1'],
  ['alpha-pro', '1k 2k 4k', '1:1 2:3 3:4 4:5 3:2 4:3 5:4 16:9 21:9'],
  ['beta-v5-lite', '', '1:1 4:3 3:4 16:9 9:16 2:3 3:2 21:9', 'beta-5.0-pro'],
  ['gamma-image-1.5', '1024x1024 1024x1536 1536x1024', '', 'gamma-image-2'],
  ['gamma-image-2', '1k 2k 4k', 'auto 1:1 9:16 16:9 4:3 3:4'],
];

it('image models are those that are documented; that under beta-v5-lite has its values and tiers', () => {
  expect(Object.keys(modelsOf('image')).sort()).toEqual([...imageTable.map(([model]) => model), 'beta-5.0-pro'].sort());
  const { 'beta-5.0-pro': real, 'beta-v5-lite': alias } = modelsOf('image');
  expect([real?.allows, real?.tiers]).toEqual([alias?.allows, ['basic', 'high']]);
  expect(alias?.tiers).toEqual(['basic', 'high']);
});

const musicTable: [model: string, credits: number, lyrics: boolean][] = [
  ['auto', 5, true],
  ['song-9', 5, true],
  ['song-8', 5, true],
  ['song-o2', 6, true],
  ['song-7.6', 4, true],
  ['song-7.5', 4, false],
];

it.each(musicTable)('%s costs what is documented', (model, credits, lyrics) => {
  const facts = modelsOf('music')[model];
  expect(facts?.credits).toBe(credits);
  expect(facts?.requires?.includes('lyrics') ?? false).toBe(lyrics);
});

it('fields, limits and defaults are those that are documented', () => {
  expect(Object.keys(modelsOf('music'))).toEqual(musicTable.map(([model]) => model));
  expect(Object.keys(kind('image').fields)).toEqual([
    'prompt',
    'model',
    'aspectRatio',
    'resolution',
    'referenceImages',
  ]);
  expect(kind('music').fields).toMatchObject({
    prompt: { required: true, maxLength: 1024 },
    lyrics: { maxLength: 3000 },
    output_format: { values: ['mp3', 'wav', 'flac'], default: 'mp3' },
  });
  expect([kind('image').model?.default, kind('music').model?.default]).toEqual(['alpha-2', 'auto']);
  expect(kind('image')).toMatchObject({
    create: { paths: ['/image-generations/create'], documented: true },
    status: { path: '/image/status/{id}' },
    recovery: 'replay',
  });
  expect(kind('music')).toMatchObject({
    create: { paths: ['/music-generations/create'], documented: true },
    status: { path: '/music/status/{id}' },
    remove: { path: '/music-generations/{id}', by: 'job' },
    recovery: 'replay',
  });
});

it.each([
  ['voiceover', '/voiceovers/status/{id}', '/voiceovers/all', undefined],
  ['video', '/video/status/{id}', '/videos/all', undefined],
  ['clipping', '/clippings/status/{id}', '/clippings/all', '/clippings/{id}'],
  ['thumbnail', '/image/status/{id}', '/thumbnails', '/thumbnails/{id}'],
  ['influencer', '/image/status/{id}', undefined, undefined],
  ['upload', undefined, undefined, undefined],
  ['post', undefined, undefined, undefined],
])('%s is called at the documented paths', (name, status, list, remove) => {
  expect([kind(name).status?.path, kind(name).list?.path, kind(name).remove?.path]).toEqual([status, list, remove]);
  // Replay is documented for images and music only.
  expect(kind(name).recovery).not.toBe('replay');
});

it('names of every object are no kinds', () => {
  expect(kinds.constructor).toBeUndefined();
  expect(kinds.toString).toBeUndefined();
});

it.each([
  ['image', {}, 'image/alpha-2/resolution=2k', undefined],
  ['image', { model: 'alpha-2', resolution: '4k' }, 'image/alpha-2/resolution=4k', undefined],
  ['image', { model: 'gamma-image-1.5' }, 'image/gamma-image-1.5', undefined],
  [
    'image',
    { model: 'gamma-image-1.5', resolution: '1024x1024' },
    'image/gamma-image-1.5/resolution=1024x1024',
    undefined,
  ],
  ['image', { model: 'beta-v5-lite', aspectRatio: '1:1' }, 'image/beta-v5-lite', undefined],
  ['image', { model: 'beta-5.0-pro' }, 'image/beta-5.0-pro', undefined],
  ['music', {}, 'music/auto', 5],
  ['music', { model: 'song-o2', lyrics: 'x' }, 'music/song-o2', 6],
  ['music', { model: 'constructor' }, 'music/constructor', undefined],
  ['upload', { file: 'a.png' }, 'upload', 0],
  ['post', { caption: 'x' }, 'post', 0],
  [
    'video',
    { prompt: 'a', duration: 5, ratio: '16:9', model: 'motion-2' },
    'video/motion-2/duration=5/prompt~16/ratio=16:9',
    undefined,
  ],
  ['video', { prompt: 'a', image: 'https://a.example/x.png' }, 'video/prompt~16', undefined],
  ['voiceover', { text: 'x'.repeat(200), voice_id: 'Aria', output_format: 'wav' }, 'voiceover/text~256', undefined],
] as const)('%s %j is priced as %s', (name, request, priced, credits) => {
  expect(priceClass(kind(name), request)).toBe(priced);
  expect(documentedCredits(kind(name), request)).toBe(credits);
});

describe('fields', () => {
  /**
   * A field of a request is declared once, in `src/kinds`. Its readers are the schema of the manifest, the check, and
   * `help kinds`. The sandbox is a service of its own and declares it again, on purpose: here the two are compared.
   */
  const fields = Object.values(kinds).flatMap((kind) =>
    Object.entries(kind.fields).map(([name, field]): [string, Kind, string, Field] => [
      `${kind.name}.${name}`,
      kind,
      name,
      field,
    ]),
  );

  const schema = JSON.parse(readFileSync(join(root, 'schemas/manifest.schema.json'), 'utf8')) as JsonMap;
  let bodies: { [kind: string]: JsonMap } = {};
  beforeAll(async () => {
    const { creates } = readServiceDocument(await sandboxDocument(), kinds);
    bodies = Object.fromEntries(Object.entries(creates).map(([kind, { schema: body }]) => [kind, mapOf(body)]));
  });

  describe.each(fields)('%s', (_title, kind, name, field) => {
    const isModel = kind.model?.field === name;
    const values = isModel ? Object.keys(kind.model?.models ?? {}) : field.values;

    test('has its limits in the schema of the manifest', () => {
      const request = mapOf(mapOf(schema.definitions)[`${kind.name}Request`]);
      const written = JSON.stringify(mapOf(request.properties)[name]);
      expect(written).toContain(JSON.stringify(field.description).slice(1, -1));
      if (values !== undefined) expect(written).toContain(`"enum":${JSON.stringify(values)}`);
      else if (field.maxLength !== undefined) expect(written).toContain(`"maxLength":${field.maxLength}`);
      if (field.url === true) expect(written).toContain('^https://');
    });

    test('is refused beyond them before anything is paid', () => {
      const refuses = (value: Json | undefined) => {
        const request = value === undefined ? {} : { [name]: value };
        return checkRequest(kind, request).some(({ at, severity }) => at[0] === name && severity !== 'warning');
      };
      expect(refuses([['nested']]), 'of another type').toBe(true);
      if (field.required === true) expect(refuses(undefined), 'missing').toBe(true);
      if (values !== undefined) expect(refuses('no-such-value'), 'another value').toBe(true);
      if (field.maxLength !== undefined) {
        expect(refuses('x'.repeat(field.maxLength + 1)), 'too long').toBe(true);
        expect(refuses('x'.repeat(field.maxLength)), 'as long as allowed').toBe(false);
      }
      if (field.url === true)
        expect(refuses(field.type === 'strings' ? ['http://a.b'] : 'http://a.b'), 'http').toBe(true);
    });

    test('has its limits in `help kinds`', () => {
      const section = kindSection(kind, undefined);
      const line = section.split('\n').find((one) => one.includes(`\`${name}\``)) ?? '';
      expect(line).toContain(field.description);
      if (field.maxLength !== undefined) expect(line).toContain(`At most ${field.maxLength} characters.`);
      for (const value of values ?? []) expect(isModel ? section : line).toContain(value);
    });

    test('has the same limits in the document of the sandbox', () => {
      const body = bodies[kind.name];
      const shown = mapOf(mapOf(body?.properties)[name]);
      // Fields and limits of an undocumented request are the choice of the sandbox. A file is not sent as a field.
      if (body === undefined || field.type === 'file' || (!kind.create.documented && shown.type === undefined)) return;
      const types = { string: 'string', file: 'string', strings: 'array', number: 'number', boolean: 'boolean' };
      expect(shown.type === 'integer' ? 'number' : shown.type).toBe(types[field.type]);
      if (field.maxLength !== undefined) expect(shown.maxLength).toBe(field.maxLength);
      const listed = Array.isArray(shown.enum) ? [...shown.enum].map(String).sort() : undefined;
      if (values !== undefined && kind.create.documented) expect(listed).toEqual([...values].sort());
      if (field.required === true) expect(body.required).toContain(name);
    });
  });
});

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const page = (name: string) => read(`src/manual/${name}.md`);

/** Where kinds stand in a list that people keep. */
const lists: readonly { where: string; text: string; form(kind: string): RegExp }[] = [
  { where: 'operations, help service', text: page('service'), form: (kind) => new RegExp(`\`${kind}\``) },
  { where: 'every kind, two-services.test.ts', text: read('test/command/two-services.test.ts'), form: madeOf },
  { where: 'every kind on workers, cluster/kinds.test.ts', text: read('test/cluster/kinds.test.ts'), form: madeOf },
  { where: 'what a release has written, released/make.ts', text: read('test/released/make.ts'), form: madeOf },
];

function madeOf(kind: string): RegExp {
  return new RegExp(`kind: ${kind}\\b`);
}

describe.each(Object.keys(kinds))('%s', (kind) => {
  test.each(lists)('is in the list of $where', ({ text, form }) => {
    expect(text).toMatch(form(kind));
  });

  test('its create is among the operations of the manual', () => {
    const [path] = kinds[kind]?.create.paths ?? [];
    expect(page('service')).toContain(`POST ${path}`);
  });

  test('the manual says how a lost answer of it is settled', () => {
    // An upload costs nothing, and is made again.
    if (kinds[kind]?.free === true) return;
    const [, list = ''] = /## Automatic recovery\n([\s\S]*?)\n\nmediabatch searches/.exec(page('sends')) ?? [];
    expect(list.match(/^\| [^|]+ \|/gm)?.join(' ')).toMatch(new RegExp(`\\b${kind}\\b`));
  });
});

test('the page of the sandbox counts every kind that it makes', () => {
  const [, listed = ''] = /const knownKinds = \[([^\]]*)\]/.exec(read('src/sandbox/assets/page.html')) ?? [];
  const names = Array.from(listed.matchAll(/'(\w+)'/g), ([, name]) => name);
  expect(names.sort()).toEqual(sandboxKinds.map(({ name }) => name).sort());
});

const catalogOf = (kind: string, models: { [model: string]: Json }): Json => ({
  data: Object.entries(models).map(([key, facts]) => ({ key, kind, ...(facts as { [name: string]: Json }) })),
});

const documentOf = (path: string, schema: { [name: string]: Json }): Json => ({
  paths: { [path]: { post: { requestBody: { content: { 'application/json': { schema } } } } } },
});

function byCatalog(kind: string, facts: Json, request: { [field: string]: Json }) {
  return listPrice(requireKind(kind), request, [readCatalogListing(catalogOf(kind, { m: facts }), kinds)]);
}

describe('a price by a list', () => {
  it.each<[string, string, Json, { [field: string]: Json }, object | number | undefined]>([
    ['for a job', 'video', { credits: 3 }, {}, 3],
    ['written as a text', 'video', { credits: '3' }, {}, 3],
    ['of half a credit is charged as one', 'video', { credits: 2.5 }, {}, 3],
    ['for each second', 'video', { credits: 2, per: 'second' }, { duration: 6 }, 12],
    ['for seconds that nobody tells', 'video', { credits: 2, per: 'second' }, {}, undefined],
    ['for each 250 characters', 'voiceover', { credits: 2, per: '250 characters' }, { text: 'a'.repeat(251) }, 4],
    ['beside the catalog’s other word', 'video', { credits: 2, creditsPer: 'second' }, { duration: 5 }, 10],
    ['for each minute', 'video', { credits: 60, creditsPer: 'minute' }, { duration: 5 }, 60],
    ['of a length that is a text', 'video', { credits: 2, per: 'second' }, { duration: '5s' }, 10],
    ['of a length that is a word', 'video', { credits: 2, per: 'second' }, { duration: 'auto' }, undefined],
    ['in a map of a price', 'video', { price: { amount: 2, unit: 'second' } }, { duration: 5 }, 10],
    ['in the name of a field', 'video', { creditsPerSecond: 2 }, { duration: 5 }, 10],
    ['in a name beside another price', 'video', { credits: 2, creditsPerSecond: 2 }, { duration: 5 }, 10],
    ['in a name that says nothing', 'video', { creditsPerUnit: 2 }, { duration: 5 }, undefined],
    ['for several jobs', 'image', { credits: 2, per: '4 images' }, { model: 'm' }, undefined],
    ...(
      [
        { credits: 2, billing: 'per_second' },
        { credits: 2, pricingModel: 'per-second' },
        { credits: 2, costUnit: 's' },
        { credits: 2, billedBy: 'second' },
        { creditCost: 2, rate: 'second' },
        { credits: 2, perSecond: true },
        { creditCostPerSecond: 2 },
        { price: { perSecond: 2 } },
        { cost: { value: 2, interval: 'second' } },
        { credits: 2, description: 'A fast model. Charged 2 credits per second.' },
      ] as Json[]
    ).map((facts): [string, string, Json, { [field: string]: Json }, object | number | undefined] => [
      `for each second: ${JSON.stringify(facts)}`,
      'video',
      facts,
      { duration: 5 },
      10,
    ]),
    ['in units of a credit', 'voiceover', { credits: 1, charactersPerCredit: 1000 }, { text: 'a' }, undefined],
    ['by a word that nobody knows', 'video', { credits: 2, pricingModel: 'tiered' }, {}, undefined],
    ['that is flat', 'video', { credits: 2, pricing: 'flat', priceCurrency: 'credits' }, {}, 2],
    ...[
      '1000 characters',
      '1,000 chars',
      '1k characters',
      'per 1K chars',
      'thousand characters',
      'per_1000_characters',
    ].map((unit): [string, string, Json, { [field: string]: Json }, object | number | undefined] => [
      `for each ${unit}`,
      'voiceover',
      { credits: 3, creditsPer: unit },
      { text: 'a'.repeat(1001) },
      6,
    ]),
    ['of a text in characters of two units', 'voiceover', { credits: 2, per: '9 chars' }, { text: '😀'.repeat(5) }, 4],
    ['for each of something else', 'video', { credits: 2, per: 'megapixel' }, {}, undefined],
    [
      'by a field',
      'image',
      { credits: 9, creditsBy: { resolution: { '1k': 2, '4k': 5 } } },
      { model: 'm', resolution: '4k' },
      5,
    ],
    [
      'by a field whose value is not listed',
      'image',
      { creditsBy: { resolution: { '1k': 2, '4k': 5 } } },
      { model: 'm', resolution: '8k' },
      { low: 2, likely: 5 },
    ],
    ['with a ceiling', 'video', { credits: 3, maxCredits: 5 }, {}, { low: 3, likely: 3, high: 5 }],
    ['with a ceiling below itself, which is none', 'video', { credits: 3, maxCredits: 2 }, {}, 3],
    ['of nothing', 'video', { credits: 0 }, {}, undefined],
    ['beyond all sense', 'video', { credits: 1e15 }, {}, undefined],
    ['of another model', 'image', { credits: 3 }, { model: 'other' }, undefined],
  ])('%s', (_name, kind, facts, request, expected) => {
    // A number alone is both the lowest and the likely price.
    const price = typeof expected === 'number' ? { low: expected, likely: expected } : expected;
    expect(byCatalog(kind, facts, request)).toEqual(price);
  });

  test('beside a request body counts with the defaults there', () => {
    const { listing } = readServiceDocument(
      documentOf('/videos/create', {
        properties: { model: { enum: ['slow', 'fast'], default: 'slow' }, duration: { default: 5 } },
        'x-models': { slow: { credits: 2, per: 'second' }, fast: { credits: 9, per: 'second' } },
      }),
      kinds,
    );
    expect(listPrice(requireKind('video'), {}, [listing])).toEqual({ low: 10, likely: 10 });
    expect(listPrice(requireKind('video'), { model: 'fast', duration: 2 }, [listing])).toEqual({ low: 18, likely: 18 });
  });

  test('by the value of a field that the model lists', () => {
    const facts = { resolution: ['basic', 'high'], defaultResolution: 'basic', credits: { basic: 3, high: '4' } };
    const { listing } = readServiceDocument(
      documentOf('/image-generations/create', { 'x-models': { 'alpha-2': facts } }),
      kinds,
    );
    expect(listPrice(requireKind('image'), { prompt: 'p' }, [listing])).toEqual({ low: 3, likely: 3 });
    expect(listPrice(requireKind('image'), { resolution: 'high' }, [listing])).toEqual({ low: 4, likely: 4 });
  });

  test('of two lists that differ is the dearer one, from the cheaper one on', () => {
    const listings = [{ credits: 3 }, { credits: 5, maxCredits: 6 }].map((facts) =>
      readCatalogListing(catalogOf('video', { m: facts }), kinds),
    );
    expect(listPrice(requireKind('video'), {}, listings)).toEqual({ low: 3, likely: 5, high: 6 });
  });

  const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('3', -1, 1e300, '__proto__', null, { '1k': -2, '2k': '7' }));
  const facts = fc.dictionary(
    fc.constantFrom('credits', 'per', 'creditsBy', 'maxCredits', 'allowed', 'defaultResolution', '__proto__'),
    odd,
  );
  const models = fc.dictionary(fc.constantFrom('alpha-2', 'constructor', '__proto__', 'm'), facts);
  forAll([models, fc.constantFrom('image', 'video', 'music')])(
    'whatever a service sends is read, and any price is a whole number from 1 to what its parts come to',
    (listed, kind) => {
      const catalog = readCatalogListing(catalogOf(kind, listed as { [model: string]: Json }), kinds);
      const path = requireKind(kind).create.paths[0];
      const { listing } = readServiceDocument(documentOf(path, { 'x-models': listed as Json }), kinds);
      for (const model of ['alpha-2', 'constructor', '__proto__', 'm']) {
        const price = listPrice(requireKind(kind), { model, prompt: 'p', duration: 3 }, [catalog, listing]);
        if (price === undefined) continue;
        for (const number of Object.values(price)) expect(Number.isSafeInteger(number) && number >= 1).toBe(true);
        expect(price.low).toBeLessThanOrEqual(price.likely);
        expect(price.high ?? price.likely).toBeGreaterThanOrEqual(price.likely);
      }
    },
  );
});
