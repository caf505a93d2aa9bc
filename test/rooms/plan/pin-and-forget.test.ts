import { describe, expect, test } from 'vitest';
import type { Graph, Step } from '../../../src/graph/graph.ts';
import { type Advice, call, way } from '../../../src/ground/advice.ts';
import { countedPurchases } from '../../../src/lock/decisions.ts';
import { joinRecords } from '../../../src/lock/join.ts';
import type { Decisions, Job, Lock, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { forgetRecord } from '../../../src/plan/decisions/forget.ts';
import { findOwn, pinStep, unpinStep } from '../../../src/plan/decisions/pin.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, forgotten, job, lockOf, matchOf, saved, sendIn, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const was = earlier(a);
const byManifest: Graph = { ...graph, steps: [{ ...a, rules: { pin: true } }] };

const record = (purchases: Purchase[], decisions: Decisions) => ({ address: 'a', kind: 'music', purchases, decisions });
const pinned = (purchases: Purchase[], fingerprint: string, revision = 1): Lock =>
  deciding(lockOf({ a: purchases }), 'a', { pin: { fingerprint, revision } });
const ruling = (said: object): Ruling => ({ is: 'recorded', address: 'a', text: '', records: [], ...said });

describe('a pin', () => {
  const cost = 'its input changed, and a redo would cost';

  test.each<[string, Purchase[], number | null, string, Step]>([
    ['what is done', [saved(a)], 4, 'keeps job a-1 (4 credits)', a],
    ['what runs', [job(a, { credits: 1 })], 4, 'keeps job a-1 (1 credit)', a],
    ['what was bought for another input', [saved(was)], 4, `keeps job a-1 (4 credits); ${cost} 4 credits`, was],
    [
      'what was bought before a failure',
      [job(a, { state: 'failed', generation: 2 }), saved(was)],
      null,
      `keeps job a-1 (4 credits); ${cost} an unknown number of credits`,
      was,
    ],
  ])('keeps %s', (_name, purchases, price, text, { fingerprint }) => {
    expect(pinStep(matchOf(graph, lockOf({ a: purchases }), 'a'), price)).toEqual(
      ruling({ text, records: [record(purchases, { pin: { fingerprint, revision: 1 } })] }),
    );
  });

  test('keeps what was pinned once before', () => {
    const taken = deciding(lockOf({ a: [saved(a)] }), 'a', { pin: { revision: 4 } });
    const pin = { fingerprint: a.fingerprint, revision: 5 };
    expect(pinStep(matchOf(graph, taken, 'a'), 4)).toEqual(
      ruling({ text: 'keeps job a-1 (4 credits)', records: [record([saved(a)], { pin })] }),
    );
  });

  test('keeps what was accepted for the input of now, and says what is held back', () => {
    const lock = deciding(lockOf({ a: [saved(was)] }), 'a', {
      accepted: [{ wanted: a.fingerprint, fingerprint: was.fingerprint, revision: 1 }],
    });
    expect(pinStep(matchOf(graph, lock, 'a'), 4).text).toBe(`keeps job a-1 (4 credits); ${cost} 4 credits`);
  });
});

describe('a pin is taken off', () => {
  const again = 'its pin in the lock is removed';

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
      `${again}; \`pin: true\` of task \`a\` still pins the step`,
    ],
  ])('%s', (_name, given, lock, price, text) => {
    const purchases = lock.steps.get('a')?.purchases ?? [];
    expect(unpinStep(matchOf(given, lock, 'a'), price)).toEqual(
      ruling({ text, records: [record(purchases, { pin: { revision: 4 } })] }),
    );
  });

  test.each<[string, Graph, Lock, Ruling]>([
    ['nothing is on record', graph, lockOf({}), { is: 'unchanged', address: 'a', text: 'is not pinned' }],
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
  const nothing = { text: 'has no purchase', hint: 'run apply first; a plan shows the cost' };
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
        text: 'was bought as old',
        hint: 'run apply first, which moves the purchase for free',
      },
    ],
    [
      'a create was never answered',
      graph,
      lockOf({ a: [create(a, { generation: 2 }), saved(was)] }),
      {
        text: 'has a create request whose answer was lost',
        hint: way('run apply, which sends the create request again; if the answer stays lost', call('resolve', 'a')),
      },
    ],
    [
      'it shares the job of another step',
      twins,
      lockOf({}),
      { text: 'shares the job of b', hint: 'name b instead, or run apply first' },
    ],
  ])('does not exist where %s', (_name, given, lock, said) => {
    expect(findOwn(matchOf(given, lock, 'a'))).toEqual({ is: 'refused', address: 'a', ...said });
    expect(pinStep(matchOf(given, lock, 'a'), 4)).toEqual({ is: 'refused', address: 'a', ...said });
  });
});

describe('forget', () => {
  type Context = Parameters<typeof forgetRecord>[1];

  const a = stepOf(graphOfSteps([song('a')]), 'a');
  const recordOf = (purchases: Purchase[], decisions?: Decisions): StepRecord => ({
    address: 'a',
    kind: 'music',
    purchases,
    ...(decisions !== undefined && { decisions }),
  });
  const pin = (fingerprint: string): Decisions => ({ pin: { fingerprint, revision: 1 } });
  const refused = create(a, { state: 'refused' });

  describe('what was bought for an address is forgotten', () => {
    test.each<[string, Purchase[], Partial<Context>, string]>([
      [
        'one job',
        [saved(a)],
        { price: 4 },
        '1 job of 4 credits; the budget still counts them. A redo of this step costs 4 credits',
      ],
      [
        'several jobs, and those that were charged nothing known',
        [job(a, { generation: 4, state: 'failed', credits: 1 }), withoutCredits(saved(a, { generation: 3 })), saved(a)],
        { price: null },
        '3 jobs of 5 credits; the budget still counts them. A redo of this step costs an unknown number of credits',
      ],
      [
        'what the manifest no longer has',
        [job(a, { state: 'lost', credits: 1 })],
        {},
        '1 job of 1 credit; the budget still counts them',
      ],
      [
        'what was only refused',
        [refused],
        { price: 4 },
        'a refused create request. A redo of this step costs 4 credits',
      ],
      ['a running job, by force', [job(a)], { force: true }, '1 job of 4 credits; the budget still counts them'],
    ])('%s', (_name, purchases, context, text) => {
      const record = recordOf(purchases);
      expect(forgetRecord(record, { force: false, ...context })).toEqual({
        is: 'recorded',
        address: 'a',
        text,
        records: [{ ...record, purchases: purchases.map((one) => (one.writtenOff ? one : forgotten(one))) }],
      });
    });

    test('and what another branch has bought meanwhile is not forgotten with it', () => {
      const ours = recordOf([refused]);
      const ruling = forgetRecord(ours, { force: false, price: 4 });
      if (ruling.is !== 'recorded') throw new Error(ruling.text);
      const theirs = recordOf([saved(a), create(a)]);
      for (const both of [
        ruling.records.reduce(joinRecords, theirs),
        [theirs].reduce(joinRecords, ruling.records[0] ?? ours),
      ]) {
        expect(countedPurchases(both)).toMatchObject([{ jobId: 'a-1' }, { send: sendIn(a) }]);
      }
    });
  });

  describe('what is not forgotten', () => {
    const pinned: Ruling = {
      is: 'refused',
      address: 'a',
      text: 'is pinned',
      hint: way('remove the pin first', call('pin', 'a', '--undo')),
    };
    const pinnedByTask: Ruling = { ...pinned, hint: 'remove `pin: true` from its task first' };
    const open: Ruling = {
      is: 'refused',
      address: 'a',
      text: 'has a create request whose answer was lost',
      hint: way('run apply, which sends the create request again; if the answer stays lost', call('resolve', 'a')),
    };
    const running: Ruling = {
      is: 'refused',
      address: 'a',
      text: 'has job a-1 (4 credits), which is running',
      hint: 'run apply first, or give up the job with --force',
    };

    test.each<[string, StepRecord, Partial<Context>, Ruling]>([
      [
        'what is forgotten',
        recordOf([forgotten(saved(a))]),
        { price: 4 },
        { is: 'unchanged', address: 'a', text: 'is forgotten already' },
      ],
      ['what the manifest pins', recordOf([saved(a)]), { price: 4, isPinnedByTask: true }, pinnedByTask],
      [
        'what the lock pins, old as it may be',
        recordOf([saved(a, { generation: 2 }), saved(earlier(a))], pin(earlier(a).fingerprint)),
        { price: null, force: true },
        pinned,
      ],
      ['a create request whose answer was lost', recordOf([saved(a), create(a)]), { force: true }, open],
      ['a job that runs', recordOf([refused, job(a)]), {}, running],
    ])('%s', (_name, record, context, ruling) => {
      expect(forgetRecord(record, { force: false, ...context })).toEqual(ruling);
    });
  });

  function withoutCredits({ credits: _credits, ...purchase }: Job): Job {
    return { ...purchase, jobId: 'silent' };
  }
});
