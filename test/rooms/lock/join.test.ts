import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verdictIn } from '../../../src/lock/decisions.ts';
import { factOf, joinInto, joinLocks, joinParts, joinRecords } from '../../../src/lock/join.ts';
import { readLock } from '../../../src/lock/read.ts';
import type { Decisions, Lock, Purchase, PurchaseState, StepRecord } from '../../../src/lock/record.ts';
import { mayBeCharged } from '../../../src/lock/sends.ts';
import { emptyLock, writeLock } from '../../../src/lock/write.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { explainedRecords, jobIds, purchase, rawRecord, rawRecords } from './records.ts';

const one = rawRecord(fc.constant('hero'));
const often = { numRuns: runs(700) };

function open(send: string): StepRecord {
  const purchase = { fingerprint: '1:aa', generation: 1, attempt: 1, state: 'intent' as const, key: 'k', send };
  return { address: 'hero@en', kind: 'image', purchases: [purchase] };
}

/** What a person decided about the refusal is all that is left once the send beside it is closed elsewhere. */
const refusedBesideSend: StepRecord = {
  ...open('s2'),
  purchases: [
    { fingerprint: '1:aa', generation: 1, attempt: 1, state: 'refused', key: 'k', decided: true },
    ...open('s2').purchases,
  ],
};

function lockOf(records: StepRecord[]): Lock {
  return records.reduce(
    (lock, record) => joinLocks(lock, { version: 2, steps: new Map([[record.address, record]]) }),
    emptyLock(),
  );
}

function reread(lock: Lock): Lock {
  const reading = readLock('lock', Buffer.from(writeLock(lock)));
  expect(reading.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  return reading.lock;
}

/** As it is once a run has ended: that sends were closed, and what came to nothing, is known to nobody any more. */
function settled(lock: Lock): Lock {
  const records = [...lock.steps.values()]
    .filter(({ purchases }) => purchases.length > 0)
    .map(({ closes: _closes, ...record }) => record);
  return { ...lock, steps: new Map(records.map((record) => [record.address, record])) };
}

/** The file without what only explains: of what was not the newest that is not kept. */
function facts(lock: Lock): string {
  const records = [...lock.steps.values()].map((record) => ({
    ...record,
    purchases: record.purchases.map(({ request: _request, error, ...purchase }) =>
      purchase.state === 'refused' || error === undefined ? purchase : { ...purchase, error },
    ),
  }));
  return writeLock({ ...lock, steps: new Map(records.map((record) => [record.address, record])) });
}

/** A record of which nothing is left is of no kind. */
function known(record: StepRecord): StepRecord {
  return record.purchases.length === 0 ? { ...record, kind: 'none' } : record;
}

function isClosed(send: string | undefined, ...records: StepRecord[]): boolean {
  return records.some(
    ({ closes = [], decisions }) =>
      send !== undefined && (closes.includes(send) || decisions?.sends?.includes(send) === true),
  );
}

describe('the join of two records', () => {
  forAll([one, one], often)('does not depend on the order', (a, b) => {
    expect(joinRecords(a, b)).toEqual(joinRecords(b, a));
  });

  forAll([one, one, one], often)('does not depend on the grouping', (a, b, c) => {
    expect(known(joinRecords(joinRecords(a, b), c))).toEqual(known(joinRecords(a, joinRecords(b, c))));
  });

  forAll([one, one, one], often)('is the same for all of them at once', (a, b, c) => {
    expect(known(joinParts('hero', [c, a, b]))).toEqual(known(joinRecords(joinRecords(a, b), c)));
  });

  const closes = fc.option(fc.subarray(['s1', 's2']), { nil: undefined });
  const line = fc.record({ job: purchase, isFirst: fc.boolean(), closes });
  forAll([fc.array(line, { minLength: 1, maxLength: 4 })], often)('is the same line by line', (lines) => {
    const steps = new Map([['hero@en', open('s1')]]);
    let joined = open('s1');
    for (const { job, isFirst, closes } of lines) {
      const { fingerprint, generation, attempt } = isFirst ? (joined.purchases[0] ?? job) : job;
      const purchases = [{ ...job, fingerprint, generation, attempt }];
      const next = joinParts('hero@en', [{ kind: 'image', purchases, ...(closes !== undefined && { closes }) }]);
      joined = joinRecords(joined, next);
      joinInto(steps, next);
      expect(steps.get('hero@en')).toEqual(joined);
    }
  });

  forAll([one, one], often)('changes nothing the second time', (a, b) => {
    const joined = joinRecords(a, b);
    expect(joinRecords(joined, joined)).toEqual(joined);
    expect(known(joinRecords(joined, a))).toEqual(known(joined));
    expect(joinParts('hero', [joined])).toEqual(joined);
  });

  forAll([rawRecords, rawRecords], often)('keeps every job id', (a, b) => {
    const [first, second] = [lockOf(a), lockOf(b)];
    const both = new Set([...jobIds(first), ...jobIds(second)]);
    expect(jobIds(joinLocks(first, second))).toEqual([...both].sort());
    const given = [...a, ...b].flatMap(({ address, purchases }) =>
      purchases.flatMap(({ jobId }) => (jobId === undefined ? [] : [`${address} ${jobId}`])),
    );
    expect(new Set(given)).toEqual(both);
  });

  const order: PurchaseState[] = ['refused', 'intent', 'unresolved', 'running', 'lost', 'failed', 'done'];
  forAll([one, one], often)('never moves a state back', (a, b) => {
    const joined = new Map(joinRecords(a, b).purchases.map((purchase) => [factOf(purchase), purchase]));
    for (const before of [...a.purchases, ...b.purchases]) {
      const after = joined.get(factOf(before));
      if (after === undefined) expect(before.jobId).toBeUndefined();
      else expect(order.indexOf(after.state)).toBeGreaterThanOrEqual(order.indexOf(before.state));
    }
  });

  forAll([one, one], often)('loses no send that neither side has closed, and keeps none that one has', (a, b) => {
    const sends = new Set(
      [...a.purchases, ...b.purchases].filter(mayBeCharged).flatMap(({ send }) => (isClosed(send, a, b) ? [] : send)),
    );
    expect(
      new Set(
        joinRecords(a, b)
          .purchases.filter(mayBeCharged)
          .map(({ send }) => send),
      ),
    ).toEqual(sends);
  });

  forAll([one, one], often)('keeps what was refused until a job of its purchase is there', (a, b) => {
    const all = [...a.purchases, ...b.purchases];
    const bought = (refused: Purchase) =>
      all.some(
        ({ jobId, generation, fingerprint }) =>
          jobId !== undefined && generation === refused.generation && fingerprint === refused.fingerprint,
      );
    const keys = all.filter((purchase) => purchase.state === 'refused' && !bought(purchase)).map(({ key }) => key);
    const kept = joinRecords(a, b).purchases.filter(({ state }) => state === 'refused');
    expect(new Set(kept.map(({ key }) => key))).toEqual(new Set(keys));
  });

  forAll([one, one], often)('knows the kind of each purchase, and its marks, once one side knows them', (a, b) => {
    const joined = joinRecords(a, b);
    for (const purchase of joined.purchases) {
      const told = [a, b].flatMap(({ kind, purchases }) =>
        purchases.filter((one) => factOf(one) === factOf(purchase)).map((one) => ({ kind, ...one })),
      );
      expect(purchase.forgotten === true).toBe(told.some(({ forgotten }) => forgotten));
      expect(purchase.writtenOff === true).toBe(told.some((one) => mayBeCharged(one) && one.writtenOff));
      expect(purchase.kind ?? joined.kind).toBe(told.map(({ kind }) => kind).sort()[0]);
    }
  });

  forAll<[StepRecord[], StepRecord[]]>([explainedRecords, explainedRecords], {
    numRuns: runs(300),
    examples: [[[refusedBesideSend], [{ ...open('s1'), address: 'hero@de', decisions: { sends: ['s2'] } }]]],
  })('is the same through the file: two written locks join to what the settled locks join to', (a, b) => {
    const [first, second] = [lockOf(a), lockOf(b)];
    const joined = joinLocks(settled(first), settled(second));
    expect(facts(joinLocks(reread(first), reread(second)))).toBe(facts(joined));
    expect(writeLock(reread(joined))).toBe(writeLock(joined));
  });

  it('refuses two addresses', () => {
    const record: StepRecord = { address: 'a', kind: 'image', purchases: [] };
    expect(() => joinRecords(record, { ...record, address: 'b' })).toThrow('internal error');
  });
});

describe('the join of two locks', () => {
  const lock = rawRecords.map(lockOf);
  const content = ({ steps, ...rest }: Lock) => ({
    ...rest,
    steps: [...steps.values()].map(known).sort((a, b) => (a.address < b.address ? -1 : 1)),
  });

  forAll([lock, lock, lock], runs(300))(
    'is commutative, associative and idempotent, also for moved sends',
    (a, b, c) => {
      expect(content(joinLocks(a, b))).toEqual(content(joinLocks(b, a)));
      expect(content(joinLocks(joinLocks(a, b), c))).toEqual(content(joinLocks(a, joinLocks(b, c))));
      const joined = joinLocks(a, b);
      expect(content(joinLocks(joined, joined))).toEqual(content(joined));
      expect(content(joinLocks(joined, a))).toEqual(content(joined));
    },
  );

  it('of two services keeps the smaller digest', () => {
    const of = (service?: string): Lock => ({ ...emptyLock(), ...(service !== undefined && { service }) });
    const joined = (a?: string, b?: string) => joinLocks(of(a), of(b)).service;
    expect([joined('a', 'b'), joined('b', 'a'), joined('a'), joined(undefined, 'b')]).toEqual(['a', 'a', 'a', 'b']);
    expect(joinLocks(of(), of())).not.toHaveProperty('service');
  });
});

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };

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
    {
      name: 'of an unpin and a later pin the pin',
      a: { pin: { revision: 2 } },
      b: { pin: { fingerprint: '1:aa', revision: 3 } },
      joined: { pin: { fingerprint: '1:aa', revision: 3 } },
    },
    {
      name: 'the later of two verdicts counts, whatever it is',
      a: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'rejected', revision: 1 }] },
      b: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'picked', revision: 2 }] },
      joined: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'picked', revision: 2 }] },
    },
    {
      name: 'picked on one branch and rejected on another: it is rejected, and nothing is made from it',
      a: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'picked', note: 'z', revision: 1 }] },
      b: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'rejected', note: 'a', revision: 1 }] },
      joined: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'rejected', note: 'a', revision: 1 }] },
    },
    {
      name: 'verdicts about several jobs stand beside each other, sorted',
      a: { verdicts: [{ fingerprint: '1:aa', job: 'b', is: 'picked', revision: 1 }] },
      b: { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'rejected', revision: 7 }] },
      joined: {
        verdicts: [
          { fingerprint: '1:aa', job: 'a', is: 'rejected', revision: 7 },
          { fingerprint: '1:aa', job: 'b', is: 'picked', revision: 1 },
        ],
      },
    },
    {
      name: 'every send that was decided about stays decided, each once, sorted',
      a: { sends: ['s2', 's1'] },
      b: { sends: ['s3', 's1'] },
      joined: { sends: ['s1', 's2', 's3'] },
    },
  ];
  it.each(cases)('$name', ({ a, b, joined }) => {
    expect(joinRecords({ ...bought, decisions: a }, { ...bought, decisions: b }).decisions).toEqual(joined);
    expect(joinRecords({ ...bought, decisions: b }, { ...bought, decisions: a }).decisions).toEqual(joined);
  });

  it('outlive a line of a run that says nothing of them', () => {
    const decisions: Decisions = { pin: { fingerprint: '1:aa', revision: 1 }, sends: ['s1'] };
    expect(joinRecords({ ...bought, decisions }, bought).decisions).toEqual(decisions);
  });

  it('take no job id off the record', () => {
    const forgotten = bought.purchases.map((purchase) => ({ ...purchase, forgotten: true as const }));
    const both = joinRecords(bought, { ...bought, purchases: forgotten, decisions: { pin: { revision: 9 } } });
    expect(both.purchases).toEqual(forgotten);
  });

  it('that say nothing are none', () => {
    expect(joinRecords({ ...bought, decisions: {} }, { ...bought, decisions: { accepted: [], sends: [] } })).toEqual(
      bought,
    );
    expect(joinParts('x', [{ ...bought, decisions: {} }])).toEqual(bought);
  });
});

it('a verdict counts for the job that was looked at, and for no other of the same request', () => {
  const decisions: Decisions = { verdicts: [{ fingerprint: '1:aa', job: 'a', is: 'picked', revision: 1 }] };
  expect(verdictIn(decisions, { fingerprint: '1:aa', jobId: 'a' })?.is).toBe('picked');
  expect(verdictIn(decisions, { fingerprint: '1:aa', jobId: 'b' })).toBeUndefined();
  expect(verdictIn(decisions, { fingerprint: '1:bb', jobId: 'a' })).toBeUndefined();
});
