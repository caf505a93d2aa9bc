import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import { type Advice, call, way } from '../../../src/ground/advice.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { importJob } from '../../../src/plan/decisions/import-job.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { idempotencyKey } from '../../../src/plan/purchases/key.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, deciding, earlier, forgotten, job, lockOf, matchOf, saved, sendIn, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const twins = graphOfSteps([song('b', { request: { prompt: 'a' } }), song('a')]);

function imported(given: Graph, lock: Lock, found: Parameters<typeof importJob>[1]): Ruling {
  return importJob(matchOf(given, lock, 'a'), found, { campaign: 'spring', lock });
}

const unknown = 'its charge is unknown: adopt it again with --credits N once you know';
const told = (charge: string) => `its job is job-7 (${charge}); the next apply collects it`;
const purchase: Purchase = {
  fingerprint: a.fingerprint,
  generation: 1,
  attempt: 1,
  state: 'running',
  key: idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat: 1, attempt: 1 }),
  jobId: 'job-7',
  request: a.paidRequest,
};
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

  test('brings along what is known of it', () => {
    const taken = { ...graph, steps: [{ ...a, take: 1 }] };
    const found = { jobId: 'job-7', credits: 1, recordId: 'rec-1' };
    expect(imported(taken, lockOf({}), found)).toStrictEqual(
      recorded(told('1 credit'), { ...purchase, credits: 1, recordId: 'rec-1', take: 1 }),
    );
  });

  test('comes after what was bought before', () => {
    const lock = lockOf({ a: [job(a, { generation: 2, state: 'failed' }), saved(earlier(a))] });
    const key = idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat: 2, attempt: 1 });
    expect(imported(graph, lock, { jobId: 'job-7', credits: 3 })).toStrictEqual(
      recorded(told('3 credits'), { ...purchase, generation: 3, key, credits: 3 }),
    );
  });

  test.each([
    [{}, unknown],
    [{ credits: 3 }, '3 credits'],
    [{ credits: 3, recordId: 'rec-1' }, '3 credits'],
  ])('is the answer to a create that was never answered (%j)', (charge, said) => {
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
      text: 'has several creates whose answer was lost, and the job answers one of them',
      hint: [way('say which one, as in', call('resolve', 'a', '--job', 'job-7', '--send', 's2')), 'or --send s1'],
    });
  });

  test('is no answer to a create that was written off', () => {
    const lock = lockOf({ a: [create(a, { writtenOff: true })] });
    const key = idempotencyKey({ campaign: 'spring', fingerprint: a.fingerprint, repeat: 2, attempt: 1 });
    expect(imported(graph, lock, { jobId: 'job-7' })).toStrictEqual(
      recorded(told(unknown), { ...purchase, generation: 2, key }),
    );
  });

  test('is the first purchase of a step that was only refused before', () => {
    const lock = lockOf({ a: [create(a, { state: 'refused', attempt: 2 })] });
    expect(imported(graph, lock, { jobId: 'job-7' })).toStrictEqual(recorded(told(unknown), purchase));
  });

  test('of another kind may have the same number', () => {
    const lock = lockOf({ b: [{ ...saved(earlier(a), { jobId: 'job-7' }), kind: 'video' }] });
    expect(imported(graph, lock, { jobId: 'job-7' }).is).toBe('recorded');
    const own = lockOf({ b: [{ ...saved(earlier(a), { jobId: 'job-7' }), kind: 'music' }] }, { kind: 'video' });
    expect(imported(graph, own, { jobId: 'job-7' }).is).toBe('refused');
  });

  test('is no answer to a create of another request', () => {
    const lock = lockOf({ a: [create(earlier(a), { since: '2030-01-01T00:00:00.000Z' })] });
    expect(imported(graph, lock, { jobId: 'job-7' })).toStrictEqual(
      recorded(told(unknown), { ...purchase, generation: 2 }),
    );
  });

  test('may come back after it was forgotten', () => {
    const lock = lockOf({ old: [forgotten(saved(earlier(a), { jobId: 'job-7' }))] });
    expect(imported(graph, lock, { jobId: 'job-7' }).is).toBe('recorded');
  });
});

describe('a charge that becomes known', () => {
  const { credits: _credits, ...uncharged } = saved(a, { jobId: 'job-7', generation: 2 });
  const others = [job(a, { state: 'failed' })];

  test('is recorded, and nothing else changes', () => {
    const lock = lockOf({ a: [uncharged, ...others] });
    expect(imported(graph, lock, { jobId: 'job-7', credits: 5 })).toStrictEqual({
      is: 'recorded',
      address: 'a',
      text: 'its job job-7 was charged 5 credits',
      records: [{ address: 'a', kind: 'music', purchases: [{ ...uncharged, credits: 5 }, ...others] }],
    });
  });

  test.each<[string, Lock, Parameters<typeof importJob>[1], string]>([
    [
      'it is known',
      lockOf({ a: [saved(a, { jobId: 'job-7' })] }),
      { jobId: 'job-7', credits: 5 },
      'has job job-7 already',
    ],
    ['it is still unknown', lockOf({ a: [uncharged] }), { jobId: 'job-7' }, 'has job job-7 already'],
    ['it is that of another job', lockOf({ a: [uncharged] }), { jobId: 'job-8', credits: 5 }, 'has job job-7 already'],
    [
      'the step has it under another name',
      lockOf({ old: [uncharged] }),
      { jobId: 'job-7', credits: 5 },
      'cannot have job job-7: it is on record as old',
    ],
  ])('is not recorded where %s', (_name, lock, found, text) => {
    expect(imported(graph, lock, found)).toMatchObject({ is: 'refused', text });
  });
});

describe('a job is not imported', () => {
  const room = way(
    'only a step without a job can adopt one; to free this step, while its job id stays on record',
    call('forget', 'a'),
  );
  const holding = (decisions: Parameters<typeof deciding>[2]) =>
    deciding(lockOf({ a: [saved(earlier(a))] }), 'a', decisions);
  const heldBack = {
    text: 'is pinned or accepted as it is',
    hint: 'remove the pin first, or keep the step as it is',
  };

  test.each<[string, Graph, Lock, { text: string; hint: Advice }]>([
    [
      'that another address has',
      graph,
      lockOf({ b: [saved(earlier(a), { jobId: 'job-7' })] }),
      {
        text: 'cannot have job job-7: it is on record as b',
        hint: way('to hand it over', call('move', 'b', 'a')),
      },
    ],
    [
      'to a step that is pinned to another input',
      graph,
      holding({ pin: { fingerprint: earlier(a).fingerprint, revision: 1 } }),
      heldBack,
    ],
    [
      'to a step whose output was accepted',
      graph,
      holding({ accepted: [{ wanted: a.fingerprint, fingerprint: earlier(a).fingerprint, revision: 1 }] }),
      heldBack,
    ],
    ['to a step that is done', graph, lockOf({ a: [saved(a)] }), { text: 'has job a-1 already', hint: room }],
    ['to a step whose job runs', graph, lockOf({ a: [job(a)] }), { text: 'has job a-1 already', hint: room }],
    [
      'to a step that was bought under another name',
      graph,
      lockOf({ old: [saved(a)] }),
      { text: 'has job a-1 already (bought as old)', hint: room },
    ],
    [
      'to a step that shares a job',
      twins,
      lockOf({}),
      { text: 'shares the job of b', hint: way('adopt it there', call('adopt', 'b', '--job', 'job-7')) },
    ],
  ])('%s', (_name, given, lock, said) => {
    expect(imported(given, lock, { jobId: 'job-7' })).toEqual({ is: 'refused', address: 'a', ...said });
  });
});
