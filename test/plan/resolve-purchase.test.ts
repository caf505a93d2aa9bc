import { describe, expect, test } from 'vitest';
import type { LockLine, Purchase, StepRecord } from '../../src/lock/record.ts';
import { idempotencyKey } from '../../src/plan/key.ts';
import { type Finding, findOpenPurchase, resolvePurchase } from '../../src/plan/resolve-purchase.ts';
import { graphOfSteps } from '../rig/steps.ts';
import { create, earlier, job, saved, song, stepOf } from './facts.ts';

const a = stepOf(graphOfSteps([song('a')]), 'a');
const open = create(a, {
  state: 'unresolved',
  generation: 2,
  attempt: 3,
  take: 2,
  since: '2030-01-01T00:00:00.000Z',
  fence: 'job-9',
});
const recordOf = (...purchases: Purchase[]): StepRecord => ({ address: 'a', kind: 'music', purchases });

describe('what a person has found out about a lost answer', () => {
  const same = {
    address: 'a',
    kind: 'music',
    fingerprint: a.fingerprint,
    request: a.paidRequest,
    take: 2,
  };
  const thisCreate = { ...same, generation: 2, attempt: 3, key: open.key };

  test.each<[string, Finding, LockLine]>([
    ['its job', { is: 'job', jobId: 'job-1' }, { ...thisCreate, state: 'running', jobId: 'job-1' }],
    [
      'its job and its charge',
      { is: 'job', jobId: 'job-1', credits: 5 },
      { ...thisCreate, state: 'running', jobId: 'job-1', credits: 5 },
    ],
    [
      'that it was not charged',
      { is: 'not-spent' },
      { ...thisCreate, state: 'refused', error: 'decided: it was not charged' },
    ],
    [
      'nothing, and it is to be bought: under the next key',
      { is: 'spend-again' },
      {
        ...same,
        generation: 4,
        attempt: 1,
        key: idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat: 3, attempt: 1 }),
        state: 'refused',
        error: 'decided: buy it again',
      },
    ],
  ])('%s', (_name, finding, line) => {
    const record = recordOf(job(earlier(a), { generation: 3 }), open, job(a, { state: 'failed' }));
    expect(resolvePurchase(record, open, { campaign: 'spring', finding })).toStrictEqual(line);
  });

  test('leaves out what the lock does not have', () => {
    const { request: _request, take: _take, ...bare } = open;
    const line = resolvePurchase(recordOf(bare), bare, { campaign: 'spring', finding: { is: 'not-spent' } });
    const { request: _asked, take: _taken, ...kept } = thisCreate;
    expect(line).toStrictEqual({ ...kept, state: 'refused', error: 'decided: it was not charged' });
  });
});

describe('the create whose outcome nobody knows', () => {
  test.each<[string, StepRecord | undefined, Purchase | undefined]>([
    ['nothing is on record', undefined, undefined],
    ['everything has an answer', recordOf(saved(a), create(a, { state: 'refused' })), undefined],
    ['it was never answered', recordOf(saved(a), create(a)), create(a)],
    ['it is unresolved', recordOf(saved(a), open), open],
    ['there are two: the newest', recordOf(open, create(a)), open],
  ])('%s', (_name, record, expected) => {
    expect(findOpenPurchase(record)).toEqual(expected);
  });
});
