import { describe, expect, test } from 'vitest';
import type { Graph, Step } from '../../../src/graph/graph.ts';
import { type Advice, call, way } from '../../../src/ground/advice.ts';
import { joinParts, joinRecords, partOf, recordOf } from '../../../src/lock/join.ts';
import type { Lock, LockLine, OpenSend, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { type Finding, importJob, resolvePurchase, ruleOnSend } from '../../../src/plan/decisions/resolve-purchase.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import {
  costOfRetries,
  idempotencyKey,
  nextPurchase,
  retriesAfter,
  retriesLeft,
} from '../../../src/plan/purchases/key.ts';
import { type RetryRefusal, whyNotAgain } from '../../../src/plan/purchases/next.ts';
import { openSendsOf } from '../../../src/plan/purchases/open-sends.ts';
import type { Match } from '../../../src/plan/situation/find-purchases.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, job, lockOf, matchOf, saved, sendIn, song, stepOf } from './facts.ts';

type Retry = NonNullable<Step['rules']>['retry'];

describe('retry', () => {
  const plain = stepOf(graphOfSteps([song('a')]), 'a');

  /** Failed jobs, newest first, and what each was charged. */
  const failures = (...credits: number[]) =>
    credits.map((charged, index) =>
      job(plain, { state: 'failed', generation: credits.length - index, credits: charged, error: 'no' }),
    );

  function matchOf(retry: Retry, purchases: Purchase[]): Match {
    const step = retry === undefined ? plain : { ...plain, rules: { retry } };
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

    test.each<[string, Retry, Purchase[], RetryRefusal | 'again']>([
      ['nobody asked for it', undefined, failures(4), 'not-asked'],
      ['it was the first of two', { attempts: 2 }, failures(4), 'again'],
      ['it was the second of two', { attempts: 2 }, failures(4, 4), 'attempts'],
      ['it was the third of two', { attempts: 2 }, failures(4, 4, 4), 'attempts'],
      ['it was refused as it is', { attempts: 9 }, [job(plain, { state: 'failed', error: 'Moderated' })], 'prompt'],
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
      ['its credits are not enough', { attempts: 9, credits: 3 }, failures(4), 'credits'],
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
  });

  describe('what may follow a purchase of this run', () => {
    const created = (nth: number) => ({ generation: nth, repeat: nth, jobIsKnown: false });
    const known = (nth: number) => ({ ...created(nth), jobIsKnown: true });
    const more = (left: number, credits: number | null, nth: number) => ({
      left,
      credits,
      generation: nth,
      repeat: nth,
    });

    test.each<[string, Retry, Purchase[], Parameters<typeof retriesAfter>[1], ReturnType<typeof retriesAfter>]>([
      ['nothing, if nobody asked for it', undefined, [], created(1), undefined],
      ['nothing, after the last attempt', { attempts: 1 }, [], created(1), undefined],
      ['one, of two', { attempts: 2 }, [], created(1), more(1, null, 2)],
      ['one, of three after a failure', { attempts: 3, credits: 9 }, failures(4), created(2), more(1, 9, 3)],
      ['one, of two, when the known job counts already', { attempts: 2 }, failures(4), known(1), more(1, null, 2)],
      ['nothing, when the known job is the last one', { attempts: 2 }, failures(4, 4), known(2), undefined],
      ['what is left of the credits', { attempts: 9, credits: 9 }, failures(2, 3, 4), known(3), more(6, 4, 4)],
      ['never less than no credits', { attempts: 9, credits: 4 }, failures(2, 3, 4), known(3), more(6, 0, 4)],
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
});

const a = stepOf(graphOfSteps([song('a')]), 'a');
const open = create(a, {
  state: 'unresolved',
  generation: 2,
  attempt: 3,
  take: 2,
  account: 'acc',
  since: '2030-01-01T00:00:00.000Z',
  fence: 'job-9',
  resent: true,
});
const id = sendIn(a, { generation: 2, attempt: 3 });
const record = (...purchases: Purchase[]): StepRecord => ({ address: 'a', kind: 'music', purchases });

describe('what a person has found out about a lost answer', () => {
  const thisCreate = {
    address: 'a',
    kind: 'music',
    fingerprint: a.fingerprint,
    request: a.paidRequest,
    take: 2,
    generation: 2,
    attempt: 3,
    key: open.key,
  };
  const decisions = { sends: [id] };

  test.each<[string, Finding, LockLine]>([
    ['its job', { is: 'job', jobId: 'job-1' }, { ...thisCreate, state: 'running', jobId: 'job-1', decisions }],
    [
      'its job and its charge',
      { is: 'job', jobId: 'job-1', credits: 5 },
      { ...thisCreate, state: 'running', jobId: 'job-1', credits: 5, decisions },
    ],
    [
      'its job and where that stands',
      { is: 'job', jobId: 'job-1', recordId: 'rec-1' },
      { ...thisCreate, state: 'running', jobId: 'job-1', recordId: 'rec-1', decisions },
    ],
    [
      'that it was not charged',
      { is: 'not-spent' },
      {
        ...thisCreate,
        state: 'refused',
        decided: true,
        error: 'decided: the create request was not charged',
        decisions,
      },
    ],
    [
      'nothing, and it is to be bought: it stays on record as it is',
      { is: 'spend-again' },
      { ...open, ...thisCreate, writtenOff: true },
    ],
  ])('%s', (_name, finding, line) => {
    const around = record(job(earlier(a), { generation: 3 }), open, job(a, { state: 'failed' }));
    expect(resolvePurchase(around, open, finding)).toStrictEqual(line);
  });

  test('is of the kind that the send is, whatever the record has become', () => {
    const sent: OpenSend = { ...open, kind: 'video' };
    expect(resolvePurchase(record(saved(earlier(a), { generation: 9 }), sent), sent, { is: 'not-spent' }).kind).toBe(
      'video',
    );
    const joined = joinParts('a', [
      record(saved(earlier(a), { generation: 9 }), sent),
      partOf(resolvePurchase(record(sent), sent, { is: 'spend-again' })),
    ]);
    expect(joined.kind).toBe('music');
    expect(joined.purchases[1]).toMatchObject({ send: id, kind: 'video', writtenOff: true });
  });
});

describe('once it is recorded', () => {
  const other = create(a, { send: 'other', generation: 2, attempt: 3, state: 'unresolved' });
  const before = record(open, other, job(earlier(a), { state: 'failed' }));
  const decide = (finding: Finding) => joinRecords(before, recordOf(resolvePurchase(before, open, finding)));
  const findings: Finding[] = [{ is: 'job', jobId: 'job-1', credits: 5 }, { is: 'not-spent' }, { is: 'spend-again' }];

  test.each(findings)('$is: that send waits for nobody any more, and every other one still does', (finding) => {
    expect(openSendsOf(decide(finding)).map(({ send }) => send)).toEqual(['other']);
  });

  test.each(findings)('$is: it stays so when a branch comes back that has it open', (finding) => {
    const both = [joinRecords(decide(finding), before), joinRecords(before, decide(finding))];
    for (const joined of both) expect(openSendsOf(joined).map(({ send }) => send)).toEqual(['other']);
  });

  test.each(findings)('$is: what is bought next is another purchase, unless nothing was', (finding) => {
    const alone = record(open);
    const { purchases } = joinRecords(alone, recordOf(resolvePurchase(alone, open, finding)));
    const isNothing = finding.is === 'not-spent';
    expect(nextPurchase(purchases, a.fingerprint)).toEqual(
      isNothing ? { generation: 1, repeat: 1 } : { generation: 3, repeat: 2 },
    );
  });
});

describe('a job whose charge the service does not state, or lists as 0', () => {
  const { credits: _, ...uncharged } = job(a);
  const rule = (given: Purchase, finding?: Finding) =>
    ruleOnSend('a', {
      ...{ lock: lockOf({ a: [given] }), finding, send: undefined },
      canBeAskedFor: () => true,
    });
  const { jobId } = uncharged;

  test.each([0, 7])('is settled at %i credits', (credits) => {
    const ruling = rule(uncharged, { is: 'job', jobId, credits });
    expect(ruling).toMatchObject({ is: 'recorded', records: [{ purchases: [{ jobId, credits }] }] });
  });

  test('says so until its charge is given, and a known one is never overwritten', () => {
    for (const finding of [undefined, { is: 'not-spent' }, { is: 'job', jobId: 'other', credits: 1 }] as const) {
      expect(JSON.stringify(rule(uncharged, finding))).toMatch(new RegExp(`"is":"refused".*${jobId}.*--credits`));
    }
    const known = { ...uncharged, credits: 5 };
    expect(rule(known, { is: 'job', jobId, credits: 1 })).toMatchObject({ is: 'refused' });
  });
});

test('the job of an earlier purchase gets its charge, and closes no open create', () => {
  const { credits: _credits, ...silent } = job(a);
  const lock = lockOf({ a: [open, silent] });
  const given = { lock, send: undefined, canBeAskedFor: () => false };
  const ruling = ruleOnSend('a', { ...given, finding: { is: 'job', jobId: silent.jobId, credits: 9 } });
  expect(ruling).toMatchObject({ is: 'recorded', text: `job ${silent.jobId} was charged 9 credits` });
  expect(ruleOnSend('a', { ...given, finding: { is: 'job', jobId: silent.jobId } })).toMatchObject({
    is: 'refused',
    text: `cannot adopt job ${silent.jobId}, which is recorded as the purchase of a`,
  });
});

describe('import job', () => {
  const graph = graphOfSteps([song('a')]);
  const a = stepOf(graph, 'a');
  const twins = graphOfSteps([song('b', { request: { prompt: 'a' } }), song('a')]);

  function imported(given: Graph, lock: Lock, found: Parameters<typeof importJob>[1]): Ruling {
    return importJob(matchOf(given, lock, 'a'), found, { campaign: 'spring', lock });
  }

  const unknown = 'charge unknown: record it with `resolve` and --credits N';
  const told = (charge: string) => `job job-7 (${charge}); the next apply collects the job`;
  const purchase: Purchase = {
    fingerprint: a.fingerprint,
    generation: 1,
    attempt: 1,
    state: 'running',
    key: idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat: 1, attempt: 1 }),
    jobId: 'job-7',
    request: a.paidRequest,
  };
  const keyOf = (repeat: number) =>
    idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat, attempt: 1 });
  const recorded = (text: string, one: Purchase): Ruling => ({
    is: 'recorded',
    address: 'a',
    text,
    records: [{ address: 'a', kind: 'music', purchases: [one] }],
  });

  describe('a job that was paid for elsewhere', () => {
    test('becomes the purchase of a step that has none', () => {
      expect(imported(graph, lockOf({}), { jobId: 'job-7' })).toStrictEqual(recorded(told(unknown), purchase));
    });

    test('comes after what was bought before', () => {
      const lock = lockOf({ a: [job(a, { generation: 2, state: 'failed' }), saved(earlier(a))] });
      expect(imported(graph, lock, { jobId: 'job-7', credits: 3 })).toStrictEqual(
        recorded(told('3 credits'), { ...purchase, generation: 3, key: keyOf(2), credits: 3 }),
      );
    });

    test.each([
      [{}, unknown],
      [{ credits: 3 }, '3 credits'],
      [{ credits: 3, recordId: 'rec-1' }, '3 credits'],
    ])('is the answer to a create request that was never answered (%j)', (charge, said) => {
      const open = create(a, { generation: 2, attempt: 3, since: '2030-01-01T00:00:00.000Z' });
      const lock = lockOf({ a: [open, job(earlier(a), { state: 'failed' })] });
      const answered: Purchase = { ...purchase, generation: 2, attempt: 3, key: open.key, ...charge };
      const decisions = { sends: [sendIn(a, { generation: 2, attempt: 3 })] };
      expect(imported(graph, lock, { jobId: 'job-7', ...charge })).toEqual({
        is: 'recorded',
        address: 'a',
        text: told(said),
        records: [{ address: 'a', kind: 'music', purchases: [answered], decisions }],
      });
    });

    test('is not taken for the answer to one of several creates: a person says to which', () => {
      const lock = lockOf({ a: [create(a, { generation: 2, send: 's2' }), create(a, { send: 's1' })] });
      expect(imported(graph, lock, { jobId: 'job-7' })).toEqual({
        is: 'refused',
        address: 'a',
        text: 'has several create requests whose answers were lost, and the job belongs to only one request',
        hint: [
          way('name the create request, as in', call('resolve', 'a', '--job', 'job-7', '--send', 's2')),
          'or --send s1',
        ],
      });
    });

    test('is no answer to a create request that was written off', () => {
      const lock = lockOf({ a: [create(a, { writtenOff: true })] });
      expect(imported(graph, lock, { jobId: 'job-7' })).toStrictEqual(
        recorded(told(unknown), { ...purchase, generation: 2, key: keyOf(2) }),
      );
    });

    test('is the first purchase of a step that was only refused before', () => {
      const lock = lockOf({ a: [create(a, { state: 'refused', attempt: 2 })] });
      expect(imported(graph, lock, { jobId: 'job-7' })).toStrictEqual(recorded(told(unknown), purchase));
    });
  });

  describe('a job is not imported', () => {
    const room = way('to forget the job of this step (its id stays on record)', call('forget', 'a'));
    const holding = (decisions: Parameters<typeof deciding>[2]) =>
      deciding(lockOf({ a: [saved(earlier(a))] }), 'a', decisions);
    const heldBack = ['is pinned or accepted as it is', 'remove the pin first, or keep the step as it is'] as const;

    const pin = { fingerprint: earlier(a).fingerprint, revision: 1 };
    const accepted = [{ wanted: a.fingerprint, ...pin }];

    test.each<[string, Lock, string, Advice, Graph?]>([
      [
        'that another address has',
        lockOf({ b: [saved(earlier(a), { jobId: 'job-7' })] }),
        'cannot adopt job job-7: the job is recorded as the purchase of b',
        way('to move the job', call('move', 'b', 'a')),
      ],
      ['to a step that is pinned to another input', holding({ pin }), ...heldBack],
      ['to a step whose output was accepted', holding({ accepted }), ...heldBack],
      ['to a step that is done', lockOf({ a: [saved(a)] }), 'has job a-1 already', room],
      ['to a step whose job runs', lockOf({ a: [job(a)] }), 'has job a-1 already', room],
      [
        'to a step that was bought under another name',
        lockOf({ old: [saved(a)] }),
        'has job a-1 already (bought as old)',
        room,
      ],
      [
        'to a step that shares a job',
        lockOf({}),
        'shares the job of b',
        way('adopt the job for that address', call('adopt', 'b', '--job', 'job-7')),
        twins,
      ],
    ])('%s', (_name, lock, text, hint, given = graph) => {
      expect(imported(given, lock, { jobId: 'job-7' })).toEqual({ is: 'refused', address: 'a', text, hint });
    });
  });
});
