import { describe, expect, test } from 'vitest';
import { outlineOf } from '../../src/graph/outline.ts';
import type { Decisions, Lock } from '../../src/lock/record.ts';
import { withoutMovedAway } from '../../src/plan/orphans.ts';
import { graphOfSteps } from '../rig/steps.ts';
import { create, deciding, earlier, job, lockOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a'), song('b')]);
const a = stepOf(graph, 'a');
const b = stepOf(graph, 'b');
const one = saved(a, { jobId: 'one', key: 'k-1' });
const two = saved(earlier(a), { jobId: 'two', key: 'k-2', generation: 2 });
const refused = create(earlier(a), { state: 'refused', generation: 3, key: 'k-3' });
const open = create(a, { generation: 4, key: 'k-4' });

function left(lock: Lock): Record<string, Decisions | undefined> {
  return Object.fromEntries(
    [...withoutMovedAway(lock, outlineOf(graph)).steps].map(([address, one]) => [address, one.decisions]),
  );
}

describe('the record that a rename has left behind', () => {
  test.each<[string, Lock, string[]]>([
    ['goes when every purchase has another address', lockOf({ old: [two, one], a: [two, one] }), ['a']],
    ['goes when its purchases have two other addresses', lockOf({ old: [two, one], a: [one], b: [two] }), ['a', 'b']],
    ['goes with what was refused', lockOf({ old: [refused, one], a: [one] }), ['a']],
    [
      'goes with a create whose answer was lost, when that has another address',
      lockOf({ old: [open], a: [open] }),
      ['a'],
    ],
    [
      'goes when the create of before has found its job',
      lockOf({ old: [open], a: [job(a, { jobId: 'four', key: 'k-4' })] }),
      ['a'],
    ],
    ['stays while one purchase has no other address', lockOf({ old: [two, one], a: [one] }), ['old', 'a']],
    ['stays while a create whose answer was lost has none', lockOf({ old: [open, one], a: [one] }), ['old', 'a']],
    [
      'stays where the other address is no part of the manifest',
      lockOf({ old: [one], older: [one] }),
      ['old', 'older'],
    ],
    ['stays where the manifest has it', lockOf({ a: [one], b: [one] }), ['a', 'b']],
  ])('%s', (_name, lock, addresses) => {
    expect(Object.keys(left(lock))).toEqual(addresses);
  });

  test('nothing else of the lock changes', () => {
    const lock: Lock = { ...lockOf({ old: [one], a: [one], b: [saved(b)] }), service: 'abc' };
    expect(withoutMovedAway(lock, outlineOf(graph))).toStrictEqual({
      ...lockOf({ a: [one], b: [saved(b)] }),
      service: 'abc',
    });
    expect([...lock.steps.keys()]).toEqual(['old', 'a', 'b']);
  });
});

describe('what was decided about it', () => {
  const pin = { fingerprint: a.fingerprint, revision: 2 };
  const accepted = [{ wanted: '1:w', fingerprint: a.fingerprint, revision: 1 }];

  test('goes along to every heir', () => {
    const lock = deciding(lockOf({ old: [two, one], a: [one], b: [two] }), 'old', { pin, accepted });
    expect(left(lock)).toEqual({ a: { pin, accepted }, b: { pin, accepted } });
  });

  test('goes to nobody who has none of its purchases', () => {
    const lock = deciding(lockOf({ old: [one], a: [one], b: [saved(b)] }), 'old', { pin });
    expect(left(lock)).toEqual({ a: { pin }, b: undefined });
  });

  test('is joined with what was decided there', () => {
    const lock = deciding(lockOf({ old: [one], a: [one] }), 'old', { accepted });
    expect(left(deciding(lock, 'a', { pin }))).toEqual({ a: { pin, accepted } });
  });

  test.each<[string, Lock, Decisions | undefined]>([
    [
      'part of it was, and the same part is at the new address',
      deciding(lockOf({ old: [two, one], a: [two, one] }), 'old', { forgotten: 1 }),
      { forgotten: 1 },
    ],
    [
      'all of it was: somebody has given it another address on purpose',
      deciding(lockOf({ old: [one], a: [one] }), 'old', { forgotten: 1 }),
      undefined,
    ],
    [
      'part of it was, and the mark would hide something else at the new address',
      deciding(lockOf({ old: [two, one], a: [two, one, saved(b, { jobId: 'own' })] }), 'old', { forgotten: 1 }),
      undefined,
    ],
    [
      'part of it was, and something else stands above the mark',
      deciding(lockOf({ old: [two, one], a: [saved(b, { jobId: 'own', generation: 9 }), two, one] }), 'old', {
        forgotten: 1,
      }),
      { forgotten: 1 },
    ],
  ])('is forgotten there, too, or not: %s', (_name, lock, decisions) => {
    expect(left(lock)).toEqual({ a: decisions });
  });
});
