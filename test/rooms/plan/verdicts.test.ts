import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type Graph, outlineOf } from '../../../src/graph/graph.ts';
import { joinInto, joinParts } from '../../../src/lock/join.ts';
import type { Lock, Verdict } from '../../../src/lock/record.ts';
import { judgeSteps } from '../../../src/plan/decisions/judge.ts';
import { withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { runs } from '../../rig/runs.ts';
import { load, tasks } from '../manifest/load.ts';
import { lockOf, output, planOf, saved } from './facts.ts';

/** Which key each row has, and which name each task: everything else stays the same. */
interface Named {
  keys: readonly string[];
  names: readonly string[];
}

const written: Named = { keys: ['k1', 'k2', 'k3'], names: ['hero', 'logo', 'poster', 'clip'] };

function graphOf({ keys, names }: Named): Graph {
  const [hero = '', logo = '', poster = '', clip = ''] = names;
  const rows = keys.map((key, index) => `{ id: ${key}, say: text ${index} }`).join(', ');
  const each = `kind: music, foreach: [${rows}], key: "{{row.id}}"`;
  const { graph, found } = load(
    tasks(
      `  ${hero}: { ${each}, takes: 3, gate: { choose: 1 }, with: { model: song-7.5, prompt: "draft {{row.say}}" } }`,
      `  ${logo}: { ${each}, gate: { choose: 1, among: all }, with: { model: song-7.5, prompt: "logo {{row.say}}" } }`,
      `  ${poster}: { ${each}, gate: approve, with: { model: song-7.5, prompt: "with {{tasks.${hero}.url}}" } }`,
      `  ${clip}: { ${each}, with: { model: song-7.5, prompt: "from {{tasks.${poster}.url}} {{tasks.${logo}.url}}" } }`,
    ),
  );
  if (graph === undefined) throw new Error(found.join());
  return graph;
}

type Is = Verdict['is'] | 'undecided';

/** Buys what the plan allows and judges it, level by level, as people and runs would do in turns. */
function carryOut(graph: Graph, isOf: (address: string) => Is): Lock {
  let lock = lockOf({});
  for (let turn = 0; turn < 3; turn++) {
    const { matches } = situate(graph, lock);
    const open = new Set(planOf(graph, lock).rows.flatMap((row) => (row.action === 'create' ? [row.address] : [])));
    for (const { step } of matches) {
      if (!open.has(step.address)) continue;
      const purchase = saved(step, { outputs: [output(`${step.save}.mp3`)] });
      const { fingerprint, jobId: job = '' } = purchase;
      const is = isOf(step.address);
      const verdicts = is === 'undecided' || is === undefined ? [] : [{ fingerprint, job, is, revision: 1 }];
      const record = { address: step.address, kind: step.kind, purchases: [purchase], decisions: { verdicts } };
      lock = { ...lock, steps: new Map([...lock.steps, [step.address, joinParts(step.address, [record])]]) };
    }
  }
  return lock;
}

/** What the plan does, and how gates stand, in terms of what is asked for: names and keys play no part. */
function tell(graph: Graph, lock: Lock): { actions: string[]; gates: string[] } {
  const { graph: decided, matches } = situate(graph, lock);
  const saysOf = new Map(
    matches.map(({ step }) => [step.address, `${JSON.stringify(step.paidRequest.prompt)} ${step.take ?? ''}`]),
  );
  const actions = planOf(graph, lock).rows.map(({ address, action }) => `${saysOf.get(address)}: ${action}`);
  const gates = decided.gates.map(({ members, state }) => {
    const says = (addresses: readonly string[] = []) => addresses.map((address) => saysOf.get(address)).sort();
    return `${says(members)}: ${state.is} ${says(state.picked)}`;
  });
  return { actions: actions.sort(), gates: gates.sort() };
}

/** What a run writes that moves everything to its new name. */
function moveAll(graph: Graph, lock: Lock, revision = 9): Lock {
  const steps = new Map(lock.steps);
  for (const { step, record, purchase } of situate(graph, lock).matches) {
    if (record === undefined || purchase?.jobId === undefined) continue;
    const moved = { ...purchase, outputs: [output(`${step.save}.mp3`)], revision };
    const others = record.purchases.filter((one) => one.jobId !== purchase.jobId);
    joinInto(steps, { address: step.address, kind: record.kind, purchases: [moved, ...others] });
  }
  return withoutMovedAway({ ...lock, steps }, outlineOf(graph));
}

const shuffled = fc.record({
  keys: fc.shuffledSubarray([...written.keys], { minLength: 3 }),
  names: fc.oneof(
    fc.shuffledSubarray([...written.names], { minLength: 4 }),
    fc.shuffledSubarray(['a', 'hero', 'b', 'poster', 'z', 'clip'], { minLength: 4, maxLength: 4 }),
  ),
});

const decisions = fc.dictionary(
  fc.constantFrom(...graphOf(written).steps.map(({ address }) => address)),
  fc.constantFrom<Is[]>('picked', 'rejected', 'undecided'),
);

/** Picks that let something follow, most of the time. */
const likely: { [address: string]: Is } = {
  'hero@k1/2': 'picked',
  'hero@k2/1': 'picked',
  'hero@k3/3': 'picked',
  'logo@k3': 'picked',
  'poster@k1': 'picked',
};

describe('whatever keys rows exchange and names tasks take', () => {
  it('what is decided stays decided, and the plan only moves', () => {
    fc.assert(
      fc.property(decisions, fc.array(shuffled, { minLength: 1, maxLength: 3 }), (changed, renames) => {
        const isOf = (address: string): Is => changed[address] ?? likely[address] ?? 'undecided';
        let lock = carryOut(graphOf(written), isOf);
        const before = tell(graphOf(written), lock);
        for (const [index, renamed] of renames.entries()) {
          const graph = graphOf(renamed);
          const now = tell(graph, lock);
          expect(now.gates).toEqual(before.gates);
          expect(now.actions.map((text) => text.replace(/: move$/, ': keep'))).toEqual(before.actions);
          lock = moveAll(graph, lock, 9 + index);
          expect(tell(graph, lock)).toEqual(before);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

describe('where verdicts stand elsewhere than their purchases', () => {
  const exchanged = graphOf({ ...written, keys: ['k2', 'k1', 'k3'] });
  const isOf = (address: string): Is => likely[address] ?? 'undecided';
  const moved = () => moveAll(exchanged, carryOut(graphOf(written), isOf));
  const judge = (lock: Lock, as: 'picked' | 'rejected' | 'undecided', address: string): Lock => {
    const situation = situate(exchanged, lock);
    const chosen = situation.matches.filter(({ step }) => step.address === address);
    const steps = new Map(lock.steps);
    for (const ruling of judgeSteps(chosen, { as, wordsOf: () => ({}) }, situation)) {
      if (ruling.is === 'recorded') for (const record of ruling.records) joinInto(steps, record);
    }
    return { ...lock, steps };
  };

  test('what is taken back does not come back when names do', () => {
    const back = graphOf(written);
    const lock = moveAll(back, judge(moved(), 'undecided', 'hero@k1/1'));
    const { graph } = situate(back, lock);
    expect(graph.gates.find(({ name }) => name === 'hero@k2')?.state).toMatchObject({ is: 'open', picked: [] });
    expect(graph.gates.find(({ name }) => name === 'hero@k1')?.state).toMatchObject({ is: 'decided' });
  });

  test('steps that share a job are decided about one by one', () => {
    const two = load(
      tasks(
        '  a: { kind: music, gate: approve, with: { model: song-7.5, prompt: x } }',
        '  b: { kind: music, gate: approve, with: { model: song-7.5, prompt: x } }',
      ),
    ).graph;
    if (two === undefined) throw new Error('no graph');
    const [a, b] = two.steps;
    if (a === undefined || b === undefined) throw new Error('no steps');
    const shared = saved(a);
    const verdicts = [{ fingerprint: a.fingerprint, job: shared.jobId ?? '', is: 'picked' as const, revision: 1 }];
    const lock = lockOf({ a: [shared], b: [{ ...shared, outputs: [output('b.mp3')] }] });
    const record = lock.steps.get('a');
    if (record === undefined) throw new Error('no record');
    lock.steps.set('a', { ...record, decisions: { verdicts } });
    const states = situate(two, lock).graph.gates.map(({ state }) => state.is);
    expect(states).toEqual(['decided', 'open']);
  });
});
