import { describe, expect, test } from 'vitest';
import type { OpenRequest } from '../../../src/graph/graph.ts';
import type { Json } from '../../../src/ground/json.ts';
import { mapOf } from '../../../src/ground/values.ts';
import { kinds } from '../../../src/kinds/index.ts';
import type { Listing } from '../../../src/kinds/listed-model.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import type { Purchase } from '../../../src/lock/record.ts';
import type { Price } from '../../../src/plan/plan.ts';
import { plausiblePrices } from '../../../src/plan/prices/price-sources.ts';
import {
  ceilingOf,
  listedCharge,
  type PriceHints,
  pricesFrom,
  type WrittenPrices,
} from '../../../src/plan/prices/prices.ts';
import { estimateOf } from '../../../src/plan/prices/sum-prices.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { job, lockOf, picture, stepOf } from './facts.ts';

const instrumental = { model: 'song-7.5', prompt: 'a' };
const paid = job(stepOf(graphOfSteps([picture('p')]), 'p'));
const exactly = (credits: number) => ({ low: credits, likely: credits, high: credits });
const small = 'image/alpha-2/resolution=2k';
const large = 'image/alpha-2/resolution=4k';

function creditsOf(
  kind: string,
  request: OpenRequest,
  {
    written = {},
    purchases = [],
    boughtAs = kind,
  }: { written?: WrittenPrices; purchases?: Purchase[]; boughtAs?: string },
): number | null {
  return pricesFrom(lockOf({ p: purchases }, { kind: boughtAs }), written)(kind, request).credits;
}

describe('a price', () => {
  test.each<[string, string, OpenRequest, object]>([
    [
      'is what the service documents',
      'music',
      instrumental,
      { class: 'music/song-7.5', ...exactly(4), credits: 4, source: 'documented' },
    ],
    [
      'may be documented to be nothing',
      'upload',
      { url: 'x' },
      { class: 'upload', ...exactly(0), credits: 0, source: 'documented' },
    ],
    ['may be known to nobody', 'image', { prompt: 'p' }, { class: small, credits: null, source: 'unknown' }],
    ['of no kind is known to nobody', 'sculpture', {}, { class: 'sculpture', credits: null, source: 'unknown' }],
  ])('%s', (_name, kind, request, price) => {
    expect(pricesFrom(lockOf({}))(kind, request)).toEqual(price);
  });

  const { jobId: _jobId, ...jobless } = paid;
  const { request: _request, ...unexplained } = paid;
  const { credits: _credits, ...uncharged } = paid;

  test.each<[string, Purchase[], number | null]>([
    ['is what was charged before', [paid], 4],
    [
      'is the most that was charged',
      [
        { ...paid, credits: 3 },
        { ...paid, credits: 6 },
        { ...paid, credits: 5 },
      ],
      6,
    ],
    ['may be a single credit', [{ ...paid, credits: 1 }], 1],
    ['does not follow from a charge of nothing', [{ ...paid, credits: 0 }], null],
    ['does not follow from a charge that nobody knows', [uncharged], null],
    ['does not follow from a create without a job', [{ ...jobless, state: 'refused' } as unknown as Purchase], null],
    ['does not follow from a purchase whose request is not kept', [unexplained], null],
    ['does not follow from another class', [{ ...paid, request: { prompt: 'p', resolution: '4k' } }], null],
  ])('%s', (_name, purchases, credits) => {
    expect(creditsOf('image', { prompt: 'another' }, { purchases })).toBe(credits);
  });

  test('is the highest of those that are known', () => {
    const purchases = [{ ...paid, request: instrumental, credits: 6 }];
    const written = { music: 8 };
    expect(creditsOf('music', instrumental, { purchases })).toBe(6);
    expect(creditsOf('music', instrumental, { purchases, written })).toBe(8);
    expect(creditsOf('music', instrumental, { purchases, written: { music: 1 } })).toBe(6);
    expect(creditsOf('music', instrumental, { purchases: [{ ...paid, request: instrumental, credits: 2 }] })).toBe(4);
    expect(creditsOf('music', instrumental, { written: { music: 1 } })).toBe(4);
  });

  test('follows from what was bought as this kind, whatever its step has become', () => {
    const purchases = [{ ...paid, kind: 'image', credits: 7 }];
    expect(creditsOf('image', { prompt: 'another' }, { purchases, boughtAs: 'video' })).toBe(7);
    expect(creditsOf('image', { prompt: 'another' }, { purchases: [{ ...paid, kind: 'video' }] })).toBeNull();
    expect(creditsOf('image', { prompt: 'another' }, { purchases: [{ ...paid, kind: 'sculpture' }] })).toBeNull();
  });

  test('is not troubled by records of a kind that this version does not know', () => {
    expect(creditsOf('music', instrumental, { purchases: [paid], boughtAs: 'sculpture' })).toBe(4);
  });
});

describe('the prices of the manifest', () => {
  const written = { image: 1, 'image/alpha-2': 2, [large]: 9, 'image/resolution=1k': 5 };
  const orders: [string, WrittenPrices][] = [
    ['as written', written],
    ['the other way round', Object.fromEntries(Object.entries(written).reverse())],
  ];

  describe.each(orders)('%s', (_name, prices) => {
    test.each<[string, string, OpenRequest, number | null]>([
      ['the whole class', 'image', { resolution: '4k' }, 9],
      ['the model', 'image', { resolution: '2k' }, 2],
      ['a part beside the model', 'image', { model: 'alpha-pro', resolution: '1k' }, 5],
      ['of two that are as long, the first by name', 'image', { resolution: '1k' }, 2],
      ['the kind', 'image', { model: 'gamma-image-2', resolution: '2k' }, 1],
      ['nothing of another kind', 'video', { prompt: 'p' }, null],
    ])('the most specific one counts: %s', (_which, kind, request, credits) => {
      expect(creditsOf(kind, request, { written: prices })).toBe(credits);
    });
  });

  test('name a kind first, and nothing that the class does not have', () => {
    expect(creditsOf('image', {}, { written: { 'alpha-2': 7 } })).toBeNull();
    expect(creditsOf('image', {}, { written: { 'image/alpha-2/resolution=8k': 7 } })).toBeNull();
    expect(creditsOf('image', {}, { written: { 'image/alpha': 7 } })).toBeNull();
  });

  test('say the same however often they are asked', () => {
    const priceOf = pricesFrom(lockOf({}), { image: 3, 'image/alpha-pro': 5 });
    const asked = [{}, { model: 'alpha-pro' }, {}, { model: 'alpha-pro' }];
    expect(asked.map((request) => priceOf('image', request).credits)).toEqual([3, 5, 3, 5]);
  });
});

describe('what to expect of a price', () => {
  const listings = [listingOf({ 'alpha-2': { credits: 3, creditsBy: { resolution: { '4k': 5 } } } })];
  const elsewhere = plausiblePrices([lockOf({ p: [{ ...paid, credits: 2 }] }, { kind: 'image' })]);
  const priceOf = (hints: PriceHints, of: { purchases?: Purchase[]; written?: WrittenPrices } = {}) =>
    pricesFrom(lockOf({ p: of.purchases ?? [] }, { kind: 'image' }), of.written, hints)('image', { prompt: 'p' });

  test('comes from the best source, and reserves only what is certain', () => {
    const charges = [3, 6, 6, 7].map((credits, index) => ({ ...paid, jobId: `j${index}`, credits }));
    const all = { elsewhere, listings };
    const written = { image: 9 };
    expect(priceOf({})).toEqual({ class: small, credits: null, source: 'unknown' });
    expect(priceOf({ listings })).toEqual({ class: small, credits: null, source: 'list', low: 5, likely: 5, held: 5 });
    expect(priceOf(all)).toEqual({ class: small, credits: null, source: 'other-lock', ...exactly(2), held: 5 });
    expect(priceOf({ listings }, { written })).toEqual({ class: small, credits: 9, source: 'prices', ...exactly(9) });
    expect(priceOf(all, { written })).toEqual({
      class: small,
      credits: 9,
      source: 'other-lock',
      ...exactly(2),
      high: 9,
    });
    const own = { class: small, source: 'lock', low: 3, likely: 6 };
    expect(priceOf(all, { purchases: charges })).toEqual({ ...own, credits: 7, high: 7 });
    expect(priceOf(all, { purchases: charges, written })).toEqual({ ...own, credits: 9, high: 9 });
  });

  test('is believed upwards when the service reports it of a job afterwards', () => {
    const [known, free, unknown] = [3, 0, null].map((credits) => ({ class: 'x', credits, source: 'prices' as const }));
    if (known === undefined || free === undefined || unknown === undefined) throw new Error('three prices');
    const tell = (price: Price) => [undefined, 0, 1, 9].map((told) => listedCharge(told, price));
    expect(tell(known)).toEqual([undefined, undefined, 3, 9]);
    expect(tell(free)).toEqual([undefined, 0, 1, 9]);
    expect(tell(unknown)).toEqual([undefined, undefined, 1, 9]);
  });

  test('is bounded by nobody but those who vouch for it', () => {
    const capped = [listingOf({ 'alpha-2': { credits: 3, maxCredits: 8 } })];
    expect(priceOf({ listings: capped })).toMatchObject({ credits: null, likely: 3, high: 8 });
    expect(ceilingOf(priceOf({ listings: capped }))).toBe(8);
    expect(ceilingOf(priceOf({ listings }))).toBeUndefined();
    expect(ceilingOf(priceOf({ elsewhere }))).toBeUndefined();
    expect(ceilingOf(priceOf({}, { written: { image: 4 } }))).toBe(4);
  });

  test('is nothing that a lock of somebody else makes absurd', () => {
    const absurd = plausiblePrices([lockOf({ p: [{ ...paid, credits: 9_007_199_254_740_991 }] }, { kind: 'image' })]);
    expect(priceOf({ elsewhere: absurd })).toEqual({ class: small, credits: null, source: 'unknown' });
  });

  test('adds up over a plan, and what nobody can estimate is counted apart', () => {
    const row = (price: Partial<Price>, action: 'create' | 'keep' = 'create') =>
      ({
        action,
        credits: price.credits ?? null,
        price: { class: 'c', credits: null, source: 'list', ...price },
      }) as const;
    const rows = [
      row({ credits: 4, source: 'lock', low: 2, likely: 3, high: 4 }),
      row({ source: 'list', low: 5, likely: 6, high: 7 }),
    ];
    expect(estimateOf(rows)).toEqual({ low: 7, likely: 9, high: 11, unpriced: 0, sources: { lock: 1, list: 1 } });
    expect(estimateOf([...rows, row({ source: 'list', low: 1, likely: 1 })])).toMatchObject({ likely: 10, high: null });
    expect(estimateOf([...rows, row({ source: 'unknown' })])).toMatchObject({ likely: 9, high: null, unpriced: 1 });
    expect(estimateOf([row({ credits: 0 }), { ...row({}), action: 'keep' }])).toBeUndefined();
  });
});

function listingOf(models: { readonly [model: string]: Json }): Listing {
  return readCatalogListing({ image: Object.entries(models).map(([key, facts]) => ({ key, ...mapOf(facts) })) }, kinds);
}
