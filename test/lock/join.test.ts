import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinLocks, joinRecords, lineOf, recordOf } from '../../src/lock/join.ts';
import { readLock } from '../../src/lock/read.ts';
import type { Decisions, Lock, Purchase, PurchaseState, StepRecord } from '../../src/lock/record.ts';
import { emptyLock, writeLock } from '../../src/lock/write.ts';
import { explainedRecords, jobIds, rawRecord, rawRecords } from './records.ts';

const one = rawRecord(fc.constant('hero'));
const runs = { numRuns: 1500 };

function lockOf(records: StepRecord[]): Lock {
  return records.reduce(
    (lock, record) => joinLocks(lock, { version: 1, steps: new Map([[record.address, record]]) }),
    emptyLock(),
  );
}

function reread(lock: Lock): Lock {
  const reading = readLock('lock', Buffer.from(writeLock(lock)));
  expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return reading.lock;
}

describe('the join of two records', () => {
  it('does not depend on the order', () => {
    fc.assert(
      fc.property(one, one, (a, b) => {
        expect(joinRecords(a, b)).toEqual(joinRecords(b, a));
      }),
      runs,
    );
  });

  it('does not depend on the grouping', () => {
    fc.assert(
      fc.property(one, one, one, (a, b, c) => {
        expect(joinRecords(joinRecords(a, b), c)).toEqual(joinRecords(a, joinRecords(b, c)));
      }),
      runs,
    );
  });

  it('changes nothing the second time', () => {
    fc.assert(
      fc.property(one, one, (a, b) => {
        const joined = joinRecords(a, b);
        expect(joinRecords(joined, joined)).toEqual(joined);
        expect(joinRecords(joined, a)).toEqual(joined);
      }),
      runs,
    );
  });

  it('keeps every job id', () => {
    fc.assert(
      fc.property(rawRecords, rawRecords, (a, b) => {
        const [first, second] = [lockOf(a), lockOf(b)];
        const both = new Set([...jobIds(first), ...jobIds(second)]);
        expect(jobIds(joinLocks(first, second))).toEqual([...both].sort());
        const given = [...a, ...b].flatMap(({ address, purchases }) =>
          purchases.flatMap(({ jobId }) => (jobId === undefined ? [] : [`${address} ${jobId}`])),
        );
        expect(new Set(given)).toEqual(both);
      }),
      runs,
    );
  });

  it('never moves a state back, and never forgets an intent that has no answer', () => {
    const order: PurchaseState[] = ['intent', 'unresolved', 'refused', 'running', 'lost', 'failed', 'done'];
    const isSameAct = (a: Purchase, b: Purchase) =>
      a.fingerprint === b.fingerprint && a.generation === b.generation && a.attempt === b.attempt;
    fc.assert(
      fc.property(one, one, (a, b) => {
        const joined = joinRecords(a, b);
        for (const before of [...a.purchases, ...b.purchases]) {
          const after = joined.purchases.filter(
            (purchase) =>
              isSameAct(purchase, before) && (before.jobId === undefined || purchase.jobId === before.jobId),
          );
          expect(Math.max(...after.map(({ state }) => order.indexOf(state)))).toBeGreaterThanOrEqual(
            order.indexOf(before.state),
          );
        }
      }),
      runs,
    );
  });

  it('is the same through the file: two written locks join to what the locks join to', () => {
    fc.assert(
      fc.property(explainedRecords, explainedRecords, (a, b) => {
        const [first, second] = [lockOf(a), lockOf(b)];
        expect(writeLock(joinLocks(reread(first), reread(second)))).toBe(writeLock(joinLocks(first, second)));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses two addresses', () => {
    const record: StepRecord = { address: 'a', kind: 'image', purchases: [] };
    expect(() => joinRecords(record, { ...record, address: 'b' })).toThrow('internal error');
  });
});

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };

function fold(...purchases: Purchase[]): Purchase[] {
  return recordOf({
    address: 'hero',
    kind: 'image',
    ...act,
    state: 'intent',
    ...purchases[0],
    earlier: purchases.slice(1),
  }).purchases;
}

describe('decisions', () => {
  const bought: StepRecord = { address: 'x', kind: 'image', purchases: [{ ...act, state: 'done', jobId: 'a' }] };
  const cases: { name: string; a: Decisions; b: Decisions; joined: Decisions }[] = [
    {
      name: 'the later of two pins counts, and an unpin is one of them',
      a: { pin: { fingerprint: '1:aa', revision: 1 } },
      b: { pin: { revision: 2 } },
      joined: { pin: { revision: 2 } },
    },
    {
      name: 'a pin and an unpin of the same revision: it stays pinned, on every branch',
      a: { pin: { revision: 2 } },
      b: { pin: { fingerprint: '1:aa', revision: 2 } },
      joined: { pin: { fingerprint: '1:aa', revision: 2 } },
    },
    {
      name: 'acceptances for different requests are all kept, sorted',
      a: { accepted: [{ wanted: '1:cc', fingerprint: '1:aa', revision: 1 }] },
      b: { accepted: [{ wanted: '1:bb', fingerprint: '1:aa', revision: 1 }] },
      joined: {
        accepted: [
          { wanted: '1:bb', fingerprint: '1:aa', revision: 1 },
          { wanted: '1:cc', fingerprint: '1:aa', revision: 1 },
        ],
      },
    },
    {
      name: 'of two acceptances for one request the higher revision counts',
      a: { accepted: [{ wanted: '1:bb', fingerprint: '1:aa', revision: 2 }] },
      b: { accepted: [{ wanted: '1:bb', fingerprint: '1:zz', revision: 1 }] },
      joined: { accepted: [{ wanted: '1:bb', fingerprint: '1:aa', revision: 2 }] },
    },
    { name: 'what is forgotten stays forgotten', a: { forgotten: 1 }, b: { forgotten: 3 }, joined: { forgotten: 3 } },
  ];
  it.each(cases)('$name', ({ a, b, joined }) => {
    expect(joinRecords({ ...bought, decisions: a }, { ...bought, decisions: b }).decisions).toEqual(joined);
    expect(joinRecords({ ...bought, decisions: b }, { ...bought, decisions: a }).decisions).toEqual(joined);
  });

  it('outlive a line of a run that says nothing of them', () => {
    const decisions: Decisions = { pin: { fingerprint: '1:aa', revision: 1 }, forgotten: 1 };
    expect(joinRecords({ ...bought, decisions }, bought).decisions).toEqual(decisions);
  });

  it('take no job id off the record', () => {
    const both = joinRecords(bought, { ...bought, decisions: { forgotten: 9 } });
    expect(both.purchases).toEqual(bought.purchases);
  });
});

describe('the normal form', () => {
  const cases: { name: string; facts: Purchase[]; expected: Partial<Purchase>[] }[] = [
    {
      name: 'a job answers its intent',
      facts: [
        { ...act, state: 'intent', since: '2030-01-01T00:00:00.000Z', request: { prompt: 'p' } },
        { ...act, state: 'running', jobId: 'j1', credits: 3 },
      ],
      expected: [{ state: 'running', jobId: 'j1', credits: 3, request: { prompt: 'p' } }],
    },
    {
      name: 'another attempt does not answer it',
      facts: [
        { ...act, state: 'unresolved' },
        { ...act, attempt: 2, state: 'done', jobId: 'j2' },
      ],
      expected: [
        { attempt: 2, state: 'done' },
        { attempt: 1, state: 'unresolved' },
      ],
    },
    {
      name: 'a definite no wins over not knowing, also when the older report comes last',
      facts: [
        { ...act, state: 'refused', error: 'no credits' },
        { ...act, attempt: 2, state: 'done', jobId: 'j2' },
        { ...act, state: 'intent', since: '2030-01-01T00:00:00.000Z' },
      ],
      expected: [
        { attempt: 2, state: 'done' },
        { attempt: 1, state: 'refused', error: 'no credits' },
      ],
    },
    {
      name: 'a finished job has no clock and a done one no error',
      facts: [
        { ...act, state: 'running', jobId: 'j', since: '2030-01-01T00:00:00.000Z' },
        { ...act, state: 'failed', jobId: 'j', error: 'e' },
        { ...act, state: 'done', jobId: 'j' },
      ],
      expected: [{ state: 'done', jobId: 'j' }],
    },
    {
      name: 'two jobs of one act are both kept, the finished one first',
      facts: [
        { ...act, state: 'running', jobId: 'a' },
        { ...act, state: 'done', jobId: 'b' },
      ],
      expected: [
        { jobId: 'b', state: 'done' },
        { jobId: 'a', state: 'running' },
      ],
    },
    {
      name: 'the files of the higher revision stay',
      facts: [
        {
          ...act,
          state: 'done',
          jobId: 'a',
          revision: 1,
          outputs: [{ path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }],
        },
        {
          ...act,
          state: 'done',
          jobId: 'a',
          outputs: [{ path: 'z.png', sha256: 'f'.repeat(64), bytes: 2, type: 'image/png' }],
        },
      ],
      expected: [{ revision: 1, outputs: [{ path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }] }],
    },
    {
      name: 'a known charge wins over an unknown one',
      facts: [
        { ...act, state: 'done', jobId: 'a' },
        { ...act, state: 'running', jobId: 'a', credits: 7 },
      ],
      expected: [{ credits: 7, state: 'done' }],
    },
    {
      name: 'a newer generation is the face',
      facts: [
        { ...act, state: 'done', jobId: 'a' },
        { ...act, generation: 2, state: 'intent' },
      ],
      expected: [
        { generation: 2, state: 'intent' },
        { generation: 1, state: 'done' },
      ],
    },
  ];

  it.each(cases)('$name', ({ facts, expected }) => {
    for (const order of [facts, [...facts].reverse()]) {
      const purchases = fold(...order);
      expect(purchases).toHaveLength(expected.length);
      expect(purchases).toMatchObject(expected);
      expect(
        purchases.filter(({ state }) => state === 'done').every((done) => !('error' in done || 'since' in done)),
      ).toBe(true);
    }
  });

  it('writes the request of the newest purchase only, and of an earlier refusal no more than the proof', () => {
    const record = recordOf({
      address: 'hero',
      kind: 'image',
      ...act,
      attempt: 2,
      state: 'done',
      jobId: 'j',
      request: { prompt: 'p' },
      earlier: [{ ...act, state: 'refused', error: 'no credits', request: { prompt: 'p' } }],
    });
    expect(record.purchases[1]?.request).toEqual({ prompt: 'p' });
    expect(lineOf(record)).toMatchObject({ request: { prompt: 'p' }, earlier: [{ ...act, state: 'refused' }] });
    expect(lineOf(record).earlier?.[0]).not.toHaveProperty('request');
    expect(lineOf(record).earlier?.[0]).not.toHaveProperty('error');
  });

  it('takes the kind that came with the newest purchase', () => {
    const a: StepRecord = { address: 'x', kind: 'image', purchases: [{ ...act, state: 'done', jobId: 'a' }] };
    const b: StepRecord = { address: 'x', kind: 'music', purchases: [{ ...act, generation: 2, state: 'intent' }] };
    expect(joinRecords(a, b).kind).toBe('music');
    expect(joinRecords(b, a).kind).toBe('music');
  });

  it('does not share what it was given', () => {
    const a: StepRecord = { address: 'x', kind: 'image', purchases: [{ ...act, state: 'intent' }] };
    const before = structuredClone(a);
    joinRecords(a, { ...a, purchases: [{ ...act, state: 'done', jobId: 'j', credits: 2 }] });
    expect(a).toEqual(before);
  });
});
