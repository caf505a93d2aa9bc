import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Graph, OpenRequest } from '../../../src/graph/graph.ts';
import type { Json } from '../../../src/ground/json.ts';
import { mapOf } from '../../../src/ground/values.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { type Listing, readCatalogListing } from '../../../src/kinds/listed-model.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import type { Row } from '../../../src/plan/plan.generated.ts';
import type { Price } from '../../../src/plan/plan.ts';
import { type CostDimension, listCharges, sumCharges, tallyCharges } from '../../../src/plan/prices/charges.ts';
import {
  listedCharge,
  type PriceHints,
  plausiblePrices,
  pricesFrom,
  type WrittenPrices,
} from '../../../src/plan/prices/prices.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { heldCredits, sumPrices } from '../../../src/plan/sum-up.ts';
import { makeStatus } from '../../../src/report/status/status.ts';
import { forAll } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { addresses, lock as locks } from '../lock/records.ts';
import { create, earlier, forgotten, job, lockOf, picture, planOf, saved, sendIn, song, stepOf } from './facts.ts';

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
    ['is the most that was charged', [3, 6, 5].map((credits) => ({ ...paid, credits })), 6],
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
    const notify = (price: Price) => [undefined, 0, 1, 9].map((told) => listedCharge(told, price));
    expect(notify(known)).toEqual([undefined, undefined, 3, 9]);
    expect(notify(free)).toEqual([undefined, 0, 1, 9]);
    expect(notify(unknown)).toEqual([undefined, undefined, 1, 9]);
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
      }) as Row;
    const estimateOf = (some: Row[]) => sumPrices(some).estimate;
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

const graph = graphOfSteps([picture('lost'), picture('other'), picture('next'), song('a')], { budget: 10 });
const lost = create(stepOf(graph, 'lost'), { state: 'unresolved' });
const locked = (records: Record<string, Purchase[]>): Lock => lockOf(records, { kind: 'image' });
const actions = (lock: Lock) => {
  const { rows, totals } = planOf(graph, lock);
  return { ...Object.fromEntries(rows.map(({ address, action }) => [address, action])), left: totals.budgetLeft };
};

test.each<[string, Lock]>([
  ['one was lost', locked({ lost: [lost] })],
  [
    'the service made it, and says no price',
    locked({ lost: [job(stepOf(graph, 'lost'), { state: 'done', outputs: [] })] }),
  ],
  ['nobody knows what was asked for', locked({ lost: [{ ...lost, request: undefined } as unknown as Purchase] })],
])('nothing goes beyond the budget where no price is known and %s', (_name, lock) => {
  const records = [...lock.steps.values()].flatMap(({ purchases }) => purchases);
  for (const purchase of records) delete purchase.credits;
  const { left, ...rows } = actions(lock);
  expect(left).toBe(0);
  expect(Object.values(rows)).not.toContain('create');
});

test('nothing waits where no budget is set', () => {
  const free = graphOfSteps([picture('lost'), picture('next'), song('a')]);
  const { rows } = planOf(free, locked({ lost: [lost] }));
  expect(rows.map(({ action }) => action)).toEqual(['unresolved', 'create', 'create']);
});

/** Some of the addresses that the locks have, asking for what some of them bought. */
const graphs: fc.Arbitrary<Graph> = fc
  .array(
    fc.record({ address: fc.constantFrom(...addresses, 'new@x'), bought: fc.constantFrom('1:aa', '1:bb', '1:cc') }),
    {
      maxLength: 5,
    },
  )
  .map((wanted) => {
    const unique = [...new Map(wanted.map((one) => [one.address, one])).values()];
    const graph = graphOfSteps(unique.map(({ address }) => picture(address)));
    const steps = graph.steps.map((step, index) => ({ ...step, fingerprint: unique[index]?.bought ?? '' }));
    return { ...graph, steps, prices: { image: 3 } };
  });

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

forAll([graphs, locks, fc.subarray<CostDimension>(['task', 'kind', 'model', 'tag'])], 200)(
  'counts each credit of the status once, under any grouping',
  (graph, lock, by) => {
    const situation = situate(graph, lock);
    const { credits } = makeStatus({ situation, present: new Map() });
    const charges = listCharges(situation);
    const totals = sumCharges(charges);
    expect(totals).toMatchObject({ spent: credits.spent, held: credits.held, heldUnknown: credits.heldUnknown });
    const { delivered, running, failed, superseded } = totals;
    expect(delivered + running + failed + superseded).toBe(credits.spent);
    expect(new Set(charges.map(({ name }) => name)).size).toBe(charges.length);
    const rows = tallyCharges(charges, by);
    for (const name of Object.keys(totals) as (keyof typeof totals)[]) {
      expect(sum(rows.map((row) => row.credits[name]))).toBe(totals[name]);
    }
    expect(sum(rows.map(({ jobs }) => jobs))).toBe(charges.length);
  },
);

describe('where credits went', () => {
  const graph = graphOfSteps([song('a'), song('b'), song('c')]);
  const [a, b] = [stepOf(graph, 'a'), stepOf(graph, 'b')];
  const went = (lock: Lock) => Object.fromEntries(listCharges(situate(graph, lock)).map((one) => [one.id, one.went]));

  it.each<[string, Lock, Record<string, string>]>([
    ['to what a step has', lockOf({ a: [saved(a)] }), { 'a-1': 'delivered' }],
    ['to a job that runs', lockOf({ a: [job(a)] }), { 'a-1': 'running' }],
    ['to a failed job', lockOf({ a: [job(a, { state: 'failed' })] }), { 'a-1': 'failed' }],
    [
      'to what was bought again',
      lockOf({ a: [saved(a, { generation: 2 }), saved(a, { generation: 1 })] }),
      { 'a-2': 'delivered', 'a-1': 'superseded' },
    ],
    ['to what its step no longer asks for', lockOf({ a: [saved(earlier(a))] }), { 'a-1': 'delivered' }],
    ['to a step that is gone', lockOf({ old: [saved(earlier(a))] }), { 'a-1': 'delivered' }],
    ['to a step that has another name now', lockOf({ old: [saved(b)] }), { 'b-1': 'delivered' }],
    ['to what was forgotten', lockOf({ a: [forgotten(saved(a))] }), { 'a-1': 'superseded' }],
    ['to a create request that nobody has answered', lockOf({ a: [create(a)] }), { 'send of a 1.1': 'held' }],
    [
      'to a job whose charge nobody has said',
      (() => {
        const { credits: _credits, ...unknown } = saved(a);
        return lockOf({ a: [unknown] });
      })(),
      { 'a-1': 'held' },
    ],
  ])('%s', (_name, lock, expected) => expect(went(lock)).toEqual(expected));

  it('a job that stands at two addresses is one charge, of the step that has it', () => {
    const lock = lockOf({ old: [saved(b)], b: [saved(b)] });
    expect(listCharges(situate(graph, lock))).toEqual([
      expect.objectContaining({ address: 'b', task: 'b', went: 'delivered', credits: 4 }),
    ]);
  });
});

describe('what may have been spent without our knowing how much', () => {
  const graph = graphOfSteps([song('a'), picture('p')]);
  const a = stepOf(graph, 'a');
  const p = stepOf(graph, 'p');

  function without(purchase: Purchase, field: 'credits' | 'request'): Purchase {
    const { [field]: _field, ...rest } = purchase;
    return rest;
  }

  const heldIn = (lock: Lock, sentAgain?: string[]) =>
    heldCredits(lock, pricesFrom(lockOf({})), ...(sentAgain === undefined ? [] : [new Set(sentAgain)]));

  const none = { credits: 0, unknownPrices: 0 };
  const four = { credits: 4, unknownPrices: 0 };

  test.each<[string, Lock, typeof none]>([
    ['nothing is on record', lockOf({}), none],
    ['a charge is known', lockOf({ a: [saved(a)] }), none],
    ['it was refused', lockOf({ a: [create(a, { state: 'refused' })] }), none],
    ['an answer was lost', lockOf({ a: [create(a)] }), four],
    ['nobody knows whether it was charged', lockOf({ a: [create(a, { state: 'unresolved' })] }), four],
    ['the service did not say what it deducted', lockOf({ a: [without(saved(a), 'credits')] }), four],
    ['a shared job counts once', lockOf({ a: [without(job(a), 'credits')], b: [without(job(a), 'credits')] }), four],
    ['two sends count twice', lockOf({ a: [create(a, { generation: 2 }), create(a)] }), { ...four, credits: 8 }],
    [
      'two sends count twice, under one key too, as two branches may have left them',
      lockOf({ a: [create(a, { send: 'ours' }), create(a, { send: 'theirs' })] }),
      { ...four, credits: 8 },
    ],
    ['one send that stands at two addresses counts once', lockOf({ a: [create(a)], old: [create(a)] }), four],
    ['it was written off: it may have been charged', lockOf({ a: [create(a, { writtenOff: true })] }), four],
    ['it was forgotten', lockOf({ a: [forgotten(create(a))] }), four],
    ['a send counts beside a job', lockOf({ a: [saved(a), create(a)] }), four],
    ['it is closed', lockOf({ a: [create(a)] }, { closes: [sendIn(a)] }), none],
    ['it was decided about', lockOf({ a: [create(a)] }, { decisions: { sends: [sendIn(a)] } }), none],
    ['a charge is known at one address', lockOf({ a: [without(saved(a), 'credits')], b: [saved(a)] }), none],
    ['a charge is known at another address', lockOf({ a: [saved(a)], b: [without(saved(a), 'credits')] }), none],
    [
      'one id is that of two jobs',
      lockOf({
        a: [without(job(a, { jobId: '7' }), 'credits')],
        b: [without(job(earlier(a, { ...a.request, prompt: 'b' }), { jobId: '7' }), 'credits')],
      }),
      { ...four, credits: 8 },
    ],
    [
      'each kind has its own prices',
      lockOf({ a: [{ ...create(a), kind: 'music' }, create(p, { generation: 2 })] }, { kind: 'image' }),
      { credits: 4, unknownPrices: 1 },
    ],
    ['nobody knows the price', lockOf({ p: [create(p)] }, { kind: 'image' }), { credits: 0, unknownPrices: 1 }],
    ['nobody knows the request', lockOf({ a: [without(create(a), 'request')] }), { credits: 0, unknownPrices: 1 }],
    [
      'an older request is not kept: the newest one of the record tells',
      lockOf({ a: [saved(a, { generation: 2 }), without(create(earlier(a)), 'request')] }),
      four,
    ],
  ])('%s', (_name, lock, held) => {
    expect(heldIn(lock)).toEqual(held);
  });

  test('is held at the highest price that anything names for its kind', () => {
    const lock = lockOf({ p: [create(p, { generation: 2 })] }, { kind: 'image' });
    const held = (written: WrittenPrices, hints: PriceHints = {}) =>
      heldCredits(lock, pricesFrom(lock, written, hints));
    const listings = [
      readCatalogListing(
        {
          image: [
            { key: 'alpha-2', credits: 3 },
            { key: 'alpha-pro', credits: 7, maxCredits: 9 },
          ],
        },
        kinds,
      ),
    ];
    const elsewhere = new Map([['image/alpha-9', { low: 1, likely: 4, high: 11 }]]);
    expect(held({ music: 50 })).toEqual({ credits: 0, unknownPrices: 1 });
    expect(held({ 'image/alpha-pro': 6, 'image/alpha-1': 2 })).toEqual({ credits: 6, unknownPrices: 0 });
    expect(held({ 'image/alpha-pro': 6 }, { listings })).toEqual({ credits: 9, unknownPrices: 0 });
    expect(held({}, { listings, elsewhere })).toEqual({ credits: 11, unknownPrices: 0 });
    // Its own price is better than that of its kind.
    expect(held({ image: 2, 'image/alpha-pro': 6 })).toEqual({ credits: 2, unknownPrices: 0 });
    const charged = lockOf(
      {
        p: [create(p, { generation: 2 })],
        q: [{ ...saved(earlier(p, { ...p.request, model: 'alpha-pro' })), credits: 8 }],
      },
      { kind: 'image' },
    );
    expect(heldCredits(charged, pricesFrom(charged))).toEqual({ credits: 8, unknownPrices: 0 });
  });

  test('what is sent again reserves its price again, and is not held', () => {
    const lock = lockOf({ a: [create(a, { send: 'again' }), create(a, { send: 'other' })] });
    expect(heldIn(lock, ['again'])).toEqual(four);
    expect(heldIn(lock, ['again', 'other'])).toEqual(none);
  });
});
