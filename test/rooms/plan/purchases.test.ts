import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, Purchase, Refusal } from '../../../src/lock/record.ts';
import { countRefused, idempotencyKey, nextPurchase, repeatOf } from '../../../src/plan/purchases/key.ts';
import { isPromptRefused } from '../../../src/plan/purchases/next.ts';
import { type StepState, situate, stateOfStep } from '../../../src/plan/situation/situation.ts';
import { forAll } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const purchase = { campaign: 'aurora', fingerprint: '1:abc', repeat: 1, attempt: 1 };

test('the key of a purchase never changes: another one would pay again', () => {
  expect(idempotencyKey(purchase)).toBe('mb1-cc2bfbb21efbd81ee181d2b96bd3196794fc3533');
});

const anyPurchase = fc.record({
  campaign: fc.string({ maxLength: 80 }),
  fingerprint: fc.string(),
  repeat: fc.integer({ min: 1, max: 99 }),
  attempt: fc.integer({ min: 1, max: 99 }),
});
forAll([anyPurchase, anyPurchase])('keys fit the service and differ whenever the purchase does', (a, b) => {
  expect(idempotencyKey(a)).toMatch(/^[\x21-\x7e]{1,128}$/);
  expect(idempotencyKey({ ...a })).toBe(idempotencyKey(a));
  expect(idempotencyKey(a) === idempotencyKey(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
});

describe('the keys of a purchase are walked from the first', () => {
  const walked = { campaign: 'aurora', fingerprint: '1:abc', repeat: 2 };
  const refusedAt = (attempt: number, more: Partial<typeof purchase> = {}): Omit<Refusal, 'decided'> => ({
    fingerprint: '1:abc',
    generation: 2,
    attempt,
    state: 'refused',
    key: idempotencyKey({ ...walked, attempt, ...more }),
  });

  test.each<[string, Purchase[], number]>([
    ['nothing was refused', [], 0],
    ['the first was', [refusedAt(1)], 1],
    ['the second was, in a clone that had counted on: the first is tried', [refusedAt(2)], 0],
    ['the third was beside the first: the second is tried', [refusedAt(3), refusedAt(1)], 1],
    ['those of another purchase were', [refusedAt(1, { repeat: 1 }), refusedAt(1, { repeat: 3 })], 0],
    ['those of another request were', [refusedAt(1, { fingerprint: '1:abd' })], 0],
    ['the key was refused whatever the lock says beside it', [{ ...refusedAt(1), generation: 9, attempt: 7 }], 1],
    ['the key has a job', [{ ...refusedAt(1), state: 'running', jobId: 'j' }], 0],
    ['the key is open', [{ ...refusedAt(1), state: 'intent', send: 's1' }], 0],
    ['the key is open and was refused', [refusedAt(1), { ...refusedAt(1), state: 'intent', send: 's1' }], 1],
  ])('%s', (_name, purchases, count) => {
    expect(countRefused(purchases, walked)).toBe(count);
  });
});

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

test.each<[string, Purchase[], string, ReturnType<typeof nextPurchase>]>([
  ['is the first', [], a.fingerprint, { generation: 1, repeat: 1 }],
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
  ['comes after what was written off', [create(a, { writtenOff: true })], a.fingerprint, { generation: 2, repeat: 2 }],
  ['comes after what is open', [create(a)], a.fingerprint, { generation: 2, repeat: 2 }],
])('the next purchase of a step: %s', (_name, known, fingerprint, next) => {
  expect(nextPurchase(known, fingerprint)).toEqual(next);
});

describe('the state of a step', () => {
  const graph = graphOfSteps([song('a')]);
  const a = stepOf(graph, 'a');

  function stateOf(given: Graph, lock: Lock, address: string): StepState {
    const situation = situate(given, lock);
    return stateOfStep(situation.byAddress.get(address), situation);
  }

  test.each<[string, Purchase[], StepState]>([
    ['nothing is on record', [], 'not-bought'],
    ['it is done', [saved(a)], 'done'],
    ['its job runs', [job(a)], 'running'],
    ['its job failed', [job(a, { state: 'failed' })], 'failed'],
    ['its job is not known any more', [job(a, { state: 'lost' })], 'lost'],
    ['nobody knows whether it was paid', [create(a, { state: 'unresolved' })], 'unresolved'],
    ['its create was never answered', [create(a)], 'unresolved'],
    ['it was refused', [create(a, { state: 'refused' })], 'not-bought'],
    ['another request was bought', [saved(earlier(a))], 'changed'],
    [
      'another request was refused after it was bought',
      [create(earlier(a), { state: 'refused', generation: 2 }), saved(earlier(a))],
      'changed',
    ],
  ])('%s', (_name, purchases, state) => {
    expect(stateOf(graph, lockOf(purchases.length === 0 ? {} : { a: purchases }), 'a')).toBe(state);
  });
});

/** Messages of real services, and of the sandbox. */
test.each([
  [undefined, false],
  ['no reason given', false],
  ['contained material flagged by a content checker', true],
  ['Your request was rejected as a result of our safety system', true],
  ['Input flagged by our content moderation system', true],
  ['content_policy_violation', true],
  ['Moderation: blocked', true],
  ['prohibited words', true],
  ['NSFW content detected in the reference image', true],
  ['invalid image', true],
  ['the prompt is too long', true],
  ['moderation: prompt flagged, output withheld', true],
  ['The prompt is blocked; no output was produced', true],
  ['Your request was rejected: it violates our usage guidelines', true],
  ['invalid prompt (upstream 400)', true],
  ['Prompt too long: rate limit of 500 characters', true],
  ["The response violated Vertex AI's usage guidelines", false],
  ['output audio may contain sensitive information', false],
  ['Output audio has sensitive content', false],
  ['The model did not generate the expected output because of unsafe content', false],
  ['The generated video was blocked by moderation', false],
  ['invalid response from the upstream provider', false],
  ['timeout', false],
  ['The service is temporarily unavailable. Please try again later', false],
  ['CUDA out of memory', false],
  ['Internal server error', false],
])('%j is because of the prompt: %s', (error, expected) => {
  expect(isPromptRefused(error)).toBe(expected);
});
