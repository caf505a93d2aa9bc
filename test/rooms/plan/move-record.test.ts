import { describe, expect, test } from 'vitest';
import { type Advice, call, way } from '../../../src/ground/advice.ts';
import type { Decisions, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { moveRecord } from '../../../src/plan/decisions/forget.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('new'), song('old')]);
const step = stepOf(graph, 'new');
const was = earlier(step);

const recordOf = (address: string, purchases: Purchase[], decisions?: Decisions): StepRecord => ({
  address,
  kind: 'music',
  purchases,
  ...(decisions !== undefined && { decisions }),
});
const old = (purchases: Purchase[], decisions?: Decisions) => recordOf('old', purchases, decisions);
const target = { step, price: 4 };

describe('what stands on record for one address becomes that of another', () => {
  test('with every purchase, and the old address counts as never bought', () => {
    const purchases = [saved(step, { generation: 3, credits: 2 }), job(was, { state: 'failed', credits: 1 })];
    expect(moveRecord(old(purchases), target)).toStrictEqual({
      is: 'recorded',
      address: 'new',
      text: 'now has the purchases of old: 2 jobs of 3 credits',
      records: [recordOf('new', purchases), old(purchases.map(forgotten))],
    });
  });

  test('above what the new address has forgotten', () => {
    const off = create(was, { writtenOff: true });
    const purchases = [saved(step, { generation: 3 }), forgotten(saved(was, { generation: 2, credits: 9 })), off];
    const decisions = { pin: { fingerprint: step.fingerprint, revision: 2 }, sends: ['s9'] };
    const record = recordOf(
      'new',
      [forgotten(saved(was, { generation: 5 })), saved(was, { generation: 1 })].map(forgotten),
    );
    expect(moveRecord(old(purchases, decisions), { ...target, record })).toStrictEqual({
      is: 'recorded',
      address: 'new',
      text: 'now has the purchases of old: 1 job of 4 credits',
      records: [
        recordOf(
          'new',
          purchases.map((one) => ({ ...one, generation: one.generation + 5 })),
          decisions,
        ),
        // What may have been charged cannot be forgotten.
        old([...purchases.slice(0, 2).map(forgotten), off], decisions),
      ],
    });
  });
});

const paid = old([saved(step)]);
const free = way(
  'decide which job counts; to forget the job of this step (its id stays on record)',
  call('forget', 'new'),
);
const again = way('run apply, which sends the create request again; if the answer stays lost', call('resolve', 'old'));
const failed = job(was, { jobId: 'own', state: 'failed' });

test.each<[string, StepRecord, Partial<Parameters<typeof moveRecord>[1]>, string, Advice]>([
  [
    'a step to itself',
    recordOf('new', [saved(step)]),
    {},
    'is the same address',
    'name the recorded address first, then the new address',
  ],
  [
    'one kind to another',
    { ...paid, kind: 'image' },
    {},
    'is of kind music, not image',
    'move a purchase only to a step of the same kind',
  ],
  [
    'a create request whose answer was lost',
    old([saved(step), create(was)]),
    {},
    'cannot take over old: it has a create request whose answer was lost',
    again,
  ],
  [
    'what was never bought',
    old([create(step, { state: 'refused' })]),
    {},
    'has no purchase to take over: nothing was bought for old',
    way('to see the orphans of the lock', call('status')),
  ],
  [
    'anything over a job',
    paid,
    { record: recordOf('new', [create(was, { state: 'refused' }), failed]) },
    'has job own of its own',
    free,
  ],
  [
    'anything over a create request whose answer was lost',
    paid,
    { record: recordOf('new', [create(was)]) },
    'has a create request whose answer was lost',
    free,
  ],
  [
    'what the manifest asks for where it is',
    old([saved(stepOf(graph, 'old'))]),
    { oldStep: stepOf(graph, 'old') },
    'cannot take over old: the manifest still contains that step with the same request',
    'change the manifest first. If only keys were swapped, no move is needed',
  ],
])('is not moved: %s', (_name, record, to, text, hint) => {
  expect(moveRecord(record, { ...target, ...to })).toEqual({ is: 'refused', address: 'new', text, hint });
});
