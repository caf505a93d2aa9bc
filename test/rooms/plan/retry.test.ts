import { describe, expect, test } from 'vitest';
import type { Step } from '../../../src/graph/graph.ts';
import type { Purchase } from '../../../src/lock/record.ts';
import { type RetryRefusal, whyNotAgain } from '../../../src/plan/purchases/next.ts';
import { costOfRetries, retriesAfter, retriesLeft } from '../../../src/plan/purchases/retry.ts';
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
  const other = earlier(plain);
  const answerTo = (match: Match, price: number | null = null) => {
    const { error, credits: charged } = match.purchase ?? {};
    return whyNotAgain(retriesLeft(match), { error, charged, price }) ?? 'again';
  };

  test.each<[string, Step['retry'], Purchase[], RetryRefusal | 'again']>([
    ['nobody asked for it', undefined, failures(4), 'not-asked'],
    ['it was the first of two', { attempts: 2 }, failures(4), 'again'],
    ['it was the second of two', { attempts: 2 }, failures(4, 4), 'attempts'],
    ['it was the third of two', { attempts: 2 }, failures(4, 4, 4), 'attempts'],
    [
      'it was refused for what it shows',
      { attempts: 9 },
      [job(plain, { state: 'failed', error: 'Moderated' })],
      'prompt',
    ],
    ['nothing is known of the error', { attempts: 2 }, [job(plain, { state: 'failed' })], 'again'],
    [
      'what was bought for another request does not count',
      { attempts: 2, credits: 4 },
      [...failures(4), job(other, { state: 'failed', generation: 0 })],
      'again',
    ],
    [
      'what has no job does not count',
      { attempts: 2, credits: 4 },
      [...failures(4), create(plain, { state: 'refused', generation: 0 })],
      'again',
    ],
    ['its credits reach for one more', { attempts: 9, credits: 4 }, failures(4), 'again'],
    ['its credits do not reach', { attempts: 9, credits: 3 }, failures(4), 'credits'],
    ['the first one is not paid by them', { attempts: 9, credits: 8 }, failures(4, 100), 'again'],
    ['the second one is', { attempts: 9, credits: 8 }, failures(4, 5, 1), 'credits'],
    ['a charge that nobody knows counts as one credit at least', { attempts: 9, credits: 0 }, failures(0), 'credits'],
    ['one credit reaches for that', { attempts: 9, credits: 1 }, failures(0), 'again'],
  ])('%s', (_name, retry, purchases, answer) => {
    expect(answerTo(matchOf(retry, purchases))).toBe(answer);
  });

  test('the first purchase is the one of the lowest generation, wherever it stands', () => {
    expect(answerTo(matchOf({ attempts: 9, credits: 8 }, failures(4, 100).reverse()))).toBe('credits');
    const [second, first] = failures(4, 7);
    if (first === undefined || second === undefined) throw new Error('there are two');
    const { credits: _credits, ...unknown } = second;
    expect(answerTo(matchOf({ attempts: 9, credits: 1 }, [unknown, first]))).toBe('again');
  });

  test('another costs at least its price, even if the failed one was not charged', () => {
    const match = matchOf({ attempts: 9, credits: 3 }, failures(0));
    expect([3, 4].map((price) => answerTo(match, price))).toEqual(['again', 'credits']);
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
