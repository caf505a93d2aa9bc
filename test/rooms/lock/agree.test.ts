import { describe, expect, it } from 'vitest';
import { agreeOnSends, joinLocks } from '../../../src/lock/join.ts';
import type { Lock, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { closedSends, hasOpenSends, openSends, writtenOffSends } from '../../../src/lock/sends.ts';
import { writeLine, writeLock } from '../../../src/lock/write.ts';
import { header, read } from './records.ts';

const act = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k' };
const open: Purchase = { ...act, state: 'unresolved', send: 's1', since: '2030-01-01T00:00:00.000Z' };
const other: Purchase = { ...act, fingerprint: '1:bb', state: 'intent', send: 's2' };
const job: Purchase = { ...act, state: 'done', jobId: 'j' };

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
  it.each<[string, Lock, string[], boolean]>([
    ['nothing on record', lockOf({}), [], false],
    ['what waits for its answer', lockOf({ a: { purchases: [job, open, other] } }), ['a s1', 'a s2'], true],
    ['nothing that has an answer', lockOf({ a: { purchases: [job, { ...act, state: 'refused' }] } }), [], false],
    ['nothing that was written off', lockOf({ a: { purchases: [{ ...open, writtenOff: true }] } }), [], false],
    [
      'nothing that was written off at another address',
      lockOf({ a: { purchases: [{ ...open, writtenOff: true }] }, b: { purchases: [open, other] } }),
      ['b s2'],
      true,
    ],
    [
      'nothing that is closed at another address',
      lockOf({ a: { purchases: [open, other] }, b: { closes: ['s1'] } }),
      ['a s2'],
      true,
    ],
    [
      'nothing that was decided about at another address',
      lockOf({ a: { purchases: [open] }, b: { purchases: [job], decisions: { sends: ['s1'] } } }),
      [],
      false,
    ],
    ['what is forgotten, all the same', lockOf({ a: { purchases: [{ ...open, forgotten: true }] } }), ['a s1'], true],
  ])('are %s', (_name, lock, expected, some) => {
    expect(openIn(lock)).toEqual(expected);
    expect(hasOpenSends(lock)).toBe(some);
  });

  it('are told once, where the manifest has it', () => {
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
    const off: Purchase = { ...open, writtenOff: true };
    const agreed = agreeOnSends(lockOf({ a: { purchases: [open, other] }, b: { purchases: [off] } }));
    expect(agreed.steps.get('a')?.purchases).toStrictEqual([off, other]);
    expect(agreed.steps.get('b')?.purchases).toStrictEqual([off]);
  });

  it('is that it is over, where one says so and another that it was written off', () => {
    const off: Purchase = { ...open, writtenOff: true };
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
