import { describe, expect, test } from 'vitest';
import { outlineOf } from '../../../src/graph/graph.ts';
import type { Decisions, Lock, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { orphanRows, withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a'), song('b')]);
const a = stepOf(graph, 'a');
const b = stepOf(graph, 'b');
const one = saved(a, { jobId: 'one', key: 'k-1' });
const two = saved(earlier(a), { jobId: 'two', key: 'k-2', generation: 2 });
const refused = create(earlier(a), { state: 'refused', generation: 3, key: 'k-3' });
const open = create(a, { generation: 4, key: 'k-4', send: 's-4' });
const off = create(a, { generation: 4, key: 'k-4', send: 's-4', writtenOff: true });

function closing(lock: Lock, address: string, more: Partial<StepRecord>): Lock {
  const record = lock.steps.get(address);
  if (record === undefined) throw new Error(`nothing on record for ${address}`);
  return { ...lock, steps: new Map([...lock.steps, [address, { ...record, ...more }]]) };
}

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
      'goes when its send is closed at the other address',
      closing(lockOf({ old: [open], a: [job(a, { jobId: 'four', key: 'k-4' })] }), 'a', { closes: ['s-4'] }),
      ['a'],
    ],
    [
      'goes when its send was decided about at the other address',
      closing(lockOf({ old: [open], a: [refused] }), 'a', { decisions: { sends: ['s-4'] } }),
      ['a'],
    ],
    [
      'goes when its send is closed at an address that goes, too',
      closing(lockOf({ old: [open, one], older: [one], a: [one] }), 'older', { closes: ['s-4'] }),
      ['a'],
    ],
    [
      'stays with a send whose key has found a job at the other address: that says nothing of this one',
      lockOf({ old: [open], a: [job(a, { jobId: 'four', key: 'k-4' })] }),
      ['old', 'a'],
    ],
    [
      'stays with a send beside another one of the same key',
      lockOf({ old: [open], a: [{ ...open, send: 's-5' }] }),
      ['old', 'a'],
    ],
    [
      'stays with a job whose id is that of another request',
      lockOf({ old: [one], a: [{ ...two, jobId: 'one' }] }),
      ['old', 'a'],
    ],
    ['goes with a send that was written off, when that has another address', lockOf({ old: [off], a: [off] }), ['a']],
    [
      'stays with a send that was written off, and stands nowhere else',
      lockOf({ old: [off, one], a: [one] }),
      ['old', 'a'],
    ],
    ['goes where nothing is left of it', lockOf({ old: [refused] }), []],
    [
      'stays where nothing is left but what was decided about a send: a branch may come back that has it open',
      deciding(lockOf({ old: [refused] }), 'old', { sends: ['s-9'] }),
      ['old'],
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

  test('goes to nobody who was only refused something, too', () => {
    const lock = deciding(lockOf({ old: [refused, one], a: [one], b: [create(b, { state: 'refused' })] }), 'old', {
      pin,
    });
    expect(left(lock)).toEqual({ a: { pin }, b: undefined });
  });

  test('about a send goes to who has the job that came of it in the end', () => {
    const sends = ['s-9'];
    const bought = saved(earlier(a), { generation: 3, jobId: 'three' });
    expect(left(deciding(lockOf({ old: [refused], a: [bought] }), 'old', { sends }))).toEqual({ a: { sends } });
    expect(left(deciding(lockOf({ old: [refused], a: [refused] }), 'old', { sends }))).toEqual({ a: { sends } });
    expect(left(deciding(lockOf({ old: [refused], a: [one] }), 'old', { sends }))).toEqual({
      old: { sends },
      a: undefined,
    });
  });

  const own = saved(b, { jobId: 'own' });
  const marks = (lock: Lock) =>
    [...withoutMovedAway(lock, outlineOf(graph)).steps].flatMap(([address, { purchases }]) =>
      purchases.filter((one) => one.forgotten).map((one) => `${address} ${one.jobId ?? one.key}`),
    );

  test.each<[string, Record<string, Purchase[]>, string[]]>([
    [
      'part of it was, and the same part is at the new address',
      { old: [two, forgotten(one)], a: [two, one] },
      ['a one'],
    ],
    ['all of it was: somebody has given it another address on purpose', { old: [forgotten(one)], a: [one] }, []],
    ['something else at the new address stays', { old: [two, forgotten(one)], a: [own, two, one] }, ['a one']],
    [
      'one id of two requests is two jobs',
      { old: [two, forgotten(one)], a: [{ ...own, jobId: 'one' }, two, one] },
      ['a one'],
    ],
    [
      'it has another number there',
      {
        old: [two, forgotten(one)],
        a: [
          { ...two, generation: 5 },
          { ...one, generation: 4 },
        ],
      },
      ['a one'],
    ],
    [
      'of what was refused only what was',
      { old: [two, forgotten(refused)], a: [two, refused, { ...refused, attempt: 2, key: 'k-5' }] },
      ['a k-3'],
    ],
    ['it was so already', { old: [two, one], a: [two, forgotten(one)] }, ['a one']],
  ])('is forgotten there, too, or not: %s', (_name, records, expected) => {
    expect(marks(lockOf(records))).toEqual(expected);
  });
});

describe('what is known of it', () => {
  test('goes along: a charge, an end, files', () => {
    const { credits: _credits, outputs: _outputs, ...bare } = one;
    const lock = lockOf({ old: [two, one], a: [two, { ...bare, state: 'running' }] });
    const { steps } = withoutMovedAway(lock, outlineOf(graph));
    expect(steps.get('a')?.purchases).toEqual([two, one]);
  });

  test('stays apart where it has another number: the job is there all the same', () => {
    const moved = { ...one, generation: 5, state: 'running' as const };
    const { steps } = withoutMovedAway(lockOf({ old: [one], a: [moved] }), outlineOf(graph));
    expect(steps.get('a')?.purchases).toMatchObject([{ generation: 5, jobId: 'one' }]);
    expect(steps.size).toBe(1);
  });
});

describe('rows of what the manifest no longer has', () => {
  const rows = (lock: Lock) =>
    orphanRows(situate(graph, lock).matches, lock).map(({ address, kind, jobId, output, reason }) => ({
      address,
      kind,
      ...(jobId !== undefined && { jobId }),
      ...(output !== undefined && { output }),
      reason: reason.text,
    }));
  const kept = 'in the lock, not in the manifest; kept';
  const gone = saved(earlier(b), { jobId: 'gone' });

  test('takes of a task without a key are of that task', () => {
    const lock = lockOf({ 'tune/1': [gone], 'tune/2': [saved(earlier(b), { jobId: 'too' })], 'old@x,y/3': [two] });
    expect(orphanRows(situate(graph, lock).matches, lock).map(({ task }) => task)).toEqual(['old', 'tune', 'tune']);
  });

  test.each<[string, Lock, object[]]>([
    ['nothing', lockOf({ a: [one] }), []],
    [
      'what was bought, sorted',
      lockOf({ z: [gone], y: [{ ...gone, jobId: 'y' }] }, { kind: 'image' }),
      [
        { address: 'y', kind: 'image', jobId: 'y', output: 'output/b.mp3', reason: kept },
        { address: 'z', kind: 'image', jobId: 'gone', output: 'output/b.mp3', reason: kept },
      ],
    ],
    ['nothing that a step takes over', lockOf({ old: [one] }), []],
    ['nothing that stands at another address', lockOf({ old: [one], a: [one] }), []],
    ['nothing that is forgotten', lockOf({ old: [forgotten(gone)] }), []],
    ['nothing that was only refused', lockOf({ old: [create(earlier(b), { state: 'refused' })] }), []],
    ['nothing that is open: it has a row of its own', lockOf({ old: [create(earlier(b))] }), []],
    [
      'what was bought beside something open',
      lockOf({ old: [create(earlier(b), { generation: 2 }), gone] }),
      [{ address: 'old', kind: 'music', jobId: 'gone', output: 'output/b.mp3', reason: kept }],
    ],
    [
      'nothing that was written off, and nothing else is there',
      lockOf({ old: [create(earlier(b), { writtenOff: true })] }),
      [],
    ],
    [
      'what was pinned, which holds nothing any more',
      deciding(lockOf({ old: [gone] }), 'old', { pin: { fingerprint: gone.fingerprint, revision: 1 } }),
      [
        {
          address: 'old',
          kind: 'music',
          jobId: 'gone',
          output: 'output/b.mp3',
          reason: `${kept}; it was pinned: \`move\` gives it to another step`,
        },
      ],
    ],
  ])('%s', (_name, lock, expected) => {
    expect(rows(lock)).toEqual(expected);
  });
});
