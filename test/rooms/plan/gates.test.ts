import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, StepRecord, Verdict } from '../../../src/lock/record.ts';
import { isSpending } from '../../../src/plan/actions.ts';
import { agreementFrom, agreementOf, covers } from '../../../src/plan/agreement.ts';
import { blockAtGates, findBehind } from '../../../src/plan/gates/block-at-gates.ts';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { Draft } from '../../../src/plan/rows/draft.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { planText } from '../../../src/report/plan/plan-text.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { graphOf } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { tasks } from '../manifest/load.ts';
import { create, job, lockOf, output, planOf, rowOf, saved, stepOf } from './facts.ts';

const song = 'kind: music, with: { model: song-7.5, prompt:';
const text = tasks(
  `  hero: { takes: 3, gate: { choose: 1, note: calm }, ${song} a tune } }`,
  `  poster: { gate: approve, ${song} "after {{tasks.hero.url}}" } }`,
  `  clip: { ${song} "with {{tasks.poster.url}}" } }`,
  `  other: { ${song} apart } }`,
);

const graph = graphOf(text);
const heroes = ['hero/1', 'hero/2', 'hero/3'];

interface Verdicts {
  [address: string]: Verdict['is'] | 'undecided';
}

/** Everything of these addresses is bought, as the manifest asks for it now, with these verdicts. */
function bought(verdicts: Verdicts, given: Graph = graph): Lock {
  let lock = lockOf({});
  for (const [address, is] of Object.entries(verdicts)) {
    // Its request is known when that of what it is made from is.
    const step = stepOf(situate(given, lock).graph, address);
    const purchase = saved(step, { outputs: [output(`${step.save}.mp3`)] });
    const record: StepRecord = { address, kind: step.kind, purchases: [purchase] };
    const { fingerprint, jobId: job = '' } = purchase;
    if (is !== 'undecided' && is !== undefined)
      record.decisions = { verdicts: [{ fingerprint, job, is, revision: 1 }] };
    lock = { ...lock, steps: new Map([...lock.steps, [address, record]]) };
  }
  return lock;
}

const undecided = { 'hero/1': 'undecided', 'hero/2': 'undecided', 'hero/3': 'undecided' } as const;
const onePicked = { 'hero/2': 'picked' } as const;

/** What happens to what hangs on the gate, and why. */
function notify(lock: Lock, facts: Parameters<typeof planOf>[2] = {}): string[] {
  const { rows } = planOf(graph, lock, facts);
  return rows
    .filter(({ task }) => task === 'poster' || task === 'clip')
    .map(({ action, reason }) => `${action}: ${reason.text}`);
}

describe('what hangs on a gate', () => {
  it('waits from the first plan on; the rest is bought', () => {
    const plan = planOf(graph, lockOf({}));
    expect(plan.rows.filter(({ action }) => action === 'create').map(({ address }) => address)).toEqual([
      ...heroes,
      'other',
    ]);
    expect(rowOf(plan, 'poster')).toMatchObject({ action: 'blocked', blockedBy: 'gate', credits: 0, wouldCost: 4 });
    expect(rowOf(plan, 'poster')).not.toHaveProperty('order');
    expect(plan.totals).toMatchObject({
      knownPrices: 16,
      afterPicks: { steps: 2, credits: 8, unknownPrices: 0, likely: 8, unpriced: 0 },
    });
    expect(plan.gates?.map(({ name, state, waiting }) => [name, state, waiting])).toEqual([
      ['hero', 'open', 1],
      ['poster', 'open', 1],
    ]);
  });

  const wait = 'blocked: waits for approval: poster';
  const rejected = 'keep: 3 of 3 outputs of hero are rejected; --redo buys new outputs';
  const contested = 'hero is contested: hero/1 and hero/3 are picked, but only 1 may be picked';
  test.each<[string, Verdicts, string[]]>([
    ['nobody decided', {}, ['blocked: waits for a pick: hero, 3 to review', wait]],
    ['one is rejected', { 'hero/2': 'rejected' }, ['blocked: waits for a pick: hero, 2 to review', wait]],
    ['all are rejected', { 'hero/1': 'rejected', 'hero/2': 'rejected', 'hero/3': 'rejected' }, [rejected, rejected]],
    [
      'two branches picked differently',
      { 'hero/1': 'picked', 'hero/3': 'picked' },
      [`blocked: waits for a pick: ${contested}`, wait],
    ],
    ['one is picked', { 'hero/2': 'picked' }, ['create: not bought yet', wait]],
    ['what follows is there, and not approved', { ...onePicked, poster: 'undecided' }, ['keep: up to date', wait]],
    [
      'what follows is rejected',
      { ...onePicked, poster: 'rejected' },
      ['keep: up to date', 'keep: poster is rejected; --redo poster buys a new output'],
    ],
    ['all is decided', { ...onePicked, poster: 'picked' }, ['keep: up to date', 'create: not bought yet']],
  ])('%s', (_name, verdicts, expected) => {
    expect(notify(bought({ ...undecided, ...verdicts }))).toEqual(expected);
  });

  it('one is picked before the others are there', () => {
    expect(notify(bought({ 'hero/2': 'picked' }))).toEqual(['create: not bought yet', wait]);
  });

  it('is not needed, costs nothing and waits for nobody after a rejection', () => {
    const lock = bought({ ...undecided, 'hero/2': 'picked', poster: 'rejected' });
    const { totals, gates, rows } = planOf(graph, lock);
    expect(totals).not.toHaveProperty('afterPicks');
    expect(gates).toMatchObject([{ name: 'poster', state: 'rejected', waiting: 0 }]);
    expect(rows.find(({ address }) => address === 'clip')).toMatchObject({ unneeded: true, credits: 0 });
    expect(notify(lock, { redo: new Set(['poster']) })[1]).toBe('blocked: waits for approval: poster');
  });

  it('is not bought again after a rejection, but a sent create request is still settled', () => {
    const before = bought({ ...undecided, 'hero/2': 'picked', poster: 'picked' });
    const clip = stepOf(situate(graph, before).graph, 'clip');
    const poster = bought({ ...undecided, 'hero/2': 'picked', poster: 'rejected' }).steps.get('poster');
    const withClip = (purchase: StepRecord['purchases'][number]) => {
      const steps = new Map(before.steps).set('clip', { address: 'clip', kind: 'music', purchases: [purchase] });
      if (poster !== undefined) steps.set('poster', poster);
      return { ...before, steps };
    };
    const clipOf = (purchase: StepRecord['purchases'][number], facts = {}) =>
      rowOf(planOf(graph, withClip(purchase), facts), 'clip');
    expect(clipOf(job(clip, { state: 'failed', jobId: 'f' }))).toMatchObject({ action: 'keep', unneeded: true });
    expect(clipOf(job(clip, { state: 'running', jobId: 'r' })).action).toBe('attach');
    expect(clipOf(create(clip)).action).toMatch(/create|unresolved/);
    const done = saved(clip, { outputs: [output(`${clip.save}.mp3`)] });
    expect(clipOf(done).action).toBe('keep');
    expect(clipOf(done, { redo: new Set(['clip']) })).toMatchObject({ action: 'blocked', blockedBy: 'step' });
  });

  describe('steps of the same request', () => {
    const rows = '[{ id: a, word: mug }, { id: b, word: lamp }, { id: c, word: mug }]';
    const each = `foreach: ${rows}, key: "{{row.id}}",`;
    const twins = (budget: number) =>
      graphOf(
        tasks(
          `  still: { ${each} gate: approve, ${song} "a {{row.word}}" } }`,
          `  film: { ${each} ${song} "{{tasks.still.url}}" } }`,
        ).replace('name:', `budget: { credits: ${budget} }\nname:`),
      );

    it('cost one job, also behind a gate', () => {
      expect(planOf(twins(16), lockOf({})).totals.fit).toMatchObject({ carries: 'all', missing: 0 });
      expect(planOf(twins(15), lockOf({})).totals.fit).toMatchObject({ missing: 1 });
    });

    it.each([
      ['c', 'a'],
      ['a', 'c'],
    ])('are made for those that are not rejected: %s', (rejected, other) => {
      const given = twins(100);
      const lock = bought({ 'still@a': 'picked', 'still@b': 'picked', 'still@c': 'picked' }, given);
      const record = lock.steps.get(`still@${rejected}`);
      for (const verdict of record?.decisions?.verdicts ?? []) verdict.is = 'rejected';
      const plan = planOf(given, lock);
      expect(rowOf(plan, `film@${rejected}`)).toMatchObject({ action: 'keep', unneeded: true });
      expect(rowOf(plan, `film@${other}`).action).toBe('create');
      expect(plan.totals.knownPrices).toBe(8);
    });
  });

  it('may be bought again by `retry`, which the total after picks says', () => {
    const retried = graphOf(text.replace('clip: {', 'clip: { retry: { attempts: 3, credits: 8 },'));
    expect(planOf(retried, lockOf({})).totals.afterPicks).toEqual({
      ...{ steps: 2, credits: 8, unknownPrices: 0, likely: 8, unpriced: 0 },
      mayRetry: 8,
    });
  });

  it('is reported with its gate, also where a selection leaves out the step between', () => {
    const apart = graphOf(text.replace('poster: { gate: approve,', 'poster: {'));
    const { gates } = planOf(apart, bought(undecided, apart), { selected: new Set(['clip']) });
    expect(gates?.map(({ name, waiting }) => [name, waiting])).toEqual([['hero', 1]]);
  });

  it('needs a selection, and no pick, where what it is picked from is neither bought nor selected', () => {
    const { gates, rows } = planOf(graph, lockOf({}), { selected: new Set(['poster', 'clip']) });
    expect(gates?.map(({ name, waiting }) => [name, waiting])).toEqual([['poster', 0]]);
    expect(rows.map(({ blockedBy, reason }) => [blockedBy, reason.text])).toEqual([
      ['selection', 'waits for a pick of hero, whose steps are neither done nor selected'],
      ['selection', 'waits for a pick of poster, whose steps are neither done nor selected'],
    ]);
  });

  it('is made from what is picked, as if the manifest named it', () => {
    const row = rowOf(planOf(graph, bought({ ...undecided, 'hero/2': 'picked' })), 'poster');
    expect(JSON.stringify(row.order?.request)).toContain('{"$ref":"hero/2","field":"url"}');
    expect(row.order?.needs).toEqual(['hero/2']);
    const named = graphOf(
      text
        .replace(', gate: { choose: 1, note: calm }', '')
        .replace('poster: {', 'poster: { from: { hero: { take: 2 } },'),
    );
    expect(row.order?.fingerprint).toBe(stepOf(named, 'poster').fingerprint);
  });

  it('is done again when another is picked, and not when it is picked back', () => {
    const before = bought({ ...undecided, 'hero/2': 'picked', poster: 'picked', clip: 'undecided' });
    const other = bought({ ...undecided, 'hero/3': 'picked' });
    const changed = { ...before, steps: new Map([...before.steps, ...other.steps]) };
    expect(notify(changed)[0]).toMatch(/^redo: /);
    expect(notify(changed)[1]).toBe(wait);
    expect(notify(before)).toEqual(['keep: up to date', 'keep: up to date']);
  });

  it('waits again when what was picked is bought again, although the request is the same', () => {
    const lock = bought({ ...undecided, 'hero/2': 'picked' });
    expect(notify(lock, { redo: new Set(['hero/2']) })[0]).toBe('blocked: waits for a pick: hero, 3 to review');
    const again = structuredClone(lock);
    const record = again.steps.get('hero/2');
    const [first] = record?.purchases ?? [];
    if (record === undefined || first?.jobId === undefined) throw new Error('nothing bought');
    record.purchases = [{ ...first, generation: 2, jobId: 'another' }, first];
    expect(notify(again)[0]).toBe('blocked: waits for a pick: hero, 3 to review');
  });

  it('keeps a verdict over a rename', () => {
    const lock = bought({ ...undecided, 'hero/2': 'picked' });
    const renamed = graphOf(text.replace('hero: {', 'star: {').replace('tasks.hero', 'tasks.star'));
    expect(rowOf(planOf(renamed, lock), 'poster').order?.needs).toEqual(['star/2']);
  });

  it('asks all the same about what was sent before', () => {
    const lock = bought({ ...undecided, 'hero/2': 'picked', poster: 'undecided' });
    const clip = stepOf(situate(graph, lock).graph, 'clip');
    const since = '2030-01-01T23:00:00.000Z';
    const open = lockOf({ clip: [create(clip, { since })] });
    const row = rowOf(planOf(graph, { ...lock, steps: new Map([...lock.steps, ...open.steps]) }), 'clip');
    expect(row).toMatchObject({ action: 'create', order: { send: { since } } });
  });

  it('does not wait where its job runs already', () => {
    const lock = bought({ ...undecided, 'hero/2': 'picked', poster: 'undecided' });
    const clip = stepOf(situate(graph, lock).graph, 'clip');
    const running = lockOf({ clip: [job(clip)] });
    expect(notify({ ...lock, steps: new Map([...lock.steps, ...running.steps]) })[1]).toMatch(/^attach: /);
  });
});

const verdict = fc.constantFrom<(Verdict['is'] | 'undecided')[]>('picked', 'rejected', 'undecided');

describe('whatever is decided', () => {
  const decided = fc.record({ 'hero/1': verdict, 'hero/2': verdict, 'hero/3': verdict, poster: verdict });

  forAll([decided, fc.subarray([...heroes, 'poster', 'clip'])], 300)(
    'I27 nothing is bought that hangs on an open gate, and nothing without saying what it is made from',
    (verdicts, there) => {
      const lock = bought(
        Object.fromEntries(there.map((address) => [address, verdicts[address as 'poster'] ?? 'undecided'])),
      );
      const picked = heroes.filter((address) => there.includes(address) && verdicts[address as 'hero/1'] === 'picked');
      const plan = planOf(graph, lock);
      const buys = (address: string) => plan.rows.some((row) => row.address === address && isSpending(row.action));
      for (const { action, order } of plan.rows) {
        if (isSpending(action)) expect(JSON.stringify(order?.request)).not.toContain('"pick"');
      }
      if (picked.length !== 1) expect(buys('poster')).toBe(false);
      const isApproved =
        verdicts.poster === 'picked' && there.includes('poster') && rowOf(plan, 'poster').action === 'keep';
      if (!isApproved) expect(buys('clip')).toBe(false);
    },
  );

  const agreement = agreementOf(planOf(graph, lockOf({})));
  forAll([decided, fc.boolean()], 300)(
    'I27 a plan made before any verdict names, at its price, what one purchase of each step buys after',
    (verdicts, hasPoster) => {
      const { poster, ...own } = verdicts;
      const lock = bought(hasPoster ? { ...own, poster } : own);
      for (const row of planOf(graph, lock).rows) {
        if (!agreement.afterPicks.has(row.address)) continue;
        // What was bought once for this plan is not named a second time.
        const isSecond = isSpending(row.action) && lock.steps.has(row.address);
        expect(covers(agreement, row)).toBe(!isSecond);
      }
    },
  );

  it('a plan that was made is not one for a dearer purchase, or for more retries', () => {
    const row = rowOf(planOf(graph, bought({ ...undecided, 'hero/2': 'picked' })), 'poster') as unknown as PlanRow;
    const waits = rowOf(planOf(graph, lockOf({})), 'poster') as unknown as PlanRow;
    const before = { later: { generation: 1 }, wouldCost: 4, wouldRetry: 0 };
    const isNamed = (now: PlanRow, { later, ...shown }: typeof before | typeof unknownBefore) =>
      covers(
        agreementFrom([{ ...waits, ...shown }], {
          ...{ purchases: {}, afterPicks: { poster: later }, publishes: [], ceiling: 0 },
        }),
        now,
      );
    const unknownBefore = { ...before, wouldCost: null };
    expect(isNamed(row, before)).toBe(true);
    expect(isNamed(row, { ...before, wouldCost: 3 })).toBe(false);
    const { order } = row;
    if (order === undefined || order.asksOnly) throw new Error('no order');
    const unknown = { class: 'music', credits: null, source: 'unknown' } as const;
    const unpriced = { ...row, credits: null, order: { ...order, price: unknown } };
    expect(isNamed(unpriced, before)).toBe(false);
    expect(isNamed(unpriced, unknownBefore)).toBe(true);
    // Of a list only its ceiling bounds the charge: the plan shows it, and it holds.
    const listed = (high: number) => ({
      ...unpriced,
      order: { ...order, price: { ...unknown, source: 'list', high } },
    });
    expect(isNamed(listed(4) as PlanRow, before)).toBe(true);
    expect(isNamed(listed(5) as PlanRow, before)).toBe(false);
    const draft = new Draft([listed(7) as PlanRow]);
    const matches = [{ step: { ...stepOf(graph, 'poster'), waits: ['hero'] } }];
    blockAtGates(draft, { ...situate(graph, lockOf({})), matches });
    expect(draft.at('poster')).toMatchObject({ action: 'blocked', credits: 0, wouldCost: 7 });
    const retries = { left: 1, credits: null, generation: 2, repeat: 2 };
    expect(isNamed({ ...row, mayRetry: 4, order: { ...order, retries } }, before)).toBe(false);
    const withRetry = { ...before, later: { generation: 1, retries: 1 }, wouldRetry: 4 };
    expect(isNamed({ ...row, mayRetry: 4, order: { ...order, retries } }, withRetry)).toBe(true);
    expect(isNamed({ ...row, order: { ...order, generation: 2 } }, withRetry)).toBe(false);
  });
});

describe('how far the budget carries a campaign with gates', () => {
  const keys = (count: number) => `[${Array.from({ length: count }, (_, index) => `p${index}`).join(', ')}]`;
  /** Two drafts of 4 credits for each product, of which one is picked, and a hero of 4. */
  const products = (count: number, budget: number) =>
    graphOf(
      tasks(
        `  draft: { foreach: ${keys(count)}, key: "{{row}}", takes: 2, gate: { choose: 1 }, ${song} "a {{row}}" } }`,
        `  hero: { foreach: ${keys(count)}, key: "{{row}}", ${song} "after {{tasks.draft.url}}" } }`,
      ).replace('name:', `budget: { credits: ${budget} }\nname:`),
    );
  const boughtNow = ({ rows }: ReturnType<typeof planOf>) =>
    rows.filter(({ action }) => action === 'create').map(({ address }) => address);

  test('all drafts are bought, and the plan says how many heroes the rest pays for', () => {
    const plan = planOf(products(5, 50), lockOf({}));
    expect(boughtNow(plan)).toHaveLength(10);
    expect(plan.totals.fit).toEqual({
      carries: 'now',
      missing: 10,
      afterPicks: [{ task: 'hero', steps: 5, carried: 2 }],
    });
  });

  test('where not all drafts fit, those are bought whose hero the credits carry, and no half of a group', () => {
    const plan = planOf(products(5, 32), lockOf({}));
    // 12 for each product with its hero: two of them, and one more group from what is left.
    expect(boughtNow(plan)).toEqual(['p0', 'p1', 'p2'].flatMap((key) => [`draft@${key}/1`, `draft@${key}/2`]));
    expect(plan.totals.fit).toEqual({
      carries: 'part',
      missing: 28,
      afterPicks: [{ task: 'hero', steps: 5, carried: 2 }],
      kept: 8,
    });
    expect(plan.rows.find(({ address }) => address === 'draft@p3/1')?.reason.text).toBe(
      'the budget is not enough: this step costs 4',
    );
    expect(planText(plan, { style: makeStyle(false), width: 200 })).toContain(
      '8 credits of the budget reserved for steps that wait for a pick',
    );
    const less = planOf(products(5, 31), lockOf({}));
    expect(boughtNow(less)).toHaveLength(4);
  });
});

describe('behind gates', () => {
  test('behind the gate of one key is what is made of that key, and no other step of the task', () => {
    const graph = graphOf(
      tasks(
        `  hero: { foreach: [a, b], key: "{{row}}", takes: 2, gate: { choose: 1 }, ${song} "{{row}}" } }`,
        `  card: { foreach: [a, b], key: "{{row}}", ${song} "{{row}} {{tasks.hero.url}}" } }`,
      ),
    );
    const { gates = [] } = graph;
    const open = gates.filter(({ name }) => name === 'hero@a');
    expect(open).toHaveLength(1);
    expect([...findBehind(graph, open)]).toEqual(['card@a']);
  });

  test('behind a canary are the others of its price, and what is made from them', () => {
    const graph = graphOf(
      tasks(
        `  hero: { foreach: [a, b, c], key: "{{row}}", canary: { then: ask }, ${song} "{{row}}" } }`,
        `  card: { foreach: [a, b, c], key: "{{row}}", ${song} "{{row}} {{tasks.hero.url}}" } }`,
        `  apart: { foreach: [a, b], key: "{{row}}", ${song} "apart {{row}}" } }`,
      ),
    );
    const { gates = [] } = planOf(graph, lockOf({}));
    expect(gates.map(({ members }) => members)).toEqual([['hero@a']]);
    expect([...findBehind(graph, gates)].sort()).toEqual(['card@a', 'card@b', 'card@c', 'hero@b', 'hero@c']);
  });
});

describe('gates of many', () => {
  const many = 400;
  const rows = `foreach: [${Array.from({ length: many }, (_, index) => `r${index}`).join(', ')}]`;
  const song = 'with: { model: song-7.5, prompt:';

  /** A gate that asks about all of one task, and another task as large behind it. */
  function graphBefore(behind: string): Graph {
    return graphOf(
      tasks(
        `  hero: { kind: music, ${rows}, gate: { choose: 1, among: all }, ${song} "hero {{row}}" } }`,
        `  use: { kind: music, ${rows}, ${behind} }`,
      ),
    );
  }

  /** The graph, and how many members of its gates were read. */
  function counted(graph: Graph): { graph: Graph; reads: () => number } {
    let reads = 0;
    const gates = graph.gates?.map((gate) => ({
      ...gate,
      members: new Proxy(gate.members, {
        get(target, name, receiver) {
          if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1;
          return Reflect.get(target, name, receiver);
        },
      }),
    }));
    return { graph: { ...graph, ...(gates && { gates }) }, reads: () => reads };
  }

  test.each([
    ['refer to what is picked', `${song} "{{row}} {{tasks.hero.url}}" }`],
    ['only need it', `needs: [hero], ${song} "{{row}}" }`],
  ])('thousands behind a gate of thousands: what is looked at grows with their sum, where they %s', (_how, behind) => {
    const written = graphBefore(behind);
    expect(written.steps.reduce((sum, { needs }) => sum + needs.length, 0)).toBe(many);
    const bought = lockOf(
      Object.fromEntries(
        written.steps
          .filter(({ task }) => task === 'hero')
          .map((step) => [step.address, [saved(step, { outputs: [output(`${step.save}.mp3`)] })]]),
      ),
    );
    const picked = structuredClone(bought);
    const record = picked.steps.get('hero@r7');
    const [{ fingerprint = '', jobId: job = '' } = {}] = record?.purchases ?? [];
    if (record !== undefined) record.decisions = { verdicts: [{ fingerprint, job, is: 'picked', revision: 1 }] };
    for (const [lock, rest] of [
      [lockOf({}), 'blocked'],
      [bought, 'blocked'],
      [picked, 'create'],
    ] as const) {
      const { graph, reads } = counted(written);
      const { rows: told } = planOf(graph, lock);
      expect(told.filter(({ task, action }) => task === 'use' && action === rest)).toHaveLength(many);
      expect(reads()).toBeLessThan(20 * many);
    }
  });
});
