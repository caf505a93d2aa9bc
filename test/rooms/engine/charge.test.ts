import { describe, expect, test } from 'vitest';
import { BalanceWatch } from '../../../src/engine/account-gate.ts';
import { chargeOf } from '../../../src/engine/local-ledger.ts';
import type { Price } from '../../../src/plan/plan.ts';
import { worstFactor } from '../../../src/plan/prices/price-sources.ts';

const unknown: Price = { class: 'thumbnail', credits: null, source: 'unknown' };
const named: Price = { ...unknown, held: 5 };
const known: Price = { class: 'thumbnail', credits: 3, source: 'prices' };
const free: Price = { class: 'post', credits: 0, source: 'documented' };

describe('what a create was charged', () => {
  const charge = (price: Price, told: { credits?: number; isListed?: true; fall?: number }) =>
    chargeOf({ credits: null, ...told }, { price, reserved: price.credits, fall: told.fall });

  test.each<[string, number | null, Price, { credits?: number; isListed?: true; fall?: number }]>([
    ['the answer says it, whatever the balance did', 2, known, { credits: 2, fall: 7 }],
    ['an answer of nothing is one', 0, known, { credits: 0 }],
    ['beside a balance that stands still, too', 0, unknown, { credits: 0, fall: 0 }],
    ['but not beside one that fell', 40, unknown, { credits: 0, fall: 40 }],
    ['unless it is documented to be free', 0, free, { credits: 0, fall: 40 }],
    ['the fall of the balance tells it', 4, unknown, { fall: 4 }],
    ['nothing tells', null, unknown, {}],
    ['a balance that stands still tells nothing', null, unknown, { fall: 0 }],
    ['nor one that rose', null, unknown, { fall: -20 }],
    ['a fall is believed upwards', 5, known, { fall: 5 }],
    ['and not downwards', 3, known, { fall: 1 }],
    ['nor of what is documented to be free', null, free, { fall: 4 }],
    ['a list tells where no price is known', 2, unknown, { credits: 2, isListed: true }],
    ['a list is believed upwards', 9, known, { credits: 9, isListed: true }],
    ['a list never lowers what is counted', 3, known, { credits: 1, isListed: true }],
  ])('%s', (_name, expected, price, told) => {
    expect(charge(price, told)).toBe(expected);
  });

  test('a fall of the balance beyond all measure tells nothing', () => {
    for (const [price, most] of [
      [known, 3 * worstFactor],
      [named, 5 * worstFactor],
    ] as const) {
      expect([charge(price, { fall: most }), charge(price, { fall: most + 1 })]).toEqual([most, null]);
    }
    expect(charge(unknown, { fall: 1000 })).toBe(1000);
  });
});

describe('the balance before and after a create', () => {
  type Act = ['left' | 'asked' | 'lost', string] | ['answered' | 'told', string, number | null];
  const falls = (acts: readonly Act[]) => {
    const watch = new BalanceWatch();
    return acts.flatMap(([act, name, balance = null]) => {
      if (act === 'left' || act === 'asked') watch.left(name, { isAsked: act === 'asked' });
      if (act === 'lost') watch.returned(name, { isAnswered: false });
      if (act !== 'answered' && act !== 'told') return [];
      const fall = watch.answered(name, balance);
      if (act === 'answered') watch.returned(name, { isAnswered: true });
      return [fall];
    });
  };
  const one = (name: string, balance: number | null): Act[] => [
    ['left', name],
    ['answered', name, balance],
  ];

  test.each<[string, Act[], (number | undefined)[]]>([
    ['tells the second one that goes alone', [...one('a', 97), ...one('b', 94)], [undefined, 3]],
    [
      'tells the next one, too, that leaves before the last one is recorded',
      [...one('a', 97), ['left', 'b'], ['told', 'b', 94], ['left', 'c'], ['answered', 'c', 90]],
      [undefined, 3, 4],
    ],
    [
      'tells nothing after an answer without a balance',
      [...one('a', 97), ...one('b', null), ...one('c', 90)],
      [undefined, undefined, undefined],
    ],
    [
      'tells nothing of two side by side, and the lowest counts from then on',
      [...one('a', 97), ['left', 'b'], ['left', 'c'], ['answered', 'c', 91], ['answered', 'b', 94], ...one('d', 88)],
      [undefined, undefined, undefined, 3],
    ],
    [
      'tells nothing of one that another one left beside, even when that one was refused',
      [...one('a', 97), ['left', 'b'], ['left', 'c'], ['lost', 'c'], ['answered', 'b', 94]],
      [undefined, undefined],
    ],
    [
      'tells nothing after one whose answer was lost: it may have been charged meanwhile',
      [...one('a', 97), ['left', 'b'], ['lost', 'b'], ...one('c', 91), ...one('d', 88)],
      [undefined, undefined, 3],
    ],
    [
      'tells nothing of one that asks for an earlier answer',
      [...one('a', 97), ['asked', 'b'], ['answered', 'b', 94], ...one('c', 91)],
      [undefined, undefined, 3],
    ],
  ])('%s', (_name, acts, expected) => {
    expect(falls(acts)).toEqual(expected);
  });
});
