import { describe, expect, it } from 'vitest';
import { limit, situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';
import { lockOf, saved, stepOf } from './facts.ts';

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
