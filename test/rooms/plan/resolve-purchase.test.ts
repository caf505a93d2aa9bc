import { describe, expect, test } from 'vitest';
import { joinParts, joinRecords, partOf, recordOf } from '../../../src/lock/join.ts';
import type { LockLine, OpenSend, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { isOpenSend } from '../../../src/lock/sends.ts';
import { type Finding, resolvePurchase, ruleOnSend } from '../../../src/plan/decisions/resolve-purchase.ts';
import { nextPurchase } from '../../../src/plan/purchases/key.ts';
import { openSendsOf } from '../../../src/plan/purchases/open-sends.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, job, lockOf, saved, sendIn, song, stepOf } from './facts.ts';

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
      { ...thisCreate, state: 'refused', decided: true, error: 'decided: it was not charged', decisions },
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

describe('the sends that wait for a decision', () => {
  test.each<[string, StepRecord | undefined, Purchase[]]>([
    ['nothing is on record', undefined, []],
    ['everything has an answer', record(saved(a), create(a, { state: 'refused' })), []],
    ['it was written off', record(create(a, { writtenOff: true })), []],
    ['it was never answered', record(saved(a), create(a)), [create(a)]],
    ['it is unresolved', record(saved(a), open), [open]],
    ['there are two: the newest first', record(open, saved(a), create(a)), [open, create(a)]],
    [
      'it is forgotten: nobody knows what it cost',
      record({ ...open, forgotten: true }),
      [{ ...open, forgotten: true }],
    ],
  ])('%s', (_name, one, expected) => {
    expect(openSendsOf(one)).toEqual(expected);
    expect(expected.every(isOpenSend)).toBe(true);
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
  expect(ruling).toMatchObject({ is: 'recorded', text: `its job ${silent.jobId} was charged 9 credits` });
  expect(ruleOnSend('a', { ...given, finding: { is: 'job', jobId: silent.jobId } })).toMatchObject({
    is: 'refused',
    text: `cannot have job ${silent.jobId}, which is on record as what was bought for a`,
  });
});
