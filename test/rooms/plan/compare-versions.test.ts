import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { emptyLock } from '../../../src/lock/write.ts';
import { type ComparedStep, compareVersions } from '../../../src/plan/compare/compare-versions.ts';
import { runs } from '../../rig/runs.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';
import { addresses, lock as locks } from '../lock/records.ts';
import { lockOf, picture, saved, song, stepOf, urlOf } from './facts.ts';

/** Campaigns that share addresses and requests with each other; some steps use the one before them. */
const graphs: fc.Arbitrary<Graph> = fc
  .uniqueArray(
    fc.record({
      address: fc.constantFrom(...addresses, 'a', 'b', 'c'),
      prompt: fc.constantFrom('a lamp', 'a vase', 'a red lamp'),
      kind: fc.constantFrom('image', 'music'),
      follows: fc.boolean(),
    }),
    { selector: ({ address }) => address, maxLength: 6 },
  )
  .map((wanted) =>
    graphOfSteps(
      wanted.map(({ address, prompt, kind, follows }, index): WrittenStep => {
        const before = wanted[index - 1];
        const images = follows && before !== undefined ? { referenceImages: [urlOf(before.address)] } : {};
        return { address, kind, request: { prompt, ...(kind === 'music' && { model: 'song-7.5' }), ...images } };
      }),
      { prices: { image: 3 } },
    ),
  );

/** Locks in which some steps of a campaign are bought, beside whatever else. */
const versions = fc.record({ graph: graphs, lock: locks, bought: fc.nat(63) }).map(({ graph, lock, bought }) => {
  const own = graph.steps.filter((_, index) => (bought >> index) % 2 === 1);
  const records = lockOf(Object.fromEntries(own.map((step) => [step.address, [saved(step)]])));
  return { graph, lock: { ...lock, steps: new Map([...lock.steps, ...records.steps]) } };
});

describe('two versions of a campaign', () => {
  it('are the same as themselves, whatever they are', () => {
    fc.assert(
      fc.property(versions, (version) => {
        const { steps, there, here, bought, boughtThere, discarded } = compareVersions(version, version);
        expect({ steps, bought, boughtThere, discarded }).toEqual({
          steps: [],
          bought: [],
          boughtThere: [],
          discarded: 0,
        });
        expect(there).toEqual(here);
      }),
      { numRuns: runs(200) },
    );
  });

  it('differ by the sum of what their steps differ by, and seen from the other one by the opposite', () => {
    fc.assert(
      fc.property(versions, versions, (one, other) => {
        // One source of prices, so that both ways see the same.
        const [a, b] = [one, { ...other, lock: one.lock }];
        const compared = compareVersions(a, b);
        const back = compareVersions(b, a);
        const sum = ({ steps }: { steps: ComparedStep[] }) =>
          steps.reduce((total, { credits }) => total + (credits.here ?? 0) - (credits.there ?? 0), 0);
        expect(sum(compared)).toBe(compared.here.credits - compared.there.credits);
        expect(sum(back) + sum(compared)).toBe(0);
        const count = ({ steps }: { steps: ComparedStep[] }, change: string) =>
          steps.filter((step) => step.change === change).length;
        expect(compared.there.steps + count(compared, 'added')).toBe(compared.here.steps + count(compared, 'removed'));
      }),
      { numRuns: runs(200) },
    );
  });

  const before = graphOfSteps([song('a'), picture('b'), picture('c', { request: { referenceImages: [urlOf('b')] } })]);
  const after = graphOfSteps([
    { ...song('z'), request: song('a').request },
    picture('b', { request: { prompt: 'a red b' } }),
    picture('c', { request: { prompt: 'c', referenceImages: [urlOf('b')] } }),
    song('new'),
  ]);
  const [a, b] = [stepOf(before, 'a'), stepOf(before, 'b')];

  it('say what moved, what changed with its words, what follows it, and what is new', () => {
    const { steps } = compareVersions({ graph: before, lock: emptyLock() }, { graph: after, lock: emptyLock() });
    expect(steps.map(({ change, address, text }) => `${change} ${address}: ${text}`)).toEqual([
      'moved z: was a',
      'changed b: prompt: “b” → “a red b”',
      'changed c: follows b',
      'added new: new',
    ]);
  });

  it.each<[string, Lock, Lock, number]>([
    ['what is bought and asked for no more', lockOf({ b: [saved(b)] }), lockOf({ b: [saved(b)] }), 4],
    ['also where the lock here does not know of it', lockOf({ b: [saved(b)] }), emptyLock(), 4],
    ['not what has another address now', lockOf({ a: [saved(a)] }), lockOf({ a: [saved(a)] }), 0],
    ['not what was given up there already', lockOf({ gone: [saved(b, { fingerprint: '1:gone' })] }), emptyLock(), 0],
  ])('give up paid work: %s', (_name, there, here, discarded) => {
    expect(compareVersions({ graph: before, lock: there }, { graph: after, lock: here }).discarded).toBe(discarded);
  });
});
