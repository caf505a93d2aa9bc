import { describe, expect, it } from 'vitest';
import { agreeOnSends, joinLocks } from '../../../src/lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { closedSends, hasOpenSends, openSends, writtenOffSends } from '../../../src/lock/sends.ts';
import { writeLine, writeLock } from '../../../src/lock/write.ts';
import { good, header, read } from './records.ts';

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };
const open: Purchase = { ...act, state: 'unresolved', send: 's1', since: '2030-01-01T00:00:00.000Z' };
const other: Purchase = { ...act, fingerprint: '1:bb', state: 'intent', send: 's2' };
const job: Purchase = { ...act, state: 'done', jobId: 'j' };
const off: Purchase = { ...open, writtenOff: true };
const decisions = { sends: ['s1'] };

function lockOf(records: Record<string, Partial<StepRecord>>): Lock {
  const steps = Object.entries(records).map(([address, record]): [string, StepRecord] => [
    address,
    { address, kind: 'image', purchases: [], ...record },
  ]);
  return { version: 2, steps: new Map(steps) };
}

const openIn = (lock: Lock, addresses: string[] = []) =>
  openSends(lock, new Set(addresses)).map(({ record, purchase }) => `${record.address} ${purchase.send}`);

describe('the open sends of a lock', () => {
  it.each<[string, Record<string, Partial<StepRecord>>, string[]]>([
    ['nothing on record', {}, []],
    ['what waits for its answer', { a: { purchases: [job, open, other] } }, ['a s1', 'a s2']],
    ['nothing that has an answer', { a: { purchases: [job, { ...act, state: 'refused' }] } }, []],
    ['nothing that was written off', { a: { purchases: [off] } }, []],
    ['nothing that another address wrote off', { a: { purchases: [off] }, b: { purchases: [open, other] } }, ['b s2']],
    ['nothing that is closed at another address', { a: { purchases: [open, other] }, b: { closes: ['s1'] } }, ['a s2']],
    ['nothing that another address decided', { a: { purchases: [open] }, b: { purchases: [job], decisions } }, []],
    ['what is forgotten, all the same', { a: { purchases: [{ ...open, forgotten: true }] } }, ['a s1']],
  ])('are %s', (_name, records, expected) => {
    expect(openIn(lockOf(records))).toEqual(expected);
    expect(hasOpenSends(lockOf(records))).toBe(expected.length > 0);
  });

  it('are reported once, where the manifest has the step', () => {
    const twice = lockOf({ old: { purchases: [open] }, new: { purchases: [open] }, older: { purchases: [open] } });
    expect(openIn(twice, ['new'])).toEqual(['new s1']);
    expect(openIn(twice, ['old'])).toEqual(['old s1']);
    expect(openIn(twice)).toEqual(['old s1']);
  });
});

describe('what one address knows of a send', () => {
  const moved = lockOf({
    a: { purchases: [other, open] },
    b: { purchases: [job], closes: ['s1'], decisions: { pin: { revision: 1 } } },
  });

  it('every other one knows', () => {
    const { steps } = agreeOnSends(moved);
    expect(steps.get('a')).toStrictEqual({ address: 'a', kind: 'image', purchases: [other] });
    expect(steps.get('b')).toBe(moved.steps.get('b'));
    const agreed = agreeOnSends(lockOf({ a: { purchases: [open, other] }, b: { purchases: [off] } }));
    expect(agreed.steps.get('a')?.purchases).toStrictEqual([off, other]);
    expect(agreed.steps.get('b')?.purchases).toStrictEqual([off]);
  });

  it('is that it is over, where one says so and another that it was written off', () => {
    const agreed = agreeOnSends(lockOf({ a: { purchases: [open] }, b: { purchases: [off] }, c: { closes: ['s1'] } }));
    expect([...agreed.steps.values()].flatMap(({ purchases }) => purchases)).toEqual([]);
  });

  it('leaves what is no open send alone, whatever it is called', () => {
    const odd = [
      { ...job, send: 's1', writtenOff: true },
      { ...act, generation: 2, state: 'refused', send: 's1' },
    ] as unknown as Purchase[];
    const lock = lockOf({ a: { purchases: odd }, b: { closes: ['s1'] } });
    expect(agreeOnSends(lock).steps.get('a')?.purchases).toBe(odd);
    expect(writtenOffSends(lockOf({ a: { purchases: odd } })).size).toBe(0);
  });

  it('changes nothing where nothing is closed', () => {
    const lock = lockOf({ a: { purchases: [open] } });
    expect(agreeOnSends(lock)).toBe(lock);
    expect(closedSends(moved)).toEqual(new Set(['s1']));
  });

  it('is known when two locks are joined, when a file is read, and when it is written', () => {
    const [a, b] = ['a', 'b'].map((address) => ({
      ...moved,
      steps: new Map([...moved.steps].filter(([one]) => one === address)),
    }));
    if (a === undefined || b === undefined) throw new Error('no locks');
    expect(joinLocks(a, b).steps.get('a')?.purchases).toEqual([other]);
    expect(joinLocks(b, a).steps.get('a')?.purchases).toEqual([other]);
    expect(writeLock(moved)).not.toContain('s1');
    const lines = [
      { address: 'a', kind: 'image', ...open },
      { address: 'b', kind: 'image', ...job, closes: ['s1'] },
    ].map(writeLine);
    for (const text of [lines, lines.toReversed()]) {
      const reading = read(header + text.join(''));
      expect(reading.needsRewrite).toBe(true);
      expect(reading.lock.steps.get('a')?.purchases).toEqual([]);
      expect(writeLock(reading.lock)).toBe(writeLock(lockOf({ b: { purchases: [job] } })));
    }
  });
});

describe('two reports of one purchase become one', () => {
  /** In either order: the record of a step that two lines tell of. */
  function joined(a: object, b: object): StepRecord['purchases'] {
    const texts = [a, b].map((facts) => `${JSON.stringify({ ...good, ...facts })}\n`);
    const [one, other] = [texts, texts.toReversed()].map((lines) => {
      const [step] = read(header + lines.join('')).lock.steps.values();
      return step?.purchases ?? [];
    });
    expect(one).toEqual(other);
    return one ?? [];
  }
  const open = { state: 'intent', jobId: undefined, send: 's1' };
  const sentAt = (second: string) => ({ ...open, since: `2030-01-01T00:00:${second}` });
  const refused = { state: 'refused', jobId: undefined };
  const file = (path: string) => [{ path, sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }];

  it.each<[string, object, object, object]>([
    ['the higher charge', { credits: 2 }, { credits: 5 }, { credits: 5 }],
    ['a charge of 0 over none', { credits: 0 }, {}, { credits: 0 }],
    ['the known charge', {}, { credits: 5 }, { credits: 5 }],
    ['the state that is further', { state: 'running' }, { state: 'lost' }, { state: 'lost' }],
    [
      'the error of the state that is further',
      { state: 'lost', error: 'z' },
      { state: 'failed', error: 'a' },
      { state: 'failed', error: 'a' },
    ],
    ['of two errors the larger text', { state: 'failed', error: 'a' }, { state: 'failed', error: 'b' }, { error: 'b' }],
    ['the first time that it was sent', sentAt('09Z'), sentAt('10Z'), { since: '2030-01-01T00:00:09Z' }],
    ['the earlier time, not the smaller text', sentAt('01.5Z'), sentAt('01Z'), { since: '2030-01-01T00:00:01Z' }],
    ['of one time in two texts the smaller', sentAt('01.000Z'), sentAt('01Z'), { since: '2030-01-01T00:00:01.000Z' }],
    ['the only time', open, sentAt('01Z'), { since: '2030-01-01T00:00:01Z' }],
    [
      'the fence of what was sent first',
      { ...sentAt('01Z'), fence: 'z' },
      { ...sentAt('02Z'), fence: 'a' },
      { fence: 'z' },
    ],
    ['of two fences of one time the smaller', { ...open, fence: 'b' }, { ...open, fence: 'a' }, { fence: 'a' }],
    ['an empty fence', { ...open, fence: '' }, { ...open, fence: 'a' }, { fence: '' }],
    ['the only fence', { ...open, fence: 'a' }, open, { fence: 'a' }],
    ['that it was sent once more', { ...open, resent: true }, open, { resent: true }],
    ['that a person decided', { ...refused, decided: true }, refused, { decided: true }],
    ['that its key is known', { ...open, keyKnown: true }, open, { keyKnown: true }],
    [
      'the files of the higher revision',
      { revision: 2, outputs: file('a.png') },
      { revision: 1, outputs: file('b.png') },
      { outputs: file('a.png'), revision: 2 },
    ],
    ['files over none', { outputs: file('a.png') }, {}, { outputs: file('a.png') }],
    [
      'of one revision the larger files',
      { outputs: file('a.png') },
      { outputs: file('b.png') },
      { outputs: file('b.png') },
    ],
    ['the larger record id', { recordId: 'a' }, { recordId: 'b' }, { recordId: 'b' }],
    ['the only record id', { recordId: 'a' }, {}, { recordId: 'a' }],
    ['the larger address', { url: 'https://a.test/a' }, { url: 'https://a.test/b' }, { url: 'https://a.test/b' }],
    ['the smaller key', { key: 'a' }, { key: 'b' }, { key: 'a' }],
    ['the larger take', { take: 2 }, { take: 1 }, { take: 2 }],
    ['the only take', {}, { take: 1 }, { take: 1 }],
    ['the only request', { request: { a: 1 } }, {}, { request: { a: 1 } }],
    ['the larger request', { request: { a: 1 } }, { request: { a: 2 } }, { request: { a: 2 } }],
    ['of one account told twice that account', { ...open, account: 'a' }, { ...open, account: 'a' }, { account: 'a' }],
    ['the only account', { ...open, account: 'b' }, open, { account: 'b' }],
    ['of two accounts the smaller', { ...open, account: 'b' }, { ...open, account: 'a' }, { account: 'a' }],
    ['of two digests of its bytes the smaller', { ...open, digest: 'b' }, { ...open, digest: 'a' }, { digest: 'a' }],
    ['the only digest of its bytes', open, { ...open, digest: 'b' }, { digest: 'b' }],
    ['that it was written off', open, { ...open, writtenOff: true }, { writtenOff: true }],
    ['that it was forgotten', {}, { forgotten: true }, { forgotten: true }],
    [
      'that its key is not replayed',
      { ...open, state: 'unresolved' },
      { ...open, error: 'a' },
      { state: 'unresolved' },
    ],
  ])('%s', (_name, a, b, expected) => {
    const purchases = joined(a, b);
    expect(purchases).toHaveLength(1);
    expect(purchases[0]).toMatchObject(expected);
  });

  it('and what neither knows is not there', () => {
    const { address: _address, kind: _kind, jobId, ...common } = good;
    expect(joined({}, {})).toStrictEqual([{ ...common, jobId }]);
    expect(joined(open, { ...open })).toStrictEqual([{ ...common, state: 'intent', send: 's1' }]);
    expect(joined(refused, { ...refused })).toStrictEqual([{ ...common, state: 'refused' }]);
  });

  it('but a job and a send of the same purchase stay two, and a refusal goes', () => {
    expect(joined({ ...open, request: { a: 1 }, take: 3 }, { credits: 2 })).toEqual([
      expect.objectContaining({ jobId: 'job-1', credits: 2 }),
      expect.objectContaining({ send: 's1', take: 3, request: { a: 1 } }),
    ]);
    expect(joined({ ...open, state: 'refused' }, {}).map(({ state }) => state)).toEqual(['done']);
    expect(joined({ ...open, state: 'refused' }, open).map(({ state }) => state)).toEqual(['intent', 'refused']);
  });

  it('newest first: by generation, state, attempt, name, fingerprint', () => {
    const order = (a: object, b: object) =>
      joined(a, b)
        .map(
          (p) => `${p.generation} ${p.attempt} ${p.state} ${p.jobId ?? p.send ?? p.key} ${p.fingerprint.slice(0, 3)}`,
        )
        .join(', ');
    const refused = { ...open, state: 'refused' };
    expect([
      order({ generation: 2, state: 'running' }, { attempt: 2 }),
      order({ attempt: 2, state: 'failed' }, {}),
      order({ attempt: 2 }, {}),
      order({ state: 'failed' }, { jobId: 'job-2' }),
      order({ jobId: 'job-2' }, {}),
      order({ fingerprint: '1:c' }, {}),
      order({ ...open, send: 's2', key: 'a' }, { ...open, key: 'b' }),
      order({ ...open, send: 's2' }, { ...refused, attempt: 2 }),
      order({ ...refused, key: 'b', send: 'a', fingerprint: '1:c' }, { ...refused, key: 'a', send: 'b' }),
    ]).toMatchInlineSnapshot(`
      [
        "2 1 running job-1 1:a, 1 2 done job-1 1:a",
        "1 1 done job-1 1:a, 1 2 failed job-1 1:a",
        "1 2 done job-1 1:a, 1 1 done job-1 1:a",
        "1 1 done job-2 1:a, 1 1 failed job-1 1:a",
        "1 1 done job-1 1:a, 1 1 done job-2 1:a",
        "1 1 done job-1 1:a, 1 1 done job-1 1:c",
        "1 1 intent s1 1:a, 1 1 intent s2 1:a",
        "1 1 intent s2 1:a, 1 2 refused mb1-key 1:a",
        "1 1 refused a 1:a, 1 1 refused b 1:c",
      ]
    `);
  });
});
