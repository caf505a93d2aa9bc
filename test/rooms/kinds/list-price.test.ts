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
  it.each<[string, string, Json, { [field: string]: Json }, object | undefined]>([
    ['for a job', 'video', { credits: 3 }, {}, { low: 3, likely: 3 }],
    ['in another word', 'video', { cost: 3, per: 'generation' }, {}, { low: 3, likely: 3 }],
    ['written as a text', 'video', { credits: '3' }, {}, { low: 3, likely: 3 }],
    ['of half a credit is charged as one', 'video', { credits: 2.5 }, {}, { low: 3, likely: 3 }],
    ['for each second', 'video', { credits: 2, per: 'second' }, { duration: 6 }, { low: 12, likely: 12 }],
    ['for each ten seconds', 'video', { credits: 2, per: '10 seconds' }, { duration: 11 }, { low: 4, likely: 4 }],
    ['for seconds that nobody tells', 'video', { credits: 2, per: 'second' }, {}, undefined],
    [
      'for each 250 characters',
      'voiceover',
      { credits: 2, per: '250 characters' },
      { text: 'a'.repeat(251) },
      { low: 4, likely: 4 },
    ],
    [
      'of a text that another step writes',
      'voiceover',
      { credits: 2, per: '9 characters' },
      { text: { $ref: 'a', field: 'url' } },
      undefined,
    ],
    ['for each of something else', 'video', { credits: 2, per: 'megapixel' }, {}, undefined],
    [
      'by a field',
      'image',
      { credits: 9, creditsBy: { resolution: { '1k': 2, '4k': 5 } } },
      { model: 'm', resolution: '4k' },
      { low: 5, likely: 5 },
    ],
    [
      'by a field whose value is not listed',
      'image',
      { creditsBy: { resolution: { '1k': 2, '4k': 5 } } },
      { model: 'm', resolution: '8k' },
      { low: 2, likely: 5 },
    ],
    ['with a ceiling', 'video', { credits: 3, maxCredits: 5 }, {}, { low: 3, likely: 3, high: 5 }],
    ['with a ceiling below itself, which is none', 'video', { credits: 3, maxCredits: 2 }, {}, { low: 3, likely: 3 }],
    ['of nothing', 'video', { credits: 0 }, {}, undefined],
    ['below nothing', 'video', { credits: -3 }, {}, undefined],
    ['beyond all sense', 'video', { credits: 1e15 }, {}, undefined],
    ['in words', 'video', { credits: 'three' }, {}, undefined],
    ['of another model', 'image', { credits: 3 }, { model: 'other' }, undefined],
  ])('%s', (_name, kind, facts, request, expected) => {
    expect(byCatalog(kind, facts, request)).toEqual(expected);
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
