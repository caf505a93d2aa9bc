import { describe, expect, test } from 'vitest';
import type { Purchase } from '../../../src/lock/record.ts';
import { nextPurchase, repeatOf } from '../../../src/plan/purchases/key.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, saved, song, stepOf } from './facts.ts';

const a = stepOf(graphOfSteps([song('a')]), 'a');
const refusedBefore = create(earlier(a, { ...a.request, prompt: 'refused' }), { state: 'refused', generation: 2 });
const purchases: Purchase[] = [
  saved(earlier(a), { generation: 4 }),
  job(a, { generation: 3, attempt: 2 }),
  create(a, { generation: 3, attempt: 3 }),
  create(a, { generation: 3, state: 'refused' }),
  saved(earlier(a), { generation: 2 }),
  refusedBefore,
  saved(a),
];

test.each([
  ['the first one', a.fingerprint, 1, 1],
  ['the second one, whatever was bought in between', a.fingerprint, 3, 2],
  ['the next one: two attempts of one purchase count once', a.fingerprint, 5, 3],
  ['another request', earlier(a).fingerprint, 4, 2],
  ['not one more for what was refused in between', refusedBefore.fingerprint, 3, 1],
  ['a request that was never bought', '1:new', 5, 1],
])('which purchase of its request it is: %s', (_name, fingerprint, generation, repeat) => {
  expect(repeatOf(purchases, { fingerprint, generation })).toBe(repeat);
});

describe('the next purchase of a step', () => {
  test.each<[string, Purchase[], string, ReturnType<typeof nextPurchase>]>([
    ['is the first', [], a.fingerprint, { generation: 1, repeat: 1 }],
    ['is the third of its request', purchases, a.fingerprint, { generation: 5, repeat: 3 }],
    ['is the first of its request', purchases, '1:new', { generation: 5, repeat: 1 }],
    [
      'is still the first where all was refused',
      [create(a, { state: 'refused', generation: 3 }), create(a, { state: 'refused', attempt: 2 })],
      a.fingerprint,
      { generation: 1, repeat: 1 },
    ],
    [
      'is still the second where the second was refused',
      [create(a, { state: 'refused', generation: 2 }), saved(a)],
      a.fingerprint,
      { generation: 2, repeat: 2 },
    ],
    ['comes after what was forgotten', [forgotten(saved(a))], a.fingerprint, { generation: 2, repeat: 2 }],
    [
      'comes after what was written off',
      [create(a, { writtenOff: true })],
      a.fingerprint,
      { generation: 2, repeat: 2 },
    ],
    ['comes after what is open', [create(a)], a.fingerprint, { generation: 2, repeat: 2 }],
  ])('%s', (_name, known, fingerprint, next) => {
    expect(nextPurchase(known, fingerprint)).toEqual(next);
  });
});
