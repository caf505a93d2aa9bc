import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, Purchase } from '../../../src/lock/record.ts';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  clips,
  create,
  deciding,
  earlier,
  type GivenFacts,
  job,
  lockOf,
  now,
  output,
  picture,
  planOf,
  rowOf,
  saved,
  sendIn,
  song,
  stepOf,
  type Told,
  told,
  urlOf,
  withoutEstimate,
  withoutOrder,
} from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const empty = lockOf({});
const since = new Date(now).toISOString();

function lastRow(given: Graph, lock: Lock, facts: GivenFacts = {}): Told<PlanRow> {
  return rowOf(planOf(given, lock, facts), given.steps.at(-1)?.address ?? '');
}

const notify = (rows: PlanRow[]) => rows.map(({ address, action, reason }) => [address, action, reason.text]);

describe('what a plan row says', () => {
  const row = { address: 'a', task: 'a', kind: 'music', credits: 0 };
  const recorded = { ...row, jobId: 'a-1' };
  const paid = { ...recorded, output: 'output/a.mp3' };

  test.each<[string, Lock, GivenFacts, Partial<Told<PlanRow>>]>([
    ['of a first purchase', empty, {}, { ...row, action: 'create', reason: 'not bought yet', credits: 4 }],
    [
      'of a purchase that gives up a finished one',
      lockOf({ a: [job(earlier(a), { state: 'failed', credits: 2, generation: 2 }), saved(earlier(a))] }),
      {},
      { ...row, action: 'redo', reason: 'prompt: before → a', credits: 4, discards: 4 },
    ],
    [
      'of a purchase that gives up a running one',
      lockOf({ a: [job(earlier(a), { credits: 3, generation: 2 }), saved(earlier(a))] }),
      {},
      { ...row, action: 'redo', reason: 'prompt: before → a', credits: 4, discards: 3 },
    ],
    [
      'of a purchase that gives up a failure',
      lockOf({ a: [job(earlier(a), { state: 'failed' })] }),
      {},
      { ...row, action: 'redo', reason: 'prompt: before → a', credits: 4, discards: 0 },
    ],
    ['of a running job', lockOf({ a: [job(a)] }), {}, { ...recorded, action: 'attach', reason: 'job a-1 is running' }],
    ['of what is here', lockOf({ a: [saved(a)] }), {}, { ...paid, action: 'keep', reason: 'up to date' }],
    [
      'of a missing file',
      lockOf({ a: [saved(a)] }),
      { fileState: () => 'missing' },
      { ...paid, action: 'download', reason: 'paid; output/a.mp3 is missing' },
    ],
    [
      'of a pin whose step has not changed',
      deciding(lockOf({ a: [saved(a)] }), 'a', { pin: { fingerprint: a.fingerprint, revision: 1 } }),
      { redo: new Set(['a']) },
      { ...paid, action: 'keep', reason: 'up to date, and pinned', pinned: true },
    ],
    [
      'of a pin whose step has changed',
      deciding(lockOf({ a: [saved(earlier(a))] }), 'a', {
        pin: { fingerprint: earlier(a).fingerprint, revision: 1 },
      }),
      {},
      {
        ...paid,
        action: 'keep',
        reason: 'pinned; prompt: before → a (would cost 4)',
        pinned: true,
        wouldCost: 4,
      },
    ],
    [
      'of an acceptance',
      deciding(lockOf({ a: [saved(earlier(a))] }), 'a', {
        accepted: [{ wanted: a.fingerprint, fingerprint: earlier(a).fingerprint, revision: 1 }],
      }),
      {},
      {
        ...paid,
        action: 'keep',
        reason: 'accepted as it is, although prompt: before → a',
        accepted: true,
      },
    ],
  ])('%s', (_name, lock, facts, expected) => {
    expect(withoutOrder(lastRow(graph, lock, facts))).toStrictEqual(expected);
  });

  test('only what spends is said not to have been checked', () => {
    const unchecked = { ...graph, steps: [{ ...a, unchecked: true as const }] };
    expect(lastRow(unchecked, empty).unchecked).toBe(true);
    expect(lastRow(unchecked, lockOf({ a: [saved(a)] }))).not.toHaveProperty('unchecked');
  });
});

describe('a step that is about one part of an output', () => {
  const parts = graphOfSteps([
    clips('talk'),
    ...[0, 1, 2].map((index) => picture(`still@${index}`, { part: { of: 'talk', index } })),
  ]);
  const talk = stepOf(parts, 'talk');
  const cut = (count: number) =>
    job(talk, { state: 'done', outputs: [1, 2, 3].slice(0, count).map((nth) => output(`output/talk-${nth}.mp4`)) });

  test('is not needed where the output turns out to have fewer parts', () => {
    const rows = planOf(parts, lockOf({ talk: [cut(1)] })).rows.map((row) => withoutOrder(told(row)));
    const row = { task: 'still', kind: 'image' };
    const unneeded = { ...row, action: 'keep', reason: 'not needed: talk has 1 part', credits: 0, unneeded: true };
    expect(rows.slice(1)).toEqual([
      { ...row, address: 'still@0', action: 'create', reason: 'not bought yet', credits: null },
      { ...unneeded, address: 'still@1' },
      { ...unneeded, address: 'still@2' },
    ]);
  });

  test.each([
    ['its job runs', job(talk, { outputs: [] })],
    ['nothing was saved yet', job(talk, { state: 'done' })],
    ['another request was bought', saved(earlier(talk), { outputs: [] })],
  ])('is needed as long as nobody knows how many there are: %s', (_name, purchase) => {
    expect(lastRow(parts, lockOf({ talk: [purchase] }))).toMatchObject({
      action: 'create',
      reason: 'not bought yet; needed if talk has 3 or more parts',
    });
    const [, ...pictures] = planOf(parts, lockOf({ talk: [purchase] })).rows;
    expect(pictures.map(({ reason }) => reason.neededIf)).toEqual([
      undefined,
      { of: 'talk', parts: 2 },
      { of: 'talk', parts: 3 },
    ]);
  });

  test('is not needed either where it would share a job', () => {
    const same = { prompt: 'same' };
    const stills = ['x', 'y'].map((address) => picture(address, { request: same, part: { of: 'talk', index: 1 } }));
    const twins = graphOfSteps([clips('talk'), ...stills]);
    expect(notify(planOf(twins, lockOf({ talk: [cut(1)] })).rows).slice(1)).toEqual([
      ['x', 'keep', 'not needed: talk has 1 part'],
      ['y', 'keep', 'not needed: talk has 1 part'],
    ]);
  });

  test('stays what it is once it is bought', () => {
    const still = stepOf(parts, 'still@2');
    const plan = planOf(
      parts,
      lockOf({ talk: [cut(1)], 'still@2': [saved(still, { outputs: [output('output/still-2.png')] })] }),
    );
    expect(rowOf(plan, 'still@2')).toMatchObject({ action: 'keep', reason: 'up to date', jobId: 'still@2-1' });
    expect(rowOf(plan, 'still@2')).not.toHaveProperty('unneeded');
  });
});

describe('files that move', () => {
  const steps = graphOfSteps([song('a'), song('b'), song('c')]);
  const [, b, c] = steps.steps;
  if (b === undefined || c === undefined) throw new Error('there are three steps');

  test('are not replaced by what is bought for the step that had them', () => {
    const lock = lockOf({ b: [saved(earlier(b), { generation: 2, outputs: [output('kept.mp3')] }), saved(a)] });
    const plan = planOf(steps, lock);
    expect(plan.rows.map(({ address, action, order }) => [address, action, order?.replaces])).toEqual([
      ['a', 'move', ['sha of kept.mp3', 'sha of output/a.mp3']],
      ['b', 'redo', ['sha of kept.mp3']],
      ['c', 'create', []],
    ]);
  });

  test('are spared only while they move', () => {
    const lock = lockOf({ b: [saved(earlier(b), { generation: 2, outputs: [output('kept.mp3')] }), saved(a)] });
    const plan = planOf(steps, lock, { fileState: () => 'missing' });
    expect(plan.rows.map(({ action, order }) => [action, order?.replaces])).toEqual([
      ['download', ['sha of kept.mp3', 'sha of output/a.mp3']],
      ['redo', ['sha of kept.mp3', 'sha of output/a.mp3']],
      ['create', []],
    ]);
  });
});

describe('what the credits are not enough for', () => {
  const blocked = (address: string, reason: string) => [address, 'blocked', reason];

  test('when the plan was made is left out, and what was sent is asked about', () => {
    const steps = graphOfSteps([song('a'), song('b')]);
    const { rows } = planOf(steps, lockOf({ a: [create(a, { since })] }), { leftOut: new Set(['a', 'b']) });
    expect(rows.map(({ action, blockedBy }) => [action, blockedBy])).toEqual([
      ['create', undefined],
      ['blocked', 'budget'],
    ]);
  });

  test('says what it lacks, where it would be free itself', () => {
    const post = { address: 'post', kind: 'post', request: { media: [urlOf('logo'), urlOf('a')] } };
    const logo = { address: 'logo', kind: 'upload', request: { url: 'https://a.example/l.png' } };
    const steps = graphOfSteps([logo, song('a'), post]);
    expect(notify(planOf(steps, empty, { maxCredits: 3 }).rows)).toEqual([
      ['logo', 'create', 'not bought yet'],
      blocked('a', '--max-credits is not enough: this step costs 4'),
      blocked('post', '--max-credits is not enough for a'),
    ]);
  });

  test.each([
    ['the budget', 4, undefined, 'create'],
    ['a smaller budget', 3, undefined, 'blocked'],
    ['--max-credits', undefined, 4, 'create'],
    ['a smaller --max-credits', undefined, 3, 'blocked'],
    ['both: the smaller one is the budget', 3, 9, 'blocked'],
    ['both: the smaller one is --max-credits', 9, 3, 'blocked'],
    ['both, and they reach', 4, 4, 'create'],
  ])('by %s', (_name, budget, maxCredits, action) => {
    const capped = { ...graph, ...(budget !== undefined && { budget }) };
    expect(lastRow(capped, empty, { ...(maxCredits !== undefined && { maxCredits }) }).action).toBe(action);
  });
});

describe('a budget over all runs', () => {
  const steps = graphOfSteps([song('a'), song('b')], { budget: 10 });
  const b = stepOf(steps, 'b');
  const { credits: _credits, ...uncharged } = job(b);

  test.each<
    [string, Purchase[], { knownPrices: number; alreadyPaid?: number; held?: number; left: number; missing?: number }]
  >([
    ['is there to be spent', [], { knownPrices: 8, left: 10 }],
    ['is less by what was paid', [saved(b, { credits: 7 })], { knownPrices: 0, alreadyPaid: 7, left: 3, missing: 4 }],
    ['is less by what may have been paid', [create(b, { state: 'unresolved' })], { knownPrices: 4, held: 4, left: 6 }],
    ['is less by a job whose charge nobody knows', [uncharged], { knownPrices: 4, held: 4, left: 6 }],
    ['is never less than 0', [saved(b, { credits: 99 })], { knownPrices: 0, alreadyPaid: 99, left: 0, missing: 99 }],
    ['is not charged twice for a create that is sent again', [create(b, { since })], { knownPrices: 8, left: 10 }],
  ])('%s', (_name, purchases, { left: budgetLeft, missing = 0, ...totals }) => {
    const lock = purchases.length === 0 ? empty : lockOf({ b: purchases });
    expect(withoutEstimate(planOf(steps, lock).totals)).toStrictEqual({
      ...{ toSpend: totals.knownPrices, ceiling: totals.knownPrices, unknownPrices: 0, alreadyPaid: 0, held: 0 },
      ...{ discarded: 0, budget: 10, budgetLeft, fit: { carries: missing > 0 ? 'part' : 'all', missing } },
      ...totals,
    });
  });

  test('holds a guess for what may have been charged and nothing prices, which a higher budget may bear', () => {
    const pictures = graphOfSteps([picture('p'), song('a')], { budget: 10 });
    const lock = lockOf({ p: [create(stepOf(pictures, 'p'), { state: 'unresolved' })] }, { kind: 'image' });
    const plan = planOf(pictures, lock);
    expect(rowOf(plan, 'a').action).toBe('blocked');
    expect(plan.totals).toMatchObject({ knownPrices: 0, held: 48, budgetLeft: 0 });
  });

  test.each([
    ['one', 3, { b: [create(b, { since })] }, { held: 4, budgetLeft: 0 }],
    [
      'two, although one of them fits',
      7,
      { a: [create(a, { since })], b: [create(b, { since })] },
      { held: 8, budgetLeft: 0 },
    ],
  ])(
    'lost create requests that do not fit are not sent again, and stay reserved: %s',
    (_name, budget, sent, totals) => {
      const plan = planOf({ ...steps, budget }, lockOf(sent));
      expect(plan.rows.map(({ action }) => action)).toEqual(['blocked', 'blocked']);
      expect(plan.totals).toMatchObject({ knownPrices: 0, ...totals });
    },
  );
});

test('totals are the sums of all rows', () => {
  const steps = graphOfSteps([
    song('a'),
    song('b', { retry: { attempts: 3 } }),
    picture('p', { retry: { attempts: 2 } }),
    picture('q'),
  ]);
  const b = stepOf(steps, 'b');
  const lock = lockOf({ a: [saved(earlier(a), { credits: 6 })], b: [job(earlier(b), { credits: 5 })] });
  const plan = planOf(steps, lock, { maxCredits: 40 });
  expect(plan.rows.map(({ credits, mayRetry, discards }) => ({ credits, mayRetry, discards }))).toEqual([
    { credits: 6, discards: 6 },
    { credits: 6, mayRetry: 12, discards: 5 },
    { credits: null, mayRetry: null },
    { credits: null },
  ]);
  expect(withoutEstimate(plan.totals)).toStrictEqual({
    toSpend: null,
    ceiling: 12,
    knownPrices: 12,
    unknownPrices: 2,
    alreadyPaid: 11,
    held: 0,
    discarded: 11,
    mayRetry: 12,
    heldUnpriced: 48,
    maxCredits: 40,
  });
});

describe('a step that needs one that is not going to be done', () => {
  const chain = graphOfSteps([song('a'), song('b', { needs: ['a'] })]);
  const b = stepOf(chain, 'b');
  const open = create(a, { state: 'unresolved' });

  test.each<[string, Lock, string]>([
    ['failed', lockOf({ a: [job(a, { state: 'failed' })] }), 'needs a, which is failed'],
    ['unresolved', lockOf({ a: [open] }), 'needs a, which is unresolved'],
  ])('waits for nothing: it is %s', (_name, lock, reason) => {
    expect(lastRow(chain, lock)).toEqual({
      address: 'b',
      task: 'b',
      kind: 'music',
      action: 'blocked',
      blockedBy: 'step',
      reason,
      credits: 0,
    });
  });

  test('is blocked through others, and the first of them is named', () => {
    const long = graphOfSteps([song('a'), song('x'), song('b', { needs: ['a', 'x'] }), song('c', { needs: ['b'] })]);
    const failed = lockOf({
      a: [job(stepOf(long, 'a'), { state: 'failed' })],
      x: [job(stepOf(long, 'x'), { state: 'failed' })],
    });
    expect(notify(planOf(long, failed).rows).slice(2)).toEqual([
      ['b', 'blocked', 'needs a, which is failed'],
      ['c', 'blocked', 'needs b, which is blocked'],
    ]);
  });

  test('is collected all the same when it is paid', () => {
    const rest = lockOf({ a: [open], b: [saved(b)] });
    expect(lastRow(chain, rest, { fileState: () => 'missing' }).action).toBe('download');
    expect(lastRow(chain, lockOf({ a: [open], b: [job(b)] })).action).toBe('attach');
  });

  test('is blocked where it shares a job that needs it', () => {
    const same = { model: 'song-7.5', prompt: 'same' };
    const twins = graphOfSteps([
      song('a'),
      song('b', { request: same, needs: ['a'] }),
      song('twin', { request: same }),
      song('other'),
    ]);
    const lock = lockOf({ a: [open] });
    expect(notify(planOf(twins, lock).rows).slice(1)).toEqual([
      ['b', 'blocked', 'needs a, which is unresolved'],
      ['twin', 'blocked', 'needs b, which is blocked'],
      ['other', 'create', 'not bought yet'],
    ]);
  });
});

describe('orphans', () => {
  const orphan = {
    task: 'gone',
    kind: 'music',
    action: 'orphan',
    reason: { code: 'orphan', text: 'in the lock, not in the manifest; kept' },
    credits: 0,
  };
  const gone = earlier(a);

  test('come last, in the order of their names', () => {
    const lock = lockOf({
      'gone@2': [job(gone, { jobId: 'g-2' })],
      'gone@1': [saved(gone, { jobId: 'g-1' }), saved(gone, { jobId: 'g-0' })],
      gone: [create(gone, { state: 'unresolved', key: 'g' })],
      a: [saved(a)],
    });
    expect(planOf(graph, lock).rows.slice(1)).toEqual([
      {
        ...orphan,
        address: 'gone',
        action: 'unresolved',
        reason: {
          code: 'answer-lost',
          text: 'in the lock, not in the manifest: it is not known whether the create request was charged',
        },
        send: sendIn(gone),
      },
      { ...orphan, address: 'gone@1', jobId: 'g-1', output: 'output/a.mp3' },
      { ...orphan, address: 'gone@2', jobId: 'g-2' },
    ]);
  });

  test('that are pinned say so', () => {
    const lock = deciding(lockOf({ gone: [saved(gone)] }), 'gone', {
      pin: { fingerprint: gone.fingerprint, revision: 1 },
    });
    expect(rowOf(planOf(graph, lock), 'gone').reason).toBe(
      'in the lock, not in the manifest; kept; pinned: `move` assigns the purchase to another step',
    );
  });
});
