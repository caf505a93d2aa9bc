import { describe, expect, it } from 'vitest';
import type { Gate, Graph } from '../../../src/graph/graph.ts';
import { limit, situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, picture, saved, stepOf, urlOf } from './facts.ts';

describe('a purchase that two steps need in turn', () => {
  const from = (address: string) => ({ prompt: 'k', image: urlOf(address) });
  const gate: Gate = { name: 'look', task: 'look', is: 'choose', choose: 2, members: ['one', 'two'] };
  // What is second at the gate decides whether `late` asks for what `one` asks for.
  const graph: Graph = graphOfSteps(
    [
      picture('base'),
      picture('same', { request: from('base') }),
      picture('one', { request: from('same') }),
      picture('two', { request: from('base') }),
      picture('late', { request: { prompt: 'k', image: { ...urlOf('look'), pick: 2 } }, needs: ['look'] }),
    ],
    { gates: [gate] },
  );
  const bought = (address: string) => saved(stepOf(graph, address));
  const picked = (address: string) => {
    const { fingerprint, jobId: job = '' } = bought(address);
    return { verdicts: [{ fingerprint, job, is: 'picked' as const, revision: 1 }] };
  };
  const lock = lockOf({ base: [bought('base')], same: [bought('same')], two: [bought('two')], late: [bought('one')] });
  const decide = (address: string, of: string) => {
    const record = lock.steps.get(address);
    if (record !== undefined) lock.steps.set(address, { ...record, decisions: picked(of) });
  };
  decide('two', 'two');
  decide('late', 'one');

  it('ends with one that has it, and with the other waiting', () => {
    const { graph: decided, byAddress } = situate(graph, lock);
    expect(decided.gates[0]?.state).toEqual({ is: 'open', picked: ['two'], toSee: 2 });
    expect(byAddress.get('one')).toMatchObject({ movedFrom: 'late', purchase: { jobId: bought('one').jobId } });
    expect(byAddress.get('late')?.step.waits).toEqual(['look']);
    expect(byAddress.get('late')).not.toHaveProperty('purchase');
  });
});

describe('a situation within limits', () => {
  const graph = graphOf(`version: 1
name: test
tasks:
  hero: { kind: music, foreach: [a, b, c], canary: { then: ask }, with: { model: song-7.5, prompt: "{{row}}" } }
`);
  const seats = (situation: ReturnType<typeof situate>) => situation.graph.gates.map(({ members }) => members);

  it('seats the canaries among what is selected', () => {
    const everything = withFiles(situate(graph, lockOf({})), { fileState: () => 'intact' });
    expect(seats(everything)).toEqual([['hero@a']]);
    const limits = { redo: new Set<string>(), selected: new Set(['hero@b', 'hero@c']) };
    expect(seats(limit(everything, limits))).toEqual([['hero@b']]);
    expect(limit(everything, limits)).toMatchObject(limits);
  });

  it('takes nothing that was decided about what is bought anew', () => {
    const record = saved(stepOf(graph, 'hero@a'));
    const lock = lockOf(
      { 'hero@a': [record] },
      {
        decisions: {
          verdicts: [{ fingerprint: record.fingerprint, job: record.jobId ?? '', is: 'picked', revision: 1 }],
        },
      },
    );
    const stateOf = (situation: ReturnType<typeof situate>) => situation.graph.gates[0]?.state.is;
    const everything = withFiles(situate(graph, lock), { fileState: () => 'intact' });
    expect(stateOf(everything)).toBe('decided');
    expect(stateOf(limit(everything, { redo: new Set(['hero@a']) }))).toBe('open');
  });
});
