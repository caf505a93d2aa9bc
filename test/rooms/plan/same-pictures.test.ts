import { describe, expect, test } from 'vitest';
import type { Output } from '../../../src/lock/record.ts';
import { situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { lockOf, output, picture, planOf, saved, stepOf } from './facts.ts';

const differing = { expect: { same: false as const } };
const graph = graphOfSteps([
  picture('pic@a', differing),
  picture('pic@b', differing),
  picture('pic@c', differing),
  picture('other', differing),
]);
const hashes: Readonly<Record<string, string>> = {
  a: '00ff00ff00ff00ff',
  // A bit of compression.
  b: '00ff00ff00ff00fe',
  c: 'f0f0f0f00f0f0f0f',
  other: '00ff00ff00ff00ff',
};
const done = (more: Partial<Output> = {}) =>
  lockOf(
    Object.fromEntries(
      graph.steps.map(({ address }) => {
        const name = address.replace('pic@', '');
        return [
          address,
          [
            saved(stepOf(graph, address), {
              outputs: [
                output(`output/${address.replace('@', '-')}.png`, {
                  sha256: name,
                  type: 'image/png',
                  ...(name === 'b' && more),
                }),
              ],
            }),
          ],
        ];
      }),
    ),
  );
const mediaFacts = ({ sha256 }: Output) => ({ isBlank: false, looks: { hash: hashes[sha256] ?? '', shape: 1 } });
const actions = (facts: Parameters<typeof planOf>[2], lock = done()) =>
  planOf(graph, lock, facts).rows.map(({ address, action }) => `${address} ${action}`);

describe('pictures of a task that look the same', () => {
  test('fail but the first, which is named; those of another task are not compared', () => {
    const { rows } = planOf(graph, done(), { mediaFacts });
    expect(rows.map(({ address, action }) => `${address} ${action}`)).toEqual([
      'pic@a keep',
      'pic@b failed',
      'pic@c keep',
      'other keep',
    ]);
    expect(rows[1]?.reason.text).toBe(
      'output/pic-b.png does not fit `expect`: it is the same picture as that of `pic@a`; change `expect`, take it as it is with `accept`, or buy it again with --redo',
    );
    const { unfit } = withFiles(situate(graph, done()), { fileState: () => 'intact', mediaFacts });
    expect([...unfit].map(([address, { output: file, unmet }]) => [address, file.path, unmet])).toEqual([
      ['pic@b', 'output/pic-b.png', 'it is the same picture as that of `pic@a`'],
    ]);
  });

  test('may be so where a person took one as it is', () => {
    expect(actions({ mediaFacts }, done({ accepted: true }))).toEqual([
      'pic@a keep',
      'pic@b keep',
      'pic@c keep',
      'other keep',
    ]);
  });

  test('of which the first is not here stand for themselves', () => {
    const fileState = ({ sha256 }: Output) => (sha256 === 'a' ? 'missing' : 'intact') as 'missing' | 'intact';
    expect(actions({ mediaFacts, fileState })[1]).toBe('pic@b keep');
  });

  test('fail as they did in the run: the one that came second, wherever the manifest has it', () => {
    const lock = done({ type: 'image/png' });
    const [a] = lock.steps.get('pic@a')?.purchases[0]?.outputs ?? [];
    if (a === undefined) throw new Error('pic@a has no output');
    a.same = true;
    expect(actions({ mediaFacts }, lock).slice(0, 2)).toEqual(['pic@a failed', 'pic@b keep']);
    const fileState = ({ sha256 }: Output) => (sha256 === 'b' ? 'missing' : 'intact') as 'missing' | 'intact';
    expect(actions({ mediaFacts, fileState }, lock)[0]).toBe('pic@a keep');
  });

  test('that cannot be decoded are never passed in silence', () => {
    expect(planOf(graph, done(), { mediaFacts: () => ({}) }).rows[2]?.reason.text).toContain('cannot be decoded here');
  });
});
