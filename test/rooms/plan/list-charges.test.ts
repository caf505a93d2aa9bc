import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { listCharges } from '../../../src/plan/prices/list-charges.ts';
import { type CostDimension, sumCharges, tallyCharges } from '../../../src/plan/prices/tally-charges.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { makeStatus } from '../../../src/report/status/status.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { addresses, lock as locks } from '../lock/records.ts';
import { create, earlier, forgotten, job, lockOf, picture, saved, song, stepOf } from './facts.ts';

/** Some of the addresses that the locks have, asking for what some of them bought. */
const graphs: fc.Arbitrary<Graph> = fc
  .array(
    fc.record({ address: fc.constantFrom(...addresses, 'new@x'), bought: fc.constantFrom('1:aa', '1:bb', '1:cc') }),
    {
      maxLength: 5,
    },
  )
  .map((wanted) => {
    const unique = [...new Map(wanted.map((one) => [one.address, one])).values()];
    const graph = graphOfSteps(unique.map(({ address }) => picture(address)));
    const steps = graph.steps.map((step, index) => ({ ...step, fingerprint: unique[index]?.bought ?? '' }));
    return { ...graph, steps, prices: { image: 3 } };
  });

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);

it('says of every credit of the status where it went, once, whatever it is told apart by', () => {
  fc.assert(
    fc.property(graphs, locks, fc.subarray<CostDimension>(['task', 'kind', 'model', 'tag']), (graph, lock, by) => {
      const situation = situate(graph, lock);
      const { credits } = makeStatus({ situation, present: new Map() });
      const charges = listCharges(situation);
      const totals = sumCharges(charges);
      expect(totals).toMatchObject({ spent: credits.spent, held: credits.held, heldUnknown: credits.heldUnknown });
      const { delivered, running, failed, superseded } = totals;
      expect(delivered + running + failed + superseded).toBe(credits.spent);
      expect(new Set(charges.map(({ name }) => name)).size).toBe(charges.length);
      const rows = tallyCharges(charges, by);
      for (const name of Object.keys(totals) as (keyof typeof totals)[]) {
        expect(sum(rows.map((row) => row.credits[name]))).toBe(totals[name]);
      }
      expect(sum(rows.map(({ jobs }) => jobs))).toBe(charges.length);
    }),
    { numRuns: 200 },
  );
});

describe('where credits went', () => {
  const graph = graphOfSteps([song('a'), song('b'), song('c')]);
  const [a, b] = [stepOf(graph, 'a'), stepOf(graph, 'b')];
  const went = (lock: Lock) => Object.fromEntries(listCharges(situate(graph, lock)).map((one) => [one.id, one.went]));

  it.each<[string, Lock, Record<string, string>]>([
    ['to what a step has', lockOf({ a: [saved(a)] }), { 'a-1': 'delivered' }],
    ['to a job that runs', lockOf({ a: [job(a)] }), { 'a-1': 'running' }],
    ['to a failed job', lockOf({ a: [job(a, { state: 'failed' })] }), { 'a-1': 'failed' }],
    [
      'to what was bought again',
      lockOf({ a: [saved(a, { generation: 2 }), saved(a, { generation: 1 })] }),
      { 'a-2': 'delivered', 'a-1': 'superseded' },
    ],
    ['to what its step no longer asks for', lockOf({ a: [saved(earlier(a))] }), { 'a-1': 'superseded' }],
    ['to a step that is gone', lockOf({ old: [saved(earlier(a))] }), { 'a-1': 'superseded' }],
    ['to a step that has another name now', lockOf({ old: [saved(b)] }), { 'b-1': 'delivered' }],
    ['to what was forgotten', lockOf({ a: [forgotten(saved(a))] }), { 'a-1': 'superseded' }],
    ['to a create that nobody has answered', lockOf({ a: [create(a)] }), { 'send of a 1.1': 'held' }],
    [
      'to a job whose charge nobody has said',
      (() => {
        const { credits: _credits, ...unknown } = saved(a);
        return lockOf({ a: [unknown] });
      })(),
      { 'a-1': 'held' },
    ],
  ])('%s', (_name, lock, expected) => expect(went(lock)).toEqual(expected));

  it('a job that stands at two addresses is one charge, of the step that has it', () => {
    const lock = lockOf({ old: [saved(b)], b: [saved(b)] });
    expect(listCharges(situate(graph, lock))).toEqual([
      expect.objectContaining({ address: 'b', task: 'b', went: 'delivered', credits: 4 }),
    ]);
  });

  it('the model of an earlier purchase is known where the same request is on record elsewhere, else not', () => {
    const { request: _request, ...bare } = saved(earlier(a), { jobId: 'old' });
    const models = (lock: Lock) => listCharges(situate(graph, lock)).map(({ model }) => model);
    expect(models(lockOf({ a: [bare] }))).toEqual([null]);
    expect(models(lockOf({ a: [bare], x: [saved(earlier(a), { jobId: 'other' })] }))).toEqual(['song-7.5', 'song-7.5']);
  });
});
