import { describe, expect, test } from 'vitest';
import type { Step } from '../../../src/graph/graph.ts';
import type { Purchase } from '../../../src/lock/record.ts';
import { costOfRetries, findRetry, type RetryAnswer, retriesAfter } from '../../../src/plan/purchases/retry.ts';
import type { Match } from '../../../src/plan/situation/find-purchases.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, job, song, stepOf } from './facts.ts';

const plain = stepOf(graphOfSteps([song('a')]), 'a');

/** Failed jobs, newest first, and what each was charged. */
const failures = (...credits: number[]) =>
  credits.map((charged, index) =>
    job(plain, { state: 'failed', generation: credits.length - index, credits: charged, error: 'no' }),
  );

function matchOf(retry: Step['retry'], purchases: Purchase[]): Match {
  const step = retry === undefined ? plain : { ...plain, retry };
  const [purchase] = purchases;
  if (purchase === undefined) return { step };
  return { step, record: { address: 'a', kind: 'music', purchases }, purchase };
}

describe('whether a failed job is bought again', () => {
  const hopeless = 'the prompt was refused, and `retry` does not buy the same one again';
  const madeAll = 'all 2 attempts of `retry` were made';
  const noCredits = (credits: number) => `the ${credits} credits of \`retry\` do not reach for another`;
  const other = earlier(plain);

  test.each<[string, Step['retry'], Purchase[], RetryAnswer]>([
    ['nobody asked for it', undefined, failures(4), { is: 'none' }],
    ['it was the first of two', { attempts: 2 }, failures(4), { is: 'again', made: 1, attempts: 2 }],
    ['it was the second of two', { attempts: 2 }, failures(4, 4), { is: 'used-up', why: madeAll }],
    ['it was the third of two', { attempts: 2 }, failures(4, 4, 4), { is: 'used-up', why: madeAll }],
    [
      'it was refused for what it shows',
      { attempts: 9 },
      [job(plain, { state: 'failed', error: 'Moderated' })],
      { is: 'used-up', why: hopeless },
    ],
    [
      'nothing is known of the error',
      { attempts: 2 },
      [job(plain, { state: 'failed' })],
      { is: 'again', made: 1, attempts: 2 },
    ],
    [
      'what was bought for another request does not count',
      { attempts: 2, credits: 4 },
      [...failures(4), job(other, { state: 'failed', generation: 0 })],
      { is: 'again', made: 1, attempts: 2 },
    ],
    [
      'what has no job does not count',
      { attempts: 2, credits: 4 },
      [...failures(4), create(plain, { state: 'refused', generation: 0 })],
      { is: 'again', made: 1, attempts: 2 },
    ],
    ['its credits reach for one more', { attempts: 9, credits: 4 }, failures(4), { is: 'again', made: 1, attempts: 9 }],
    ['its credits do not reach', { attempts: 9, credits: 3 }, failures(4), { is: 'used-up', why: noCredits(3) }],
    [
      'the first one is not paid by them',
      { attempts: 9, credits: 8 },
      failures(4, 100),
      { is: 'again', made: 2, attempts: 9 },
    ],
    ['the second one is', { attempts: 9, credits: 8 }, failures(4, 5, 1), { is: 'used-up', why: noCredits(8) }],
    [
      'a charge that nobody knows counts as one credit at least',
      { attempts: 9, credits: 0 },
      failures(0),
      { is: 'used-up', why: noCredits(0) },
    ],
    ['one credit reaches for that', { attempts: 9, credits: 1 }, failures(0), { is: 'again', made: 1, attempts: 9 }],
  ])('%s', (_name, retry, purchases, answer) => {
    expect(findRetry(matchOf(retry, purchases))).toEqual(answer);
  });

  test('the first purchase is the one of the lowest generation, wherever it stands', () => {
    expect(findRetry(matchOf({ attempts: 9, credits: 8 }, failures(4, 100).reverse()))).toMatchObject({
      is: 'used-up',
    });
    const [second, first] = failures(4, 7);
    if (first === undefined || second === undefined) throw new Error('there are two');
    const { credits: _credits, ...unknown } = second;
    expect(findRetry(matchOf({ attempts: 9, credits: 1 }, [unknown, first]))).toMatchObject({ is: 'again' });
  });
});

describe('what may follow a purchase of this run', () => {
  const created = { generation: 1, repeat: 1, jobIsKnown: false };

  test.each<[string, Step['retry'], Purchase[], Parameters<typeof retriesAfter>[1], ReturnType<typeof retriesAfter>]>([
    ['nothing, if nobody asked for it', undefined, [], created, undefined],
    ['nothing, after the last attempt', { attempts: 1 }, [], created, undefined],
    ['one, of two', { attempts: 2 }, [], created, { left: 1, credits: null, generation: 2, repeat: 2 }],
    [
      'one, of three after a failure',
      { attempts: 3, credits: 9 },
      failures(4),
      { generation: 2, repeat: 2, jobIsKnown: false },
      { left: 1, credits: 9, generation: 3, repeat: 3 },
    ],
    [
      'one, of two, when the job is known and so counted already',
      { attempts: 2 },
      failures(4),
      { generation: 1, repeat: 1, jobIsKnown: true },
      { left: 1, credits: null, generation: 2, repeat: 2 },
    ],
    [
      'nothing, when the job that is known is the last one',
      { attempts: 2 },
      failures(4, 4),
      { generation: 2, repeat: 2, jobIsKnown: true },
      undefined,
    ],
    [
      'what is left of the credits',
      { attempts: 9, credits: 9 },
      failures(2, 3, 4),
      { generation: 3, repeat: 3, jobIsKnown: true },
      { left: 6, credits: 4, generation: 4, repeat: 4 },
    ],
    [
      'never less than no credits',
      { attempts: 9, credits: 4 },
      failures(2, 3, 4),
      { generation: 3, repeat: 3, jobIsKnown: true },
      { left: 6, credits: 0, generation: 4, repeat: 4 },
    ],
    [
      'the one after all that are on record, when an old create is sent again',
      { attempts: 9 },
      [
        job(earlier(plain), { generation: 6 }),
        create(plain, { generation: 5 }),
        create(plain, { generation: 3, state: 'unresolved' }),
      ],
      { generation: 3, repeat: 1, jobIsKnown: false },
      { left: 8, credits: null, generation: 7, repeat: 3 },
    ],
  ])('%s', (_name, retry, purchases, bought, expected) => {
    expect(retriesAfter(matchOf(retry, purchases), bought)).toEqual(expected);
  });
});

describe('what retries may cost', () => {
  const retries = { left: 3, generation: 2, repeat: 2 };

  test.each([
    ['all of them', null, 4, 12],
    ['no more than their credits', 10, 4, 10],
    ['less than their credits', 99, 4, 12],
    ['their credits, where the price is unknown', 10, null, 10],
    ['nobody knows', null, null, null],
  ])('%s', (_name, cap, credits, expected) => {
    expect(costOfRetries({ ...retries, credits: cap }, { credits })).toBe(expected);
  });
});
