import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock } from '../../../src/lock/record.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import { idempotencyKey } from '../../../src/plan/purchases/key.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  create,
  earlier,
  type GivenFacts,
  job,
  lockOf,
  now,
  output,
  planOf,
  rowOf,
  saved,
  sendIn,
  song,
  stepOf,
} from './facts.ts';

const graph = graphOfSteps([song('a@x')]);
const a = stepOf(graph, 'a@x');
const empty = lockOf({});

function orderOf(given: Graph, lock: Lock, facts: GivenFacts = {}): StepOrder {
  const address = given.steps.at(-1)?.address ?? '';
  const { order } = rowOf(planOf(given, lock, facts), address);
  if (order === undefined) throw new Error(`${address} has no order`);
  // Where a price comes from is tested with the prices.
  const { class: name, credits } = order.price;
  return { ...order, price: { class: name, credits, source: 'unknown' } };
}

const keyOf = (repeat: number, attempt: number, fingerprint = a.fingerprint) =>
  idempotencyKey({ campaign: 'test', fingerprint, repeat, attempt });

const first: StepOrder = {
  campaign: 'test',
  address: 'a@x',
  task: 'a',
  kind: 'music',
  action: 'create',
  fingerprint: a.fingerprint,
  generation: 1,
  attempt: 1,
  repeat: 1,
  refused: 0,
  key: keyOf(1, 1),
  request: { model: 'song-7.5', prompt: 'a@x' },
  paidRequest: { model: 'song-7.5', prompt: 'a@x' },
  save: 'output/a-x',
  needs: [],
  price: { class: 'music/song-7.5', credits: 4, source: 'unknown' },
  replaces: [],
};

describe('the order of a step', () => {
  test('that was never bought', () => {
    expect(orderOf(graph, empty)).toStrictEqual(first);
  });

  test('that is bought once more', () => {
    const paid = [job(a, { state: 'failed', generation: 2 }), saved(a)];
    expect(orderOf(graph, lockOf({ 'a@x': paid }), { redo: new Set(['a@x']) })).toStrictEqual({
      ...first,
      action: 'redo',
      generation: 3,
      repeat: 3,
      key: keyOf(3, 1),
      replaces: ['sha of output/a-x.mp3'],
    });
  });

  test('that was refused after it was bought', () => {
    const again = create(a, { state: 'refused', generation: 2, key: keyOf(2, 1) });
    const lock = lockOf({ 'a@x': [again, job(a, { state: 'failed' })] });
    expect(orderOf(graph, lock, { redo: new Set(['a@x']) })).toStrictEqual({
      ...first,
      action: 'retry',
      generation: 2,
      repeat: 2,
      refused: 1,
      key: keyOf(2, 1),
    });
  });

  test('whose create was never answered', () => {
    const since = new Date(now).toISOString();
    const open = create(a, { generation: 2, attempt: 2, since });
    const asked: StepOrder = {
      ...first,
      generation: 2,
      attempt: 2,
      repeat: 2,
      key: 'key of a@x 2.2',
      send: { id: sendIn(a, { generation: 2, attempt: 2 }), since },
    };
    const failed = job(a, { state: 'failed' });
    expect(orderOf(graph, lockOf({ 'a@x': [open, failed] }))).toStrictEqual(asked);
    const refused = create(a, { state: 'refused', generation: 2, key: keyOf(2, 1) });
    expect(orderOf(graph, lockOf({ 'a@x': [open, refused, failed] }))).toStrictEqual({ ...asked, refused: 1 });
    const listed = { ...open, state: 'unresolved' as const, fence: 'job-9', resent: true as const };
    expect(orderOf(graph, lockOf({ 'a@x': [listed, failed] })).send).toStrictEqual({
      id: open.send,
      since,
      fence: 'job-9',
      resent: true,
    });
  });

  test('that shares the job of another step', () => {
    const same = { model: 'song-7.5', prompt: 'same' };
    const twins = graphOfSteps([
      song('logo'),
      song('b', { request: same, needs: ['logo'] }),
      song('a@x', { request: same, needs: ['logo'] }),
    ]);
    expect(orderOf(twins, empty)).toStrictEqual({
      ...first,
      action: 'download',
      fingerprint: stepOf(twins, 'b').fingerprint,
      key: keyOf(1, 1, stepOf(twins, 'b').fingerprint),
      request: same,
      paidRequest: same,
      needs: ['b', 'logo'],
      sharesJobOf: 'b',
    });
    const needed = graphOfSteps([song('b', { request: same }), song('a@x', { request: same, needs: ['b'] })]);
    expect(orderOf(needed, empty).needs).toStrictEqual(['b']);
  });
});

test('an order may replace everything that was bought for its step, but not what somebody has edited', () => {
  const lock = lockOf({
    'a@x': [
      saved(a, { generation: 3, outputs: [output('z.mp3'), output('hand.mp3', { edited: true })] }),
      job(earlier(a), { state: 'failed', generation: 2 }),
      saved(earlier(a), { outputs: [output('b.mp3'), output('z.mp3')] }),
    ],
  });
  expect(orderOf(graph, lock, { redo: new Set(['a@x']) }).replaces).toStrictEqual(['sha of b.mp3', 'sha of z.mp3']);
});

describe('what may follow in the same run, by `retry`', () => {
  const patient = graphOfSteps([song('a@x', { retry: { attempts: 3, credits: 10 } })]);

  test.each<[string, Lock, GivenFacts, StepOrder['action'], StepOrder['retries']]>([
    ['of a first purchase', empty, {}, 'create', { left: 2, credits: 10, generation: 2, repeat: 2 }],
    ['of a running job', lockOf({ 'a@x': [job(a)] }), {}, 'attach', { left: 2, credits: 10, generation: 2, repeat: 2 }],
    ['of a download', lockOf({ 'a@x': [saved(a)] }), { fileState: () => 'missing' }, 'download', undefined],
    ['of a move', lockOf({ old: [saved(a)] }), {}, 'move', undefined],
  ])('%s', (_name, lock, facts, action, retries) => {
    const order = orderOf(patient, lock, facts);
    expect([order.action, order.retries]).toStrictEqual([action, retries]);
  });
});
