import { describe, expect, test } from 'vitest';
import { type Graph, outlineOf } from '../../../src/graph/graph.ts';
import type { Json } from '../../../src/ground/json.ts';
import { kinds } from '../../../src/kinds/index.ts';
import type { Decisions, Lock, Purchase, PurchaseState, StepRecord } from '../../../src/lock/record.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { compareListed, type ListedRecord, matchListed } from '../../../src/plan/purchases/match-listed.ts';
import { withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { purchaseOf } from '../../../src/plan/situation/find-purchases.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');

function found(given: Graph, lock: Lock): object[] {
  return situate(given, lock).matches.map(({ step, record, purchase, movedFrom, sharesJobOf }) => ({
    is: step.address,
    ...(record && { record: record.purchases.map((one) => one.jobId ?? one.key) }),
    ...(purchase && { purchase: purchase.jobId ?? purchase.key }),
    ...(movedFrom !== undefined && { movedFrom }),
    ...(sharesJobOf !== undefined && { sharesJobOf }),
  }));
}

describe('which purchase of a request counts', () => {
  const states: Record<string, (generation: number) => Purchase> = {
    done: (generation) => saved(a, { generation }),
    running: (generation) => job(a, { generation }),
    failed: (generation) => job(a, { generation, state: 'failed' }),
    lost: (generation) => job(a, { generation, state: 'lost' }),
    intent: (generation) => create(a, { generation }),
    unresolved: (generation) => create(a, { generation, state: 'unresolved' }),
    refused: (generation) => create(a, { generation, state: 'refused' }),
    'written off': (generation) => create(a, { generation, writtenOff: true }),
    'done, of another request': (generation) => saved(earlier(a), { generation }),
  };

  test.each([
    [['done'], 0],
    [['done', 'done'], 0],
    [['running', 'done'], 0],
    [['failed', 'done'], 1],
    [['lost', 'running'], 1],
    [['refused', 'done'], 1],
    [['refused', 'running'], 1],
    [['intent', 'done'], 1],
    [['unresolved', 'running'], 1],
    [['intent', 'unresolved'], 0],
    [['unresolved', 'intent'], 0],
    [['failed', 'intent'], 1],
    [['lost', 'unresolved'], 1],
    [['refused', 'intent'], 1],
    [['refused', 'unresolved'], 1],
    [['refused', 'refused'], 0],
    [['refused', 'failed'], 1],
    [['refused', 'lost'], 1],
    [['refused', 'written off'], 0],
    [['written off'], undefined],
    [['written off', 'failed'], 1],
    [['failed', 'refused'], 0],
    [['lost', 'refused'], 0],
    [['failed', 'refused', 'intent'], 2],
    [['failed', 'intent', 'refused'], 1],
    [['failed', 'lost'], 0],
    [['lost', 'failed'], 0],
    [['done, of another request', 'failed'], 1],
    [['done, of another request'], undefined],
  ])('newest first: %j', (names, index) => {
    const purchases = names.map((name, nth) => states[name]?.(names.length - nth)).filter((one) => one !== undefined);
    const purchase = purchaseOf({ address: 'a', kind: 'music', purchases }, a.fingerprint);
    expect(purchase).toEqual(index === undefined ? undefined : purchases[index]);
  });

  test('what is forgotten does not', () => {
    const record = lockOf({ a: [job(a, { generation: 2, state: 'failed' }), forgotten(saved(a))] });
    expect(found(graph, record)).toEqual([{ is: 'a', record: ['a-2', 'a-1'], purchase: 'a-2' }]);
  });
});

describe('a step without a purchase of its own', () => {
  const other = earlier(a);

  test('has nothing where nothing is on record', () => {
    expect(found(graph, lockOf({}))).toEqual([{ is: 'a' }]);
    expect(found(graph, lockOf({ old: [saved(other)] }))).toEqual([{ is: 'a' }]);
  });

  test('takes what stands under an address that the manifest no longer has, with all that is on record there', () => {
    const lock = lockOf({
      a: [saved(other, { generation: 3, jobId: 'own' })],
      old: [saved(a, { generation: 2, jobId: 'wanted' }), job(other, { jobId: 'before', state: 'failed' })],
    });
    expect(found(graph, lock)).toEqual([
      { is: 'a', record: ['own', 'wanted', 'before'], purchase: 'wanted', movedFrom: 'old' },
    ]);
  });

  test('takes what was refused, so that its key is not used again, but rather what was not', () => {
    const refused = create(a, { state: 'refused' });
    const taken = { is: 'a', record: [refused.key], purchase: refused.key, movedFrom: 'old' };
    expect(found(graph, lockOf({ old: [refused] }))).toEqual([taken]);
    expect(found(graph, lockOf({ old: [refused], older: [job(a)] }))[0]).toMatchObject({ movedFrom: 'older' });
  });

  test.each<[PurchaseState, PurchaseState, string]>([
    ['refused', 'done', 'old'],
    ['refused', 'running', 'old'],
    ['refused', 'failed', 'old'],
    ['failed', 'done', 'old'],
    ['lost', 'running', 'old'],
    ['failed', 'intent', 'a'],
    ['intent', 'done', 'a'],
  ])('where its own is %s and there is one that is %s, it stands on that of %s', (own, other, which) => {
    const of = (state: PurchaseState) =>
      state === 'refused' || state === 'intent' || state === 'unresolved' ? create(a, { state }) : job(a, { state });
    const [match] = situate(graph, lockOf({ a: [of(own)], old: [of(other)] })).matches;
    expect(match?.movedFrom ?? 'a').toBe(which);
    expect(match?.purchase?.state).toBe(which === 'a' ? own : other);
  });

  test('does not take what another step stands on, nor what was forgotten', () => {
    const twins = graphOfSteps([song('a'), song('b', { request: { prompt: 'a' } })]);
    expect(found(twins, lockOf({ b: [saved(a)] }))).toEqual([
      { is: 'a', sharesJobOf: 'b' },
      { is: 'b', record: ['a-1'], purchase: 'a-1' },
    ]);
    expect(found(graph, lockOf({ old: [forgotten(saved(a))] }))).toEqual([{ is: 'a' }]);
  });

  test('takes what another step has on record and does not want any more', () => {
    const exchanged = graphOfSteps([song('a'), song('b')]);
    const b = stepOf(exchanged, 'b');
    const lock = lockOf({ a: [saved(b)], b: [saved(a)] });
    expect(found(exchanged, lock)).toEqual([
      { is: 'a', record: ['a-1', 'b-1'], purchase: 'a-1', movedFrom: 'b' },
      { is: 'b', record: ['a-1', 'b-1'], purchase: 'b-1', movedFrom: 'a' },
    ]);
  });
});

const twins = graphOfSteps(['a', 'b', 'c'].map((address) => song(address, { request: { prompt: 'same' } })));
const same = stepOf(twins, 'a');

test('equal requests share the first job that is bought', () => {
  const lock = lockOf({ b: [saved(same, { jobId: 'b' })], c: [saved(same, { jobId: 'c' })] });
  expect(found({ ...twins, steps: [...twins.steps, { ...same, address: 'd' }] }, lock)).toEqual([
    { is: 'a', sharesJobOf: 'b' },
    { is: 'b', record: ['b'], purchase: 'b' },
    { is: 'c', record: ['c'], purchase: 'c' },
    { is: 'd', sharesJobOf: 'b' },
  ]);
});

describe('match listed', () => {
  const fields = ['prompt', 'model', 'ratio', 'duration'];

  const cases: [
    name: string,
    request: { [field: string]: Json },
    echoes: { [field: string]: Json },
    likeness: string,
  ][] = [
    ['equal in all', { prompt: 'a', duration: 5 }, { prompt: 'a', duration: 5 }, 'exact'],
    ['what the service chose', { prompt: 'a' }, { prompt: 'a', model: 'm', ratio: '1:1', duration: 5 }, 'exact'],
    ['what the record does not show', { prompt: 'a', ratio: '1:1' }, { prompt: 'a' }, 'exact'],
    ['another form of Unicode', { prompt: 'caf\u00e9' }, { prompt: 'cafe\u0301' }, 'exact'],
    ['another case', { prompt: 'A dog' }, { prompt: 'a dog' }, 'near'],
    ['another model', { prompt: 'a', model: 'm' }, { prompt: 'a', model: 'n' }, 'near'],
    ['a number as a text', { prompt: 'a', duration: 5 }, { prompt: 'a', duration: '5' }, 'near'],
    ['another text', { prompt: 'a' }, { prompt: 'b' }, 'other'],
    ['no text shown', { prompt: 'a', ratio: '1:1' }, { ratio: '1:1' }, 'other'],
    ['a text that is a link of another step', { prompt: { $ref: 'x', field: 'url' } }, { prompt: 'a' }, 'other'],
    ['a link of another step', { prompt: { $ref: 'x', field: 'url' } }, { prompt: 'https://a.example/b' }, 'near'],
    ['a field that is a link', { prompt: 'a', ratio: { $ref: 'x' } }, { prompt: 'a', ratio: 'r' }, 'exact'],
    ['a name that every object has', { prompt: 'a' }, { prompt: 'a', toString: 'x' }, 'exact'],
  ];
  test.each(cases)('a listed record is of a request: %s', (_name, request, echoes, likeness) => {
    expect(compareListed(request, echoes, fields)).toBe(likeness);
  });

  function job(jobId: string, prompt: string, minute = 0): ListedRecord {
    const createdAt = `2030-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;
    return { kind: 'video', jobId, echoes: { prompt }, createdAt };
  }

  function find(tasks: string, jobs: ListedRecord[]) {
    const graph = graphOf(`version: 1\nname: t\ntasks:\n${tasks}`);
    const { adopted, open } = matchListed(situate(graph, emptyLock()).matches, jobs, (kind) =>
      Object.keys(kinds[kind]?.list?.echoes ?? {}),
    );
    return {
      adopted: adopted.map(({ match, job: one }) => `${match.step.address} ${one.jobId}`),
      open: open.map(
        ({ match, jobs: found }) =>
          `${match.step.address} ${found.map((one) => `${one.job.jobId} ${one.likeness}`).join(' ')}`,
      ),
    };
  }

  const one = '  a: { kind: video, with: { prompt: go } }\n';
  const takes = '  a: { kind: video, takes: 3, with: { prompt: go } }\n';
  const two = `${one}  b: { kind: video, with: { prompt: go, duration: 5 } }\n`;
  const spoken = { ...job('j', 'go'), kind: 'voiceover', echoes: { text: 'go' } };

  test.each<[string, string, ListedRecord[], adopted: string[], open: string[]]>([
    ['one of each: adopted', one, [job('j', 'go'), job('k', 'stay')], ['a j'], []],
    ['two jobs for one step: a person decides', one, [job('j', 'go'), job('k', 'go')], [], ['a j exact k exact']],
    ['only near: a person decides', one, [job('j', 'Go')], [], ['a j near']],
    ['another kind: no', one, [spoken], [], []],
    ['takes by the age of jobs', takes, [job('late', 'go', 2), job('early', 'go', 1)], ['a/1 early', 'a/2 late'], []],
    ['a job of two different requests: a person decides', two, [job('j', 'go')], [], ['a j exact', 'b j exact']],
  ])('jobs and steps: %s', (_name, tasks, jobs, adopted, open) => {
    expect(find(tasks, jobs)).toEqual({ adopted, open });
  });
});

describe('orphans', () => {
  const graph = graphOfSteps([song('a'), song('b')]);
  const b = stepOf(graph, 'b');
  const one = saved(a, { jobId: 'one', key: 'k-1' });
  const two = saved(earlier(a), { jobId: 'two', key: 'k-2', generation: 2 });
  const refused = create(earlier(a), { state: 'refused', generation: 3, key: 'k-3' });
  const open = create(a, { generation: 4, key: 'k-4', send: 's-4' });
  const off = create(a, { generation: 4, key: 'k-4', send: 's-4', writtenOff: true });

  function left(lock: Lock): Record<string, Decisions | undefined> {
    return Object.fromEntries(
      [...withoutMovedAway(lock, outlineOf(graph)).steps].map(([address, one]) => [address, one.decisions]),
    );
  }

  type Closed = Record<string, Partial<StepRecord>>;

  test.each<[string, Record<string, Purchase[]>, string[], Closed?]>([
    ['goes when every purchase has another address', { old: [two, one], a: [two, one] }, ['a']],
    ['goes when its purchases have two other addresses', { old: [two, one], a: [one], b: [two] }, ['a', 'b']],
    ['goes with what was refused', { old: [refused, one], a: [one] }, ['a']],
    ['goes with an open send that has another address', { old: [open], a: [open] }, ['a']],
    [
      'goes when its send is closed at the other address',
      { old: [open], a: [job(a, { jobId: 'four', key: 'k-4' })] },
      ['a'],
      { a: { closes: ['s-4'] } },
    ],
    [
      'goes when its send was decided about at the other address',
      { old: [open], a: [refused] },
      ['a'],
      { a: { decisions: { sends: ['s-4'] } } },
    ],
    [
      'goes when its send is closed at an address that goes, too',
      { old: [open, one], older: [one], a: [one] },
      ['a'],
      { older: { closes: ['s-4'] } },
    ],
    [
      'stays with a send whose key has found a job at the other address: that says nothing of this one',
      { old: [open], a: [job(a, { jobId: 'four', key: 'k-4' })] },
      ['old', 'a'],
    ],
    [
      'stays with a send beside another one of the same key',
      { old: [open], a: [{ ...open, send: 's-5' }] },
      ['old', 'a'],
    ],
    [
      'stays with a job whose id is that of another request',
      { old: [one], a: [{ ...two, jobId: 'one' }] },
      ['old', 'a'],
    ],
    ['goes with a send that was written off, when that has another address', { old: [off], a: [off] }, ['a']],
    ['stays with a send that was written off, and stands nowhere else', { old: [off, one], a: [one] }, ['old', 'a']],
    ['goes where nothing is left of it', { old: [refused] }, []],
    [
      'stays where nothing is left but what was decided about a send: a branch may come back that has it open',
      { old: [refused] },
      ['old'],
      { old: { decisions: { sends: ['s-9'] } } },
    ],
    ['stays while one purchase has no other address', { old: [two, one], a: [one] }, ['old', 'a']],
    ['stays while an open send has no other address', { old: [open, one], a: [one] }, ['old', 'a']],
    ['stays where the other address is no part of the manifest', { old: [one], older: [one] }, ['old', 'older']],
    ['stays where the manifest has it', { a: [one], b: [one] }, ['a', 'b']],
  ])('the record that a rename has left behind: %s', (_name, records, addresses, closed = {}) => {
    const { steps } = lockOf(records);
    for (const [address, record] of steps) steps.set(address, { ...record, ...closed[address] });
    expect(Object.keys(left({ version: 2, steps }))).toEqual(addresses);
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
    const renumbered = (purchase: Purchase, generation: number): Purchase => ({ ...purchase, generation });
    const marks = (lock: Lock) =>
      [...withoutMovedAway(lock, outlineOf(graph)).steps].flatMap(([address, { purchases }]) =>
        purchases.filter((one) => one.forgotten).map((one) => `${address} ${one.jobId ?? one.key}`),
      );

    test.each<[string, Record<string, Purchase[]>, string[]]>([
      ['part of it was, and that part is at the new address', { old: [two, forgotten(one)], a: [two, one] }, ['a one']],
      ['all of it was: somebody has given it another address on purpose', { old: [forgotten(one)], a: [one] }, []],
      ['something else at the new address stays', { old: [two, forgotten(one)], a: [own, two, one] }, ['a one']],
      [
        'one id of two requests: two jobs',
        { old: [two, forgotten(one)], a: [{ ...own, jobId: 'one' }, two, one] },
        ['a one'],
      ],
      [
        'it has another number there',
        { old: [two, forgotten(one)], a: [renumbered(two, 5), renumbered(one, 4)] },
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
});
