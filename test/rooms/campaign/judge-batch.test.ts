import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ruleOn } from '../../../src/campaign/decisions/judge.ts';
import type { WantedVerdict } from '../../../src/contract/review.ts';
import type { Lock } from '../../../src/lock/record.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { lockOf, saved, stepOf } from '../plan/facts.ts';

const graph = graphOf(`version: 1
name: test
tasks:
  one: { kind: image, takes: 3, gate: { choose: 1 }, with: { prompt: a } }
  two: { kind: image, takes: 3, gate: { choose: 2 }, with: { prompt: b } }
  free: { kind: image, with: { prompt: c } }
  trial: { kind: image, foreach: [a, b, c], key: "{{row}}", canary: { first: 1, then: ask }, with: { prompt: "e {{row}}" } }
  late: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: d, referenceImages: ["{{tasks.one.url}}"] } }
`);
const bought = ['one/1', 'one/2', 'one/3', 'two/1', 'two/2', 'two/3', 'free', 'trial@a', 'trial@b'];

/** Its canary is not decided. */
const trial = { 'canary of trial': [] };

/** All drafts are bought, and `late` for the draft that is picked, if one is. */
function lockWith(picked?: string): Lock {
  const lock = lockOf(Object.fromEntries(bought.map((address) => [address, [saved(stepOf(graph, address))]])));
  if (picked === undefined) return lock;
  ruleOn([of(picked, 'picked', lock)], situate(graph, lock));
  for (const step of situate(graph, lock).graph.steps) {
    if (step.task === 'late')
      lock.steps.set(step.address, { address: step.address, kind: 'image', purchases: [saved(step)] });
  }
  return lock;
}

function of(address: string, is: WantedVerdict['is'], lock: Lock, note?: string): WantedVerdict {
  const job = lock.steps.get(address)?.purchases[0]?.jobId ?? 'none';
  return { address, is, job, ...(note !== undefined && { note }) };
}

/** What stands at the gates afterwards. */
function statesOf(lock: Lock): Record<string, readonly string[]> {
  const { gates } = situate(graph, lock).graph;
  return Object.fromEntries(gates.map(({ name, state }) => [name, state.picked]));
}

describe('a batch of verdicts', () => {
  test('is recorded in the order given: the last about an output counts, and a pick takes the place of another', () => {
    const lock = lockWith();
    const rulings = ruleOn(
      [
        of('one/1', 'picked', lock, 'calm'),
        of('two/1', 'rejected', lock),
        of('one/2', 'picked', lock),
        of('two/2', 'picked', lock),
        of('two/1', 'picked', lock),
        of('one/3', 'rejected', lock),
        of('one/3', 'undecided', lock),
      ],
      situate(graph, lock),
    );
    expect(rulings.map(({ is }) => is)).toEqual(Array.from({ length: 7 }, () => 'recorded'));
    expect(statesOf(lock)).toEqual({ one: ['one/2'], two: ['two/1', 'two/2'], late: [], ...trial });
  });

  test('one that is refused does not keep the others from being recorded', () => {
    const lock = lockWith();
    const rulings = ruleOn(
      [
        of('two/1', 'picked', lock),
        { address: 'gone', is: 'picked', job: 'x' },
        of('free', 'picked', lock),
        { ...of('one/1', 'picked', lock), job: 'another' },
        { address: 'late/1', is: 'picked', job: 'x' },
        of('two/2', 'picked', lock),
        of('two/3', 'picked', lock),
        of('one/3', 'picked', lock),
      ],
      situate(graph, lock),
    );
    expect(rulings.map(({ is }) => is)).toEqual([
      ...['recorded', 'refused', 'refused', 'refused', 'refused', 'recorded', 'refused', 'recorded'],
    ]);
    const texts = rulings.map(({ address, text }) => `${address} ${text}`);
    expect(texts[1]).toBe('gone is not a step of the manifest');
    expect(texts[2]).toContain('has no gate');
    expect(texts[3]).toBe('one/1 has changed since its review: the reviewed output was of job another');
    expect(texts[4]).toContain('has no purchase');
    expect(texts[6]).toContain('only 2 of two can be picked, and two/1, two/2 are already');
    expect(statesOf(lock)).toEqual({ one: ['one/3'], two: ['two/1', 'two/2'], late: [], ...trial });
  });

  test('what hangs on a pick that the same batch changes is judged as it is then, through steps about which nobody is asked, too', () => {
    const chain = graphOf(`version: 1
name: test
tasks:
  one: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: a } }
  mid: { kind: image, with: { prompt: b, referenceImages: ["{{tasks.one.url}}"] } }
  end: { kind: image, gate: approve, with: { prompt: c, referenceImages: ["{{tasks.mid.url}}"] } }
`);
    const lock = lockOf(Object.fromEntries(['one/1', 'one/2'].map((one) => [one, [saved(stepOf(chain, one))]])));
    ruleOn([of('one/1', 'picked', lock)], situate(chain, lock));
    for (const address of ['mid', 'end']) {
      const step = stepOf(situate(chain, lock).graph, address);
      lock.steps.set(address, { address, kind: 'image', purchases: [saved(step)] });
    }
    const rulings = ruleOn(
      [
        of('end', 'rejected', lock),
        of('one/2', 'picked', lock),
        of('end', 'picked', lock),
        of('one/1', 'picked', lock),
        of('end', 'picked', lock),
      ],
      situate(chain, lock),
    );
    expect(rulings.map(({ is }) => is)).toEqual(['recorded', 'recorded', 'refused', 'recorded', 'recorded']);
  });

  const verdict = fc.record({
    address: fc.constantFrom(...bought, 'late/1', 'late/2', 'gone'),
    is: fc.constantFrom<WantedVerdict['is']>('picked', 'rejected', 'undecided'),
    isOther: fc.constantFrom(false, false, false, false, true),
    note: fc.option(fc.constantFrom('calm', 'loud'), { nil: undefined }),
  });
  forAll([fc.constantFrom(undefined, 'one/1', 'one/2'), fc.array(verdict, { maxLength: 12 })], 150)(
    'property: it leaves what the same verdicts leave one by one',
    (picked, drawn) => {
      const [together, apart] = [lockWith(picked), lockWith(picked)];
      const batch = drawn.map(({ address, is, isOther, note }) => ({
        ...of(address, is, together, note),
        ...(isOther && { job: 'another' }),
      }));
      const rulings = ruleOn(batch, situate(graph, together));
      const single = batch.flatMap((one) => ruleOn([one], situate(graph, apart)));
      expect(rulings.map(({ is, text }) => `${is} ${text}`)).toEqual(single.map(({ is, text }) => `${is} ${text}`));
      expect(writeLock(together)).toEqual(writeLock(apart));
    },
  );
});
