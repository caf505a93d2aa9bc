import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, Purchase, PurchaseState } from '../../../src/lock/record.ts';
import { purchaseOf } from '../../../src/plan/situation/find-purchases.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');

function found(given: Graph, lock: Lock): object[] {
  return situate(given, lock).matches.map(({ step, record, purchase, movedFrom, sharesJobOf }) => ({
    is: step.address,
    ...(record && { record: record.purchases.map((one) => one.jobId ?? one.key) }),
    ...(purchase && { purchase: purchase.jobId ?? purchase.key }),
    ...(movedFrom !== undefined && { movedFrom }),
    ...(sharesJobOf !== undefined && { sharesJobOf }),
  }));
}

describe('which purchase of a request counts', () => {
  const states: Record<string, (generation: number) => Purchase> = {
    done: (generation) => saved(a, { generation }),
    running: (generation) => job(a, { generation }),
    failed: (generation) => job(a, { generation, state: 'failed' }),
    lost: (generation) => job(a, { generation, state: 'lost' }),
    intent: (generation) => create(a, { generation }),
    unresolved: (generation) => create(a, { generation, state: 'unresolved' }),
    refused: (generation) => create(a, { generation, state: 'refused' }),
    'written off': (generation) => create(a, { generation, writtenOff: true }),
    'done, of another request': (generation) => saved(earlier(a), { generation }),
  };

  test.each([
    [['done'], 0],
    [['done', 'done'], 0],
    [['running', 'done'], 0],
    [['failed', 'done'], 1],
    [['lost', 'running'], 1],
    [['refused', 'done'], 1],
    [['refused', 'running'], 1],
    [['intent', 'done'], 1],
    [['unresolved', 'running'], 1],
    [['intent', 'unresolved'], 0],
    [['unresolved', 'intent'], 0],
    [['failed', 'intent'], 1],
    [['lost', 'unresolved'], 1],
    [['refused', 'intent'], 1],
    [['refused', 'unresolved'], 1],
    [['refused', 'refused'], 0],
    [['refused', 'failed'], 1],
    [['refused', 'lost'], 1],
    [['refused', 'written off'], 0],
    [['written off'], undefined],
    [['written off', 'failed'], 1],
    [['failed', 'refused'], 0],
    [['lost', 'refused'], 0],
    [['failed', 'refused', 'intent'], 2],
    [['failed', 'intent', 'refused'], 1],
    [['failed', 'lost'], 0],
    [['lost', 'failed'], 0],
    [['done, of another request', 'failed'], 1],
    [['done, of another request'], undefined],
  ])('newest first: %j', (names, index) => {
    const purchases = names.map((name, nth) => states[name]?.(names.length - nth)).filter((one) => one !== undefined);
    const purchase = purchaseOf({ address: 'a', kind: 'music', purchases }, a.fingerprint);
    expect(purchase).toEqual(index === undefined ? undefined : purchases[index]);
  });

  test('what is forgotten does not', () => {
    const record = lockOf({ a: [job(a, { generation: 2, state: 'failed' }), forgotten(saved(a))] });
    expect(found(graph, record)).toEqual([{ is: 'a', record: ['a-2', 'a-1'], purchase: 'a-2' }]);
  });
});

describe('a step without a purchase of its own', () => {
  const other = earlier(a);

  test('has nothing where nothing is on record', () => {
    expect(found(graph, lockOf({}))).toEqual([{ is: 'a' }]);
    expect(found(graph, lockOf({ old: [saved(other)] }))).toEqual([{ is: 'a' }]);
  });

  test('takes what stands under an address that the manifest no longer has, with all that is on record there', () => {
    const lock = lockOf({
      a: [saved(other, { generation: 3, jobId: 'own' })],
      old: [saved(a, { generation: 2, jobId: 'wanted' }), job(other, { jobId: 'before', state: 'failed' })],
    });
    expect(found(graph, lock)).toEqual([
      { is: 'a', record: ['own', 'wanted', 'before'], purchase: 'wanted', movedFrom: 'old' },
    ]);
  });

  test('takes what was refused, so that its key is not used again, but rather what was not', () => {
    const refused = create(a, { state: 'refused' });
    const taken = { is: 'a', record: [refused.key], purchase: refused.key, movedFrom: 'old' };
    expect(found(graph, lockOf({ old: [refused] }))).toEqual([taken]);
    expect(found(graph, lockOf({ old: [refused], older: [job(a)] }))[0]).toMatchObject({ movedFrom: 'older' });
  });

  test.each<[PurchaseState, PurchaseState, string]>([
    ['refused', 'done', 'old'],
    ['refused', 'running', 'old'],
    ['refused', 'intent', 'old'],
    ['refused', 'failed', 'old'],
    ['failed', 'done', 'old'],
    ['lost', 'running', 'old'],
    ['failed', 'intent', 'a'],
    ['failed', 'lost', 'a'],
    ['running', 'done', 'a'],
    ['intent', 'done', 'a'],
  ])('where its own is %s and there is one that is %s, it stands on that of %s', (own, other, which) => {
    const of = (state: PurchaseState) =>
      state === 'refused' || state === 'intent' || state === 'unresolved' ? create(a, { state }) : job(a, { state });
    const [match] = situate(graph, lockOf({ a: [of(own)], old: [of(other)] })).matches;
    expect(match?.movedFrom ?? 'a').toBe(which);
    expect(match?.purchase?.state).toBe(which === 'a' ? own : other);
  });

  test('does not take what another step stands on, nor what was forgotten', () => {
    const twins = graphOfSteps([song('a'), song('b', { request: { prompt: 'a' } })]);
    expect(found(twins, lockOf({ b: [saved(a)] }))).toEqual([
      { is: 'a', sharesJobOf: 'b' },
      { is: 'b', record: ['a-1'], purchase: 'a-1' },
    ]);
    expect(found(graph, lockOf({ old: [forgotten(saved(a))] }))).toEqual([{ is: 'a' }]);
  });

  test('takes what another step has on record and does not want any more', () => {
    const exchanged = graphOfSteps([song('a'), song('b')]);
    const b = stepOf(exchanged, 'b');
    const lock = lockOf({ a: [saved(b)], b: [saved(a)] });
    expect(found(exchanged, lock)).toEqual([
      { is: 'a', record: ['a-1', 'b-1'], purchase: 'a-1', movedFrom: 'b' },
      { is: 'b', record: ['a-1', 'b-1'], purchase: 'b-1', movedFrom: 'a' },
    ]);
  });
});

describe('equal requests', () => {
  const twins = graphOfSteps(['a', 'b', 'c'].map((address) => song(address, { request: { prompt: 'same' } })));
  const same = stepOf(twins, 'a');

  test('share the first job that is bought', () => {
    const lock = lockOf({ b: [saved(same, { jobId: 'b' })], c: [saved(same, { jobId: 'c' })] });
    expect(found({ ...twins, steps: [...twins.steps, { ...same, address: 'd' }] }, lock)).toEqual([
      { is: 'a', sharesJobOf: 'b' },
      { is: 'b', record: ['b'], purchase: 'b' },
      { is: 'c', record: ['c'], purchase: 'c' },
      { is: 'd', sharesJobOf: 'b' },
    ]);
  });
});
