import { describe, expect, test } from 'vitest';
import { call, way } from '../../../src/ground/advice.ts';
import { countedPurchases } from '../../../src/lock/decisions.ts';
import { joinRecords } from '../../../src/lock/join.ts';
import type { Decisions, Job, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { forgetRecord } from '../../../src/plan/decisions/forget.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, saved, sendIn, song, stepOf } from './facts.ts';

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
      '1 job of 4 credits; the budget still counts them. To make it again costs 4 credits',
    ],
    [
      'several jobs, and those that were charged nothing known',
      [job(a, { generation: 4, state: 'failed', credits: 1 }), withoutCredits(saved(a, { generation: 3 })), saved(a)],
      { price: null },
      '3 jobs of 5 credits; the budget still counts them. To make it again costs an unknown number of credits',
    ],
    [
      'what the manifest no longer has',
      [job(a, { state: 'lost', credits: 1 })],
      {},
      '1 job of 1 credit; the budget still counts them',
    ],
    ['what was only refused', [refused], { price: 4 }, 'what was refused. To make it again costs 4 credits'],
    ['a running job, by force', [job(a)], { force: true }, '1 job of 4 credits; the budget still counts them'],
    [
      'what is beside a send that was written off',
      [saved(a, { generation: 2 }), create(a, { writtenOff: true })],
      {},
      '1 job of 4 credits; the budget still counts them',
    ],
  ])('%s', (_name, purchases, context, text) => {
    const record = recordOf(purchases);
    expect(forgetRecord(record, { force: false, ...context })).toEqual({
      is: 'recorded',
      address: 'a',
      text,
      records: [{ ...record, purchases: purchases.map((one) => (one.writtenOff ? one : forgotten(one))) }],
    });
  });

  test('only what was bought since it was forgotten last is told', () => {
    const record = recordOf([saved(a, { generation: 2, credits: 7 }), forgotten(saved(a))]);
    expect(forgetRecord(record, { force: false }).text).toBe('1 job of 7 credits; the budget still counts them');
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

  test('an orphan may be pinned; there is nothing that it would hold', () => {
    const record = recordOf([saved(a)], pin(a.fingerprint));
    expect(forgetRecord(record, { force: false, isPinnedByTask: true }).is).toBe('recorded');
  });

  test('a pin of another purchase does not count', () => {
    expect(forgetRecord(recordOf([saved(a)], pin('1:other')), { force: false, price: 4 }).is).toBe('recorded');
  });
});

describe('what is not forgotten', () => {
  const pinned: Ruling = {
    is: 'refused',
    address: 'a',
    text: 'is pinned, and a pinned output is not given up',
    hint: way('remove the pin first', call('pin', 'a', '--undo')),
  };
  const pinnedByTask: Ruling = { ...pinned, hint: 'first remove `pin: true` from its task in the manifest' };
  const open: Ruling = {
    is: 'refused',
    address: 'a',
    text: 'has a create whose answer was lost: nobody knows yet whether it was paid',
    hint: way(
      'run apply, which retries the create, and then forget the step; if the answer stays lost',
      call('resolve', 'a'),
    ),
  };
  const running: Ruling = {
    is: 'refused',
    address: 'a',
    text: 'job a-1 (4 credits) is running: it is paid, and its output is not here yet',
    hint: 'run apply to collect it first; --force gives it up',
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
    [
      'what was written off, and nothing else is there',
      recordOf([create(a, { writtenOff: true })]),
      {},
      { is: 'unchanged', address: 'a', text: 'is forgotten already' },
    ],
    ['a create whose answer was lost', recordOf([saved(a), create(a)]), { force: true }, open],
    [
      'one whose key is not replayed',
      recordOf([create(a, { generation: 2, state: 'unresolved' }), forgotten(saved(a))]),
      { force: true },
      open,
    ],
    ['a job that runs', recordOf([refused, job(a)]), {}, running],
  ])('%s', (_name, record, context, ruling) => {
    expect(forgetRecord(record, { force: false, ...context })).toEqual(ruling);
  });
});

function withoutCredits({ credits: _credits, ...purchase }: Job): Job {
  return { ...purchase, jobId: 'silent' };
}
