import { describe, expect, test } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { readCatalogListing } from '../../../src/kinds/read-catalog.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { type Held, heldCredits } from '../../../src/plan/prices/held.ts';
import { type PriceHints, pricesFrom, type WrittenPrices } from '../../../src/plan/prices/prices.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, lockOf, picture, saved, sendIn, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a'), picture('p')]);
const a = stepOf(graph, 'a');
const p = stepOf(graph, 'p');

function without(purchase: Purchase, field: 'credits' | 'request'): Purchase {
  const { [field]: _field, ...rest } = purchase;
  return rest;
}

const heldIn = (lock: Lock, sentAgain?: string[]) =>
  heldCredits(lock, pricesFrom(lockOf({})), ...(sentAgain === undefined ? [] : [new Set(sentAgain)]));

describe('what may have been spent without our knowing how much', () => {
  const none: Held = { credits: 0, unknownPrices: 0 };
  const four: Held = { credits: 4, unknownPrices: 0 };

  test.each<[string, Lock, Held]>([
    ['nothing is on record', lockOf({}), none],
    ['a charge is known', lockOf({ a: [saved(a)] }), none],
    ['it was refused', lockOf({ a: [create(a, { state: 'refused' })] }), none],
    ['an answer was lost', lockOf({ a: [create(a)] }), four],
    ['nobody knows whether it was charged', lockOf({ a: [create(a, { state: 'unresolved' })] }), four],
    ['the service did not say what it deducted', lockOf({ a: [without(saved(a), 'credits')] }), four],
    [
      'a job that is shared counts once',
      lockOf({ a: [without(job(a), 'credits')], b: [without(job(a), 'credits')] }),
      four,
    ],
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

  test('what is sent again reserves its price anew, and is not held', () => {
    const lock = lockOf({ a: [create(a, { send: 'again' }), create(a, { send: 'other' })] });
    expect(heldIn(lock, ['again'])).toEqual(four);
    expect(heldIn(lock, ['again', 'other'])).toEqual(none);
  });
});
