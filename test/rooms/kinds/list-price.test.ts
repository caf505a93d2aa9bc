import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Json } from '../../../src/ground/json.ts';
import { kinds, requireKind } from '../../../src/kinds/index.ts';
import { listPrice } from '../../../src/kinds/list-price.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import { readServiceDocument } from '../../../src/kinds/service-document.ts';

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
    ['in another word', 'video', { cost: 3, per: 'generation' }, {}, 3],
    ['written as a text', 'video', { credits: '3' }, {}, 3],
    ['of half a credit is charged as one', 'video', { credits: 2.5 }, {}, 3],
    ['for each second', 'video', { credits: 2, per: 'second' }, { duration: 6 }, 12],
    ['for each ten seconds', 'video', { credits: 2, per: '10 seconds' }, { duration: 11 }, 4],
    ['for seconds that nobody tells', 'video', { credits: 2, per: 'second' }, {}, undefined],
    ['for each 250 characters', 'voiceover', { credits: 2, per: '250 characters' }, { text: 'a'.repeat(251) }, 4],
    [
      'of a text that another step writes',
      'voiceover',
      { credits: 2, per: '9 characters' },
      { text: { $ref: 'a', field: 'url' } },
      undefined,
    ],
    ['beside the catalog’s other word', 'video', { credits: 2, creditsPer: 'second' }, { duration: 5 }, 10],
    ['in a unit with its own words', 'video', { credits: 2, unit: 'per_second' }, { duration: 5 }, 10],
    ['credits/s', 'video', { credits: 2, creditsPer: 'credits/s' }, { duration: 5 }, 10],
    ['for each 30 seconds', 'video', { credits: 2, creditsPer: '30 seconds' }, { duration: 31 }, 4],
    ['for each minute', 'video', { credits: 60, creditsPer: 'minute' }, { duration: 5 }, 60],
    ['of a length that is a text', 'video', { credits: 2, per: 'second' }, { duration: '5s' }, 10],
    ['of a length that is a word', 'video', { credits: 2, per: 'second' }, { duration: 'auto' }, undefined],
    ['in a map of a unit', 'video', { credits: 2, per: { unit: 'second', count: 2 } }, { duration: 5 }, undefined],
    ['beside a map of a unit', 'video', { credits: 2, pricing: { unit: 'second' } }, { duration: 5 }, undefined],
    ['in a map of a price', 'video', { price: { amount: 2, unit: 'second' } }, { duration: 5 }, 10],
    ['in the name of a field', 'video', { creditsPerSecond: 2 }, { duration: 5 }, 10],
    ['in a name beside another price', 'video', { credits: 2, creditsPerSecond: 2 }, { duration: 5 }, 10],
    ['in a name that says nothing', 'video', { creditsPerUnit: 2 }, { duration: 5 }, undefined],
    [
      'in units that contradict each other',
      'video',
      { credits: 2, per: 'second', unit: 'minute' },
      { duration: 5 },
      undefined,
    ],
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
    ['in a map by another unit', 'image', { credits: { per_megapixel: 2 } }, { model: 'm' }, undefined],
    ['by a word that nobody knows', 'video', { credits: 2, pricingModel: 'tiered' }, {}, undefined],
    [
      'beside words of other things',
      'video',
      { credits: 2, durationUnit: 'seconds', description: '24 frames per second' },
      {},
      2,
    ],
    ['that is flat', 'video', { credits: 2, pricing: 'flat', priceCurrency: 'credits' }, {}, 2],
    ['for an image', 'image', { credits: 2, creditsPer: 'image' }, { model: 'm' }, 2],
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
    ['below nothing', 'video', { credits: -3 }, {}, undefined],
    ['beyond all sense', 'video', { credits: 1e15 }, {}, undefined],
    ['in words', 'video', { credits: 'three' }, {}, undefined],
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

  test('whatever a service sends is read, and any price is a whole number from 1 to what its parts come to', () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('3', -1, 1e300, '__proto__', null, { '1k': -2, '2k': '7' }));
    const facts = fc.dictionary(
      fc.constantFrom('credits', 'per', 'creditsBy', 'maxCredits', 'allowed', 'defaultResolution', '__proto__'),
      odd,
    );
    const models = fc.dictionary(fc.constantFrom('alpha-2', 'constructor', '__proto__', 'm'), facts);
    fc.assert(
      fc.property(models, fc.constantFrom('image', 'video', 'music'), (listed, kind) => {
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
      }),
    );
  });
});
