import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Lock } from '../../../src/lock/record.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { diffLocks } from '../../../src/plan/compare/diff-locks.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lock as locks } from '../lock/records.ts';
import { create, deciding, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const opposite = {
  bought: 'gone',
  gone: 'bought',
  asked: 'settled',
  settled: 'asked',
  forgotten: 'remembered',
} as const;

describe('two locks', () => {
  it('are the same as themselves', () => {
    fc.assert(
      fc.property(locks, (lock) => {
        const { rows, before, after, discarded } = diffLocks(lock, lock);
        expect({ rows, discarded }).toEqual({ rows: [], discarded: 0 });
        expect(before).toBe(after);
      }),
    );
  });

  it('differ by the credits of their rows, and seen from the other one by the opposite', () => {
    fc.assert(
      fc.property(locks, locks, (one, other) => {
        const [there, back] = [diffLocks(one, other), diffLocks(other, one)];
        const sum = there.rows.reduce((total, { credits = 0 }) => total + credits, 0);
        expect(sum).toBe(there.after - there.before);
        for (const [change, turned] of Object.entries(opposite)) {
          const count = (rows: { change: string }[], name: string) => rows.filter((row) => row.change === name).length;
          expect(count(back.rows, turned)).toBe(count(there.rows, change));
        }
      }),
    );
  });

  const graph = graphOfSteps([song('a')]);
  const a = stepOf(graph, 'a');
  const done = lockOf({ a: [saved(a)] });
  it.each<[string, Lock, Lock, string[], number]>([
    ['a job that was bought', emptyLock(), done, ['bought a a-1 +4'], 0],
    ['a job that ended', lockOf({ a: [job(a)] }), done, ['changed a a-1 running → done'], 0],
    ['a lock that lost one', done, emptyLock(), ['gone a a-1 -4'], 0],
    ['a step that has another name', done, lockOf({ b: [saved(a)] }), ['moved b a-1 was a'], 0],
    ['a step that has both names', done, lockOf({ a: [saved(a)], b: [saved(a)] }), [], 0],
    ['a redo', done, lockOf({ a: [saved(a, { generation: 2 }), saved(a)] }), ['bought a a-2 +4'], 4],
    [
      'a redo that is not finished gives nothing up',
      done,
      lockOf({ a: [job(a, { generation: 2 }), saved(a)] }),
      ['bought a a-2 +4'],
      0,
    ],
    ['what is forgotten', done, lockOf({ a: [forgotten(saved(a))] }), ['forgotten a a-1'], 4],
    ['a create without an answer', emptyLock(), lockOf({ a: [create(a)] }), ['asked a send of a 1.1'], 0],
    ['a pin', done, deciding(done, 'a', { pin: { fingerprint: a.fingerprint, revision: 1 } }), ['pinned a'], 0],
    [
      'an acceptance that was taken back',
      deciding(done, 'a', { accepted: [{ wanted: '1:x', fingerprint: a.fingerprint, revision: 1 }] }),
      done,
      ['unaccepted a'],
      0,
    ],
    [
      'a pick',
      done,
      deciding(done, 'a', { verdicts: [{ fingerprint: a.fingerprint, job: 'a-1', is: 'picked', revision: 1 }] }),
      ['picked a'],
      0,
    ],
    [
      'a rejection that was taken back',
      deciding(done, 'a', { verdicts: [{ fingerprint: a.fingerprint, job: 'a-1', is: 'rejected', revision: 1 }] }),
      deciding(done, 'a', { verdicts: [{ fingerprint: a.fingerprint, job: 'a-1', revision: 2 }] }),
      ['undecided a'],
      0,
    ],
    ['a decision about a create', done, deciding(done, 'a', { sends: ['s1'] }), ['resolved a s1'], 0],
  ])('tell: %s', (_name, before, after, expected, discarded) => {
    const diff = diffLocks(before, after);
    const told = diff.rows.map(({ change, address, id, credits, movedFrom, state, stateBefore }) =>
      [
        change,
        address,
        id,
        stateBefore !== undefined && `${stateBefore} → ${state}`,
        movedFrom && `was ${movedFrom}`,
        credits !== undefined && `${credits > 0 ? '+' : ''}${credits}`,
      ]
        .filter(Boolean)
        .join(' '),
    );
    expect(told).toEqual(expected);
    expect(diff.discarded).toBe(discarded);
  });
});
