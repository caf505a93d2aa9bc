import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Graph, outlineOf } from '../../../src/graph/graph.ts';
import { mostRevision } from '../../../src/lock/decisions.ts';
import { joinInto, joinParts } from '../../../src/lock/join.ts';
import type { Lock, Verdict } from '../../../src/lock/record.ts';
import { writeRecord } from '../../../src/lock/write.ts';
import { type Judgement, judgeSteps } from '../../../src/plan/decisions/judge.ts';
import type { Ruling } from '../../../src/plan/decisions/ruling.ts';
import { withoutMovedAway } from '../../../src/plan/rows/orphans.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOf } from '../../rig/campaign.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { tasks } from '../manifest/load.ts';
import { deciding, job, lockOf, output, planOf, saved, stepOf } from './facts.ts';

const graph = graphOf(
  tasks(
    '  one: { kind: music, takes: 3, gate: { choose: 1 }, with: { model: song-7.5, prompt: a } }',
    '  two: { kind: music, takes: 3, gate: { choose: 2 }, with: { model: song-7.5, prompt: b } }',
    '  free: { kind: music, with: { model: song-7.5, prompt: c } }',
    '  late: { kind: music, takes: 2, gate: { choose: 1 }, with: { model: song-7.5, prompt: d } }',
  ),
);
const done = ['one/1', 'one/2', 'one/3', 'two/1', 'two/2', 'two/3', 'free'];

function freshLock(): Lock {
  const bought = done.map((address) => [address, [saved(stepOf(graph, address))]] as const);
  return lockOf({ ...Object.fromEntries(bought), 'late/1': [job(stepOf(graph, 'late/1'))] });
}

function judge(lock: Lock, as: Judgement['as'], addresses: string[], note?: string): Ruling[] {
  const situation = situate(graph, lock);
  const chosen = situation.matches.filter(({ step }) => addresses.includes(step.address));
  const rulings = judgeSteps(chosen, { as, wordsOf: () => ({ note }) }, situation);
  for (const ruling of rulings)
    if (ruling.is === 'recorded') for (const one of ruling.records) joinInto(lock.steps, one);
  return rulings;
}

const picked = (lock: Lock) =>
  Object.fromEntries(
    situate(graph, lock).graph.gates.map(({ name, state }) => [name, `${state.is}: ${state.picked.join(' ')}`]),
  );

describe('a verdict', () => {
  test('of a pick takes the place of an earlier one in the same write, and can be taken back', () => {
    const lock = freshLock();
    judge(lock, 'picked', ['one/1'], 'calm');
    expect(lock.steps.get('one/1')?.decisions?.verdicts?.[0]).toMatchObject({
      is: 'picked',
      job: 'one/1-1',
      note: 'calm',
      revision: 1,
    });
    expect(judge(lock, 'picked', ['one/3'])).toMatchObject([
      { is: 'recorded', text: 'job one/3-1 (4 credits); instead of one/1' },
    ]);
    expect(lock.steps.get('one/1')?.decisions?.verdicts).toEqual([
      { fingerprint: stepOf(graph, 'one/1').fingerprint, job: 'one/1-1', revision: 2 },
    ]);
    expect(picked(lock).one).toBe('decided: one/3');
    judge(lock, 'undecided', ['one/3']);
    expect(picked(lock).one).toBe('open: ');
    expect(judge(lock, 'undecided', ['one/3'])).toMatchObject([{ is: 'unchanged' }]);
  });

  test('says for which reason, and who gave it; both stay with it', () => {
    const lock = freshLock();
    const situation = situate(graph, lock);
    const meant = situation.matches.filter(({ step }) => step.address === 'one/1');
    const reject = (words: ReturnType<Judgement['wordsOf']>) => {
      const [ruling] = judgeSteps(meant, { as: 'rejected', wordsOf: () => words }, situate(graph, lock));
      if (ruling?.is === 'recorded') for (const one of ruling.records) joinInto(lock.steps, one);
      return ruling;
    };
    expect(reject({ reason: 'hands', by: 'Ada' })).toMatchObject({ text: 'job one/1-1 (4 credits): hands' });
    expect(reject({ reason: 'hands', by: 'Bo' })).toMatchObject({ is: 'unchanged' });
    expect(reject({ note: 'six fingers' })).toMatchObject({ text: 'job one/1-1 (4 credits): hands; six fingers' });
    const [verdict] = lock.steps.get('one/1')?.decisions?.verdicts ?? [];
    expect(verdict).toMatchObject({ is: 'rejected', reason: 'hands', note: 'six fingers', by: 'Ada', revision: 2 });
    const said = { is: 'rejected', reason: 'hands', note: 'six fingers', by: 'Ada' };
    const again = situate(graph, lock);
    expect(
      again.matches.filter(({ step }) => step.address === 'one/1').map((match) => again.verdicts.on(match)),
    ).toEqual([said]);
    // What is written is read as the same.
    const text = writeRecord(lock.steps.get('one/1') ?? { address: '', kind: '', purchases: [] });
    expect(JSON.parse(text)).toMatchObject({ decisions: { verdicts: [said] } });
  });

  test('settles a gate at which two branches picked, also by the one that is picked already', () => {
    const lock = freshLock();
    judge(lock, 'picked', ['one/1']);
    const other = freshLock();
    judge(other, 'picked', ['one/2']);
    for (const record of other.steps.values()) joinInto(lock.steps, record);
    expect(picked(lock).one).toBe('contested: one/1 one/2');
    expect(judge(lock, 'picked', ['one/2'])).toMatchObject([
      { is: 'recorded', text: 'is picked already; instead of one/1' },
    ]);
    expect(picked(lock).one).toBe('decided: one/2');
  });

  test('is refused where the lock has the highest revision: one above it could not be read any more', () => {
    const lock = freshLock();
    judge(lock, 'picked', ['one/1']);
    const verdicts = lock.steps.get('one/1')?.decisions?.verdicts ?? [];
    for (const verdict of verdicts) verdict.revision = mostRevision;
    for (const as of ['undecided', 'rejected'] as const) {
      expect(judge(lock, as, ['one/1'])).toMatchObject([
        { is: 'refused', text: expect.stringContaining('1000000000') },
      ]);
    }
    // Its sibling can be picked, and the gate says that both are.
    judge(lock, 'picked', ['one/2']);
    expect(picked(lock).one).toBe('contested: one/1 one/2');
    const all = [...lock.steps.values()].flatMap(({ decisions }) => decisions?.verdicts ?? []);
    expect(all.every(({ revision }) => revision <= mostRevision)).toBe(true);
  });

  test('by a pattern takes what is there, and says what is not', () => {
    const { matches, ...situation } = situate(graph, freshLock());
    const chosen = matches.filter(({ step }) => step.address.endsWith('/1') || step.address === 'free');
    const judgement = { as: 'picked', isPattern: true, wordsOf: () => ({}) } as const;
    expect(judgeSteps(chosen, judgement, situation).map(({ is, address }) => `${is} ${address}`)).toEqual([
      'recorded one/1',
      'recorded two/1',
      'unchanged free',
      'unchanged late/1',
    ]);
    const none = chosen.filter(({ step }) => step.address === 'free');
    expect(judgeSteps(none, judgement, situation)).toMatchObject([{ is: 'refused' }]);
  });

  test('by a pattern leaves decided groups and rejected outputs alone, unless it is to replace', () => {
    const lock = freshLock();
    judge(lock, 'picked', ['one/1']);
    judge(lock, 'rejected', ['two/1', 'two/2', 'two/3']);
    const by = (words: string[], replaces?: boolean) => {
      const { matches, ...situation } = situate(graph, lock);
      return judgeSteps(
        matches.filter(({ step }) => words.includes(step.address)),
        { as: 'picked', isPattern: true, replaces, wordsOf: () => ({}) },
        situation,
      ).map(({ is, text }) => `${is}: ${text}`);
    };
    expect(by(['one/1', 'one/2', 'one/3', 'two/1'])).toEqual([
      'unchanged: is picked already',
      'unchanged: one is decided: one/1; --replace picks this output anyway',
      'unchanged: one is decided: one/1; --replace picks this output anyway',
      'unchanged: is rejected; --replace picks this output anyway',
    ]);
    expect(by(['one/2', 'two/1'], true)).toEqual([
      'recorded: job one/2-1 (4 credits); instead of one/1',
      'recorded: job two/1-1 (4 credits)',
    ]);
    judge(lock, 'undecided', ['two/2', 'two/3']);
    expect(by(['two/1', 'two/2', 'two/3'])).toEqual([
      'unchanged: is rejected; --replace picks this output anyway',
      'recorded: job two/2-1 (4 credits)',
      'recorded: job two/3-1 (4 credits)',
    ]);
  });

  test.each<[string, Judgement['as'], string[], RegExp]>([
    ['two where one may be', 'picked', ['one/1', 'one/2'], /^can have only 1 pick, but 2 of its outputs are named$/],
    ['a third where two are to be', 'picked', ['two/2'], /only 2 of two can be picked, and two\/1, two\/3 are already/],
    ['what has no gate', 'rejected', ['free'], /has no gate/],
    ['what is not bought', 'picked', ['late/2'], /has no purchase/],
    ['what is not there yet', 'rejected', ['late/1'], /which is running/],
    ['one of them beside what could be', 'picked', ['one/1', 'free'], /has no gate/],
  ])('is refused, and nothing recorded: %s', (_name, as, addresses, says) => {
    const lock = freshLock();
    judge(lock, 'picked', ['two/1', 'two/3']);
    const before = structuredClone(lock.steps);
    const rulings = judge(lock, as, addresses);
    expect(rulings.map(({ is }) => is)).not.toContain('recorded');
    expect(rulings[0]).toMatchObject({ is: 'refused', text: expect.stringMatching(says) });
    expect(lock.steps).toEqual(before);
  });
});

describe('verdicts', () => {
  /** Which key each row has, and which name each task: everything else stays the same. */
  interface Named {
    keys: readonly string[];
    names: readonly string[];
  }

  const written: Named = { keys: ['k1', 'k2', 'k3'], names: ['hero', 'logo', 'poster', 'clip'] };

  function graphNamed({ keys, names }: Named): Graph {
    const [hero = '', logo = '', poster = '', clip = ''] = names;
    const rows = keys.map((key, index) => `{ id: ${key}, say: text ${index} }`).join(', ');
    const each = `kind: music, foreach: [${rows}], key: "{{row.id}}"`;
    return graphOf(
      tasks(
        `  ${hero}: { ${each}, takes: 3, gate: { choose: 1 }, with: { model: song-7.5, prompt: "draft {{row.say}}" } }`,
        `  ${logo}: { ${each}, gate: { choose: 1, among: all }, with: { model: song-7.5, prompt: "logo {{row.say}}" } }`,
        `  ${poster}: { ${each}, gate: approve, with: { model: song-7.5, prompt: "with {{tasks.${hero}.url}}" } }`,
        `  ${clip}: { ${each}, with: { model: song-7.5, prompt: "from {{tasks.${poster}.url}} {{tasks.${logo}.url}}" } }`,
      ),
    );
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
  function notify(graph: Graph, lock: Lock): { actions: string[]; gates: string[] } {
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
    fc.constantFrom(...graphNamed(written).steps.map(({ address }) => address)),
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

  forAll([decisions, fc.array(shuffled, { minLength: 1, maxLength: 3 })], runs(60))(
    'whatever keys rows exchange and names tasks take, what is decided stays decided, and the plan only moves',
    (changed, renames) => {
      const isOf = (address: string): Is => changed[address] ?? likely[address] ?? 'undecided';
      let lock = carryOut(graphNamed(written), isOf);
      const before = notify(graphNamed(written), lock);
      for (const [index, renamed] of renames.entries()) {
        const graph = graphNamed(renamed);
        const now = notify(graph, lock);
        expect(now.gates).toEqual(before.gates);
        expect(now.actions.map((text) => text.replace(/: move$/, ': keep'))).toEqual(before.actions);
        lock = moveAll(graph, lock, 9 + index);
        expect(notify(graph, lock)).toEqual(before);
      }
    },
  );

  describe('where verdicts stand elsewhere than their purchases', () => {
    const exchanged = graphNamed({ ...written, keys: ['k2', 'k1', 'k3'] });
    const isOf = (address: string): Is => likely[address] ?? 'undecided';
    const moved = () => moveAll(exchanged, carryOut(graphNamed(written), isOf));
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
      const back = graphNamed(written);
      const lock = moveAll(back, judge(moved(), 'undecided', 'hero@k1/1'));
      const { graph } = situate(back, lock);
      expect(graph.gates.find(({ name }) => name === 'hero@k2')?.state).toMatchObject({ is: 'open', picked: [] });
      expect(graph.gates.find(({ name }) => name === 'hero@k1')?.state).toMatchObject({ is: 'decided' });
    });

    test('steps that share a job are decided about one by one', () => {
      const two = graphOf(
        tasks(
          '  a: { kind: music, gate: approve, with: { model: song-7.5, prompt: x } }',
          '  b: { kind: music, gate: approve, with: { model: song-7.5, prompt: x } }',
        ),
      );
      const a = stepOf(two, 'a');
      const shared = saved(a);
      const verdicts = [{ fingerprint: a.fingerprint, job: shared.jobId ?? '', is: 'picked' as const, revision: 1 }];
      const lock = lockOf({ a: [shared], b: [{ ...shared, outputs: [output('b.mp3')] }] });
      const states = situate(two, deciding(lock, 'a', { verdicts })).graph.gates.map(({ state }) => state.is);
      expect(states).toEqual(['decided', 'open']);
    });
  });
});
