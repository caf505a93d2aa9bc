import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { type StepState, stateOfStep } from '../../../src/plan/situation/step-state.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, earlier, forgotten, job, lockOf, saved, song, stepOf } from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');

function stateOf(given: Graph, lock: Lock, address: string): StepState {
  const situation = situate(given, lock);
  return stateOfStep(situation.byAddress.get(address), situation);
}

describe('the state of a step', () => {
  test.each<[string, Purchase[], StepState]>([
    ['nothing is on record', [], 'not-bought'],
    ['it is done', [saved(a)], 'done'],
    ['its job runs', [job(a)], 'running'],
    ['its job failed', [job(a, { state: 'failed' })], 'failed'],
    ['its job is not known any more', [job(a, { state: 'lost' })], 'lost'],
    ['nobody knows whether it was paid', [create(a, { state: 'unresolved' })], 'unresolved'],
    ['its create was never answered', [create(a)], 'unresolved'],
    ['it was refused', [create(a, { state: 'refused' })], 'not-bought'],
    ['another request was bought', [saved(earlier(a))], 'changed'],
    ['another request was refused', [create(earlier(a), { state: 'refused' })], 'not-bought'],
    [
      'another request was refused after it was bought',
      [create(earlier(a), { state: 'refused', generation: 2 }), saved(earlier(a))],
      'changed',
    ],
  ])('%s', (_name, purchases, state) => {
    expect(stateOf(graph, lockOf(purchases.length === 0 ? {} : { a: purchases }), 'a')).toBe(state);
  });

  test('nobody has bought what is forgotten', () => {
    expect(stateOf(graph, lockOf({ a: [forgotten(saved(a))] }), 'a')).toBe('not-bought');
  });

  test('a step that the campaign does not have is not bought', () => {
    expect(stateOf(graph, lockOf({}), 'b')).toBe('not-bought');
  });

  test('a step stands where the job stands that it shares', () => {
    const twins = graphOfSteps([song('a'), song('b', { request: { prompt: 'a' } })]);
    expect(stateOf(twins, lockOf({ a: [job(a)] }), 'b')).toBe('running');
    expect(stateOf(twins, lockOf({ a: [job(a)], b: [saved(earlier(a))] }), 'b')).toBe('running');
    expect(stateOf(twins, lockOf({}), 'b')).toBe('not-bought');
  });
});
