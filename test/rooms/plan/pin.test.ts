import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import { type Advice, call, way } from '../../../src/ground/advice.ts';
import type { Decisions, Lock, Purchase } from '../../../src/lock/record.ts';
import { findOwn, pinStep, unpinStep } from '../../../src/plan/decisions/pin.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, forgotten, job, lockOf, matchOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const was = earlier(a);
const byManifest: Graph = { ...graph, steps: [{ ...a, pin: true }] };

const record = (purchases: Purchase[], decisions: Decisions) => ({ address: 'a', kind: 'music', purchases, decisions });
const pinned = (purchases: Purchase[], fingerprint: string, revision = 1): Lock =>
  deciding(lockOf({ a: purchases }), 'a', { pin: { fingerprint, revision } });
const ruling = (said: object): Ruling => ({ is: 'recorded', address: 'a', text: '', records: [], ...said });

describe('a pin', () => {
  const cost = 'its input changed, and to buy it again would cost';
  const { credits: _credits, ...uncharged } = saved(a);
  const taken = deciding(lockOf({ a: [saved(a)] }), 'a', { pin: { revision: 4 } });

  test.each<[string, Lock, number | null, string, Decisions['pin']]>([
    [
      'what is done',
      lockOf({ a: [saved(a)] }),
      4,
      'keeps job a-1 (4 credits)',
      { fingerprint: a.fingerprint, revision: 1 },
    ],
    [
      'what runs',
      lockOf({ a: [job(a, { credits: 1 })] }),
      4,
      'keeps job a-1 (1 credit)',
      { fingerprint: a.fingerprint, revision: 1 },
    ],
    [
      'what nobody can price',
      lockOf({ a: [uncharged] }),
      4,
      'keeps job a-1',
      { fingerprint: a.fingerprint, revision: 1 },
    ],
    ['what was pinned once before', taken, 4, 'keeps job a-1 (4 credits)', { fingerprint: a.fingerprint, revision: 5 }],
    [
      'what was bought for another input',
      lockOf({ a: [saved(was)] }),
      4,
      `keeps job a-1 (4 credits); ${cost} 4 credits`,
      { fingerprint: was.fingerprint, revision: 1 },
    ],
    [
      'what was bought before a failure',
      lockOf({ a: [job(a, { state: 'failed', generation: 2 }), saved(was)] }),
      null,
      `keeps job a-1 (4 credits); ${cost} an unknown number of credits`,
      { fingerprint: was.fingerprint, revision: 1 },
    ],
  ])('keeps %s', (_name, lock, price, text, pin) => {
    const purchases = lock.steps.get('a')?.purchases ?? [];
    expect(pinStep(matchOf(graph, lock, 'a'), price)).toEqual(
      ruling({ text, records: [record(purchases, pin === undefined ? {} : { pin })] }),
    );
  });

  test('keeps what was accepted for the input of now, and says what is held back', () => {
    const lock = deciding(lockOf({ a: [saved(was)] }), 'a', {
      accepted: [{ wanted: a.fingerprint, fingerprint: was.fingerprint, revision: 1 }],
    });
    expect(pinStep(matchOf(graph, lock, 'a'), 4).text).toBe(`keeps job a-1 (4 credits); ${cost} 4 credits`);
  });

  test.each<[string, Graph, Lock, string]>([
    ['the manifest', byManifest, lockOf({ a: [saved(a)] }), '`pin: true` of task `a` pins it already'],
    ['the lock', graph, pinned([saved(a)], a.fingerprint), 'is pinned already'],
  ])('that %s has is left as it is', (_name, given, lock, text) => {
    expect(pinStep(matchOf(given, lock, 'a'), 4)).toEqual({ is: 'unchanged', address: 'a', text });
  });
});

describe('a pin is taken off', () => {
  const again = 'the manifest decides about it again';

  test.each<[string, Graph, Lock, number | null, string]>([
    ['of what has not changed', graph, pinned([saved(a)], a.fingerprint, 3), 4, again],
    [
      'of what has changed',
      graph,
      pinned([saved(was)], was.fingerprint, 3),
      4,
      `${again}; its input changed, and the next apply redoes it for 4 credits`,
    ],
    [
      'of what the manifest pins, too',
      byManifest,
      pinned([saved(was)], was.fingerprint, 3),
      4,
      `${again}; \`pin: true\` of task \`a\` still pins it`,
    ],
  ])('%s', (_name, given, lock, price, text) => {
    const purchases = lock.steps.get('a')?.purchases ?? [];
    expect(unpinStep(matchOf(given, lock, 'a'), price)).toEqual(
      ruling({ text, records: [record(purchases, { pin: { revision: 4 } })] }),
    );
  });

  test('of what was accepted: nothing is redone', () => {
    const lock = deciding(lockOf({ a: [saved(was)] }), 'a', {
      pin: { fingerprint: was.fingerprint, revision: 1 },
      accepted: [{ wanted: a.fingerprint, fingerprint: was.fingerprint, revision: 1 }],
    });
    expect(unpinStep(matchOf(graph, lock, 'a'), 4).text).toBe(again);
  });

  test.each<[string, Graph, Lock, Ruling]>([
    ['nothing is on record', graph, lockOf({}), { is: 'unchanged', address: 'a', text: 'is not pinned' }],
    [
      'it was taken off before',
      graph,
      deciding(lockOf({ a: [saved(a)] }), 'a', { pin: { revision: 2 } }),
      { is: 'unchanged', address: 'a', text: 'is not pinned' },
    ],
    [
      'only the manifest has it',
      byManifest,
      lockOf({ a: [saved(a)] }),
      {
        is: 'refused',
        address: 'a',
        text: 'is pinned by the manifest',
        hint: 'remove `pin: true` from task `a`',
      },
    ],
  ])('but not where %s', (_name, given, lock, expected) => {
    expect(unpinStep(matchOf(given, lock, 'a'), 4)).toEqual(expected);
  });
});

describe('the purchase that can be decided about', () => {
  const nothing = { text: 'has nothing that was bought', hint: 'run apply first; a plan shows what it costs' };
  const twins = graphOfSteps([song('b', { request: { prompt: 'a' } }), song('a')]);

  test.each<[string, Graph, Lock, { text: string; hint: Advice }]>([
    ['nothing is on record', graph, lockOf({}), nothing],
    ['there is only a failure', graph, lockOf({ a: [job(a, { state: 'failed' })] }), nothing],
    ['it is forgotten', graph, lockOf({ a: [forgotten(saved(a))] }), nothing],
    [
      'it stands under another name',
      graph,
      lockOf({ old: [saved(a)] }),
      {
        text: 'was bought as old, and is still on record there',
        hint: 'run apply first, which moves the purchase for free',
      },
    ],
    [
      'a create was never answered',
      graph,
      lockOf({ a: [create(a, { generation: 2 }), saved(was)] }),
      {
        text: 'has a create whose answer was lost',
        hint: way('run apply, which retries the create; if its answer stays lost', call('resolve', 'a')),
      },
    ],
    [
      'it shares the job of another step',
      twins,
      lockOf({}),
      { text: 'shares the job of b and has none of its own', hint: 'decide about b, or run apply first' },
    ],
  ])('does not exist where %s', (_name, given, lock, said) => {
    expect(findOwn(matchOf(given, lock, 'a'))).toEqual({ is: 'refused', address: 'a', ...said });
    expect(pinStep(matchOf(given, lock, 'a'), 4)).toEqual({ is: 'refused', address: 'a', ...said });
  });

  test('is the one of the present request before an older one', () => {
    const purchases = [saved(was, { generation: 2 }), job(a)];
    expect(findOwn(matchOf(graph, lockOf({ a: purchases }), 'a'))).toMatchObject({ purchase: purchases[1] });
  });

  test('is an older one of its own before a job that is shared', () => {
    const lock = lockOf({ b: [saved(stepOf(twins, 'b'))], a: [saved(was)] });
    expect(findOwn(matchOf(twins, lock, 'a'))).toMatchObject({ purchase: saved(was) });
  });
});
