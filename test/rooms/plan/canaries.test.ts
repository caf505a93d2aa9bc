import { describe, expect, it, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, Purchase, StepRecord, Verdict } from '../../../src/lock/record.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { graphOf } from '../../rig/campaign.ts';
import { create, type GivenFacts, job, lockOf, planOf, saved, stepOf } from './facts.ts';

const heroes = (canary: string, { rows = 'a, b, c, d', prompt = 'a {{row}}', more = '' } = {}) => `version: 1
name: test
tasks:
  hero: { kind: music, foreach: [${rows}], canary: ${canary}, with: { model: song-7.5, prompt: "${prompt}" }${more} }
`;

const check = graphOf(heroes('1'));
const ask = graphOf(heroes('{ then: ask }'));

/** What a plan does with each step: `+` buys it, `+ < hero@a` after that one, `x` leaves it. */
function notify({ rows }: Plan, task = 'hero'): string[] {
  return rows
    .filter((row) => row.task === task)
    .map(({ address, action, blockedBy, reason, canaries, canary }) => {
      const after = canaries === undefined ? '' : ` < ${canaries.join(' ')}`;
      const first = canary === true ? ' first' : '';
      return action === 'blocked' ? `${address} ${blockedBy}: ${reason.text}` : `${address} ${action}${first}${after}`;
    });
}

const plain = (graph: Graph, lock: Lock = lockOf({}), facts: GivenFacts = {}) => notify(planOf(graph, lock, facts));

/** How the purchase of a step is made, by address. */
interface States {
  [address: string]: (step: Graph['steps'][number]) => Purchase;
}

function lockWith(graph: Graph, states: States): Lock {
  return lockOf(Object.fromEntries(Object.entries(states).map(([one, make]) => [one, [make(stepOf(graph, one))]])));
}

function judged(lock: Lock, address: string, is: Verdict['is']): Lock {
  const record = lock.steps.get(address) as StepRecord;
  const { fingerprint = '', jobId: job = '' } = record.purchases[0] ?? {};
  const verdict: Verdict = { fingerprint, job, ...(is !== undefined && { is }), revision: 1 };
  return { ...lock, steps: new Map([...lock.steps, [address, { ...record, decisions: { verdicts: [verdict] } }]]) };
}

const failed = (step: Graph['steps'][number]) => job(step, { state: 'failed', error: 'boom' });
const refused = (step: Graph['steps'][number]) => create(step, { state: 'refused', error: 'no' });

describe('check: the others follow in the same run', () => {
  it('lets the first go alone, and has all of it in the totals', () => {
    expect(plain(check)).toEqual([
      'hero@a create first',
      'hero@b create < hero@a',
      'hero@c create < hero@a',
      'hero@d create < hero@a',
    ]);
    expect(planOf(check, lockOf({})).totals).toMatchObject({ knownPrices: 16 });
    expect(planOf(check, lockOf({})).rows[1]?.order?.canaries).toEqual(['hero@a']);
  });

  it('stays the one that a run has begun with, although an earlier one could go first by now', () => {
    expect(plain(check, lockOf({}), { underWay: new Set(['hero@c']) })).toEqual([
      'hero@a create < hero@c',
      'hero@b create < hero@c',
      'hero@c create first',
      'hero@d create < hero@c',
    ]);
  });

  it('is asked of each price by itself', () => {
    const lines = plain(
      graphOf(`version: 1
name: test
tasks:
  hero: { kind: image, foreach: [a, b], matrix: { r: [1k, 4k] }, canary: 1, with: { prompt: "{{row}}", resolution: "{{matrix.r}}" } }
`),
    );
    expect(lines).toEqual([
      'hero@a,1k create first',
      'hero@a,4k create first',
      'hero@b,1k create < hero@a,1k',
      'hero@b,4k create < hero@a,4k',
    ]);
  });

  const stays = (what: string) =>
    ['b', 'c', 'd'].map((key) => `hero@${key} step: waits for its canary: hero@a ${what}`);
  const follow = ['b', 'c', 'd'].map((key) => `hero@${key} create < hero@a`);
  const lost = (step: Graph['steps'][number]) => create(step, { state: 'unresolved' });
  test.each<[string, States, string[]]>([
    ['one that is done', { 'hero@a': saved }, ['hero@a keep', 'hero@b create', 'hero@c create', 'hero@d create']],
    ['one that failed', { 'hero@a': failed }, ['hero@a failed', ...stays('failed')]],
    ['one that nobody knows of', { 'hero@a': lost }, ['hero@a unresolved', ...stays('is unresolved')]],
    ['one that runs', { 'hero@a': job }, ['hero@a attach first', ...follow]],
    ['one that was refused', { 'hero@a': refused }, ['hero@a create first', ...follow]],
    // Any of them proves it: rows come and go.
    ['a later one', { 'hero@c': saved }, ['hero@a create', 'hero@b create', 'hero@c keep', 'hero@d create']],
    [
      'one done, another failed',
      { 'hero@a': failed, 'hero@c': saved },
      ['hero@a failed', 'hero@b create', 'hero@c keep', 'hero@d create'],
    ],
    [
      'others that run already',
      { 'hero@a': failed, 'hero@c': job },
      ['hero@a failed', ...stays('failed').slice(0, 1), 'hero@c attach', ...stays('failed').slice(2)],
    ],
  ])('%s', (_name, states, expected) => {
    expect(notify(planOf(check, lockWith(check, states), { onUnknown: 'hold' }))).toEqual(expected);
  });

  it('holds for an output that does not fit, until it does', () => {
    const strict = graphOf(heroes('1', { more: ', expect: { bytes: { min: 100 } }' }));
    const lock = lockWith(strict, { 'hero@a': saved });
    expect(plain(strict, lock)[1]).toBe('hero@b step: waits for its canary: hero@a does not fit `expect`');
    const loose = graphOf(heroes('1', { more: ', expect: { bytes: { min: 1 } }' }));
    expect(plain(loose, lock)[1]).toBe('hero@b create');
    expect(plain(strict, lock, { redo: new Set(['hero@a']) }).slice(0, 2)).toEqual([
      'hero@a redo first',
      'hero@b create < hero@a',
    ]);
  });

  it('starts again with a changed template, but not with new or changed rows', () => {
    const lock = lockWith(check, { 'hero@a': saved, 'hero@b': saved, 'hero@c': saved, 'hero@d': saved });
    expect(plain(graphOf(heroes('1', { prompt: 'an oil {{row}}' })), lock).slice(0, 2)).toEqual([
      'hero@a redo first',
      'hero@b redo < hero@a',
    ]);
    expect(plain(graphOf(heroes('1', { rows: 'z, a, b, c, d' })), lock)[0]).toBe('hero@z create');
    // Its row is gone: another one has proven it.
    expect(plain(graphOf(heroes('1', { rows: 'x, y, d' })), lock).slice(0, 2)).toEqual([
      'hero@x create',
      'hero@y create',
    ]);
  });

  it('shares the fate of what it is made from, and of the credits', () => {
    const lines = heroes('1').replace(
      'tasks:',
      'tasks:\n  tune: { kind: music, with: { model: song-7.5, prompt: tune } }',
    );
    const made = graphOf(lines.replace('a {{row}}', 'a {{row}} {{tasks.tune.url}}'));
    expect(plain(made, lockWith(made, { tune: failed })).slice(0, 2)).toEqual([
      'hero@a step: needs tune, which is failed',
      'hero@b step: needs tune, which is failed',
    ]);
    const some = planOf(check, lockOf({}), { maxCredits: 9 });
    expect(notify(some)).toEqual([
      'hero@a create first',
      'hero@b create < hero@a',
      'hero@c budget: --max-credits is not enough: this step costs 4',
      'hero@d budget: --max-credits is not enough: this step costs 4',
    ]);
    expect(notify(planOf(check, lockOf({}), { maxCredits: 3 }))).toEqual(
      ['a', 'b', 'c', 'd'].map((key) => `hero@${key} budget: --max-credits is not enough: this step costs 4`),
    );
  });

  it('lets nothing that runs be followed by another purchase before it is proven', () => {
    const retrying = graphOf(heroes('1', { more: ', retry: { attempts: 3 }' }));
    const lock = lockWith(retrying, { 'hero@b': job });
    const { rows } = planOf(retrying, lock);
    // It was bought first, so it is the canary.
    expect(notify({ rows } as Plan).slice(0, 2)).toEqual(['hero@a create < hero@b', 'hero@b attach first']);
    const both = planOf(retrying, lockWith(retrying, { 'hero@a': job, 'hero@b': job })).rows;
    expect(both.map(({ order }) => order?.retries?.left)).toEqual([2, undefined, 2, 2]);
  });
});

describe('ask: people pick the canaries first', () => {
  it('prices the others after the picks, with what is made from the canary', () => {
    const text = `${heroes('{ then: ask }')}  card: { kind: music, foreach: [a, b], with: { model: song-7.5, prompt: "{{row}} {{tasks.hero.url}}" } }\n`;
    const plan = planOf(graphOf(text), lockOf({}));
    expect([...notify(plan), ...notify(plan, 'card')]).toEqual([
      'hero@a create first',
      ...['b', 'c', 'd'].map((key) => `hero@${key} gate: waits for its canary: hero@a must be picked`),
      'card@a gate: waits for its canary: hero@a must be picked',
      'card@b gate: needs hero@b, which waits for a pick',
    ]);
    expect(plan.totals).toMatchObject({ knownPrices: 4, afterPicks: { steps: 5, credits: 20 } });
    expect(plan.gates).toEqual([
      {
        ...{ name: 'canary of hero', task: 'hero', is: 'canary', choose: 1, members: ['hero@a'] },
        ...{ state: 'open', picked: [], waiting: 5 },
      },
    ]);
    expect(plan.rows[1]?.later).toEqual({ generation: 1 });
  });

  const bought = lockWith(ask, { 'hero@a': saved });
  const goOn = ['hero@a keep', 'hero@b create', 'hero@c create', 'hero@d create'];
  const wait = (words: string) => ['hero@a keep', ...['b', 'c', 'd'].map((key) => `hero@${key} gate: ${words}`)];
  test.each<[name: string, lock: Lock, expected: string[]]>([
    ['nobody has looked', bought, wait('waits for its canary: hero@a must be picked')],
    ['picked', judged(bought, 'hero@a', 'picked'), goOn],
    [
      'rejected',
      judged(bought, 'hero@a', 'rejected'),
      wait('waits for its canary: hero@a is rejected; change the request, or buy a new canary with --redo'),
    ],
  ])('%s', (_name, lock, expected) => {
    expect(plain(ask, lock)).toEqual(expected);
  });

  it('lapses with the request, and with another purchase; new rows need no new answer', () => {
    const lock = judged(bought, 'hero@a', 'picked');
    const gate = 'gate: waits for its canary: hero@a must be picked';
    expect(plain(graphOf(heroes('{ then: ask }', { prompt: 'an oil {{row}}' })), lock).slice(0, 2)).toEqual([
      'hero@a redo first',
      `hero@b ${gate}`,
    ]);
    expect(plain(ask, lock, { redo: new Set(['hero@a']) }).slice(0, 2)).toEqual([
      'hero@a redo first',
      `hero@b ${gate}`,
    ]);
    expect(plain(graphOf(heroes('{ then: ask }', { rows: 'z, a, b' })), lock)).toEqual([
      'hero@z create',
      'hero@a keep',
      'hero@b create',
    ]);
  });

  it('asks about what a run can buy: not about steps behind another gate while others are free', () => {
    const text = `version: 1
name: test
tasks:
  draft: { kind: music, foreach: [a, b], gate: approve, with: { model: song-7.5, prompt: "{{row}}" } }
  final: { kind: music, foreach: [a, b], canary: { then: ask }, with: { model: song-7.5, prompt: "{{tasks.draft.url}}" } }
`;
    const graph = graphOf(text);
    const lock = judged(lockWith(graph, { 'draft@a': saved, 'draft@b': saved }), 'draft@b', 'picked');
    expect(notify(planOf(graph, lock), 'final')).toEqual([
      'final@a gate: waits for approval: draft@a (and 1 more)',
      'final@b create first',
    ]);
  });
});
