import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, OpenSend, Purchase } from '../../../src/lock/record.ts';
import { orderId, type PlanRow } from '../../../src/plan/plan.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  create,
  earlier,
  forgetting,
  forgotten,
  type GivenFacts,
  job,
  lockOf,
  now,
  picture,
  planOf,
  rowOf,
  saved,
  sendIn,
  song,
  stepOf,
  urlOf,
} from './facts.ts';

const graph = graphOfSteps([song('a'), song('b')]);
const a = stepOf(graph, 'a');
const b = stepOf(graph, 'b');
const old = earlier(a);
const since = new Date(now - 3_600_000).toISOString();
const open = create(old, { since });
const listed: Partial<OpenSend> = { state: 'unresolved', since, fence: 'job-9' };
const replayed =
  'the answer to the create request was lost; the same key is sent again, so the request is charged once';
const tooLate =
  'the answer to the create request was lost more than 23 hours ago, and the service no longer replays the answer';
const searched =
  "the answer to the create request was lost; the service's list is searched first, so the request is charged once";

/** The rows that are about a send, and about no step. */
function asksOf(lock: Lock, facts: GivenFacts = {}, given: Graph = graph): PlanRow[] {
  return planOf(given, lock, facts).rows.filter(({ send }) => send !== undefined);
}

const told = (rows: readonly PlanRow[]) =>
  rows.map(
    ({ address, action, reason, send, order }) => `${address} ${action} ${send} ${order?.key ?? '-'}: ${reason.text}`,
  );

describe('an open send is a row of every plan, whatever became of its step', () => {
  const of = (address: string, purchase: Purchase, reason: string, action = 'create') =>
    `${address} ${action} ${purchase.send} ${action === 'create' ? purchase.key : '-'}: ${reason}`;

  test.each<[string, Record<string, Purchase[]>, string[]]>([
    ['nothing is open', { a: [saved(a), create(old, { state: 'refused' })] }, []],
    ['its step asks about it by itself', { a: [create(a, { since })] }, []],
    ['its step was edited', { a: [open] }, [of('a', open, `create request of an earlier input: ${replayed}`)]],
    [
      'its step was edited, and bought since',
      { a: [saved(a, { generation: 2 }), open] },
      [of('a', open, `create request of an earlier input: ${replayed}`)],
    ],
    ['its step is gone', { gone: [open] }, [of('gone', open, `in the lock, not in the manifest: ${replayed}`)]],
    [
      'its step has a job beside it',
      { a: [create(a, { generation: 2, since }), saved(a)] },
      [of('a', create(a, { generation: 2 }), `another create request of this step: ${replayed}`)],
    ],
    [
      'its step asks about another one of the same key, from another branch',
      { a: [create(a, { since, send: 'ours' }), create(a, { since, send: 'theirs' })] },
      [of('a', create(a, { send: 'theirs' }), `another create request of this step: ${replayed}`)],
    ],
    [
      'it is forgotten: nobody knows what it cost',
      { a: [forgotten(create(a, { since }))] },
      [of('a', create(a), `another create request of this step: ${replayed}`)],
    ],
    ['it was written off', { a: [create(old, { writtenOff: true })], gone: [create(b, { writtenOff: true })] }, []],
    [
      'each of several',
      { a: [create(old, { ...listed, generation: 2, send: 's2' }), open], gone: [create(b, { since, send: 's3' })] },
      [
        of('a', create(old, { generation: 2, send: 's2' }), `create request of an earlier input: ${searched}`),
        of('a', open, `create request of an earlier input: ${replayed}`),
      ],
    ],
    [
      'one that a person has to decide about',
      { a: [create(old, { since: new Date(now - 86_400_000).toISOString() })] },
      [of('a', open, `create request of an earlier input: ${tooLate}`, 'unresolved')],
    ],
  ])('%s', (_name, records, expected) => {
    expect(told(asksOf(lockOf(records)))).toEqual(expected);
  });

  test('also where its step is not selected, and where a run is about another one', () => {
    const lock = lockOf({ a: [create(a, { since })], b: [create(b, { ...listed })] });
    const selected = new Set(['b']);
    expect(told(asksOf(lock, { selected }))).toEqual([`a create ${sendIn(a)} ${create(a).key}: ${replayed}`]);
    expect(rowOf(planOf(graph, lock, { selected }), 'b').order?.send).toMatchObject({ id: sendIn(b), fence: 'job-9' });
    expect(told(asksOf(lock, { selected: new Set() }))).toHaveLength(2);
  });

  test('also where its step is held to something else', () => {
    const pin = { fingerprint: old.fingerprint, revision: 1 };
    const lock = lockOf({ a: [create(a, { generation: 2, since }), saved(old)] }, { decisions: { pin } });
    const elsewhere = lockOf({ a: [create(b, { generation: 2, since }), saved(old)] }, { decisions: { pin } });
    expect(rowOf(planOf(graph, lock), 'a').order?.send?.id).toBe(sendIn(a, { generation: 2 }));
    // What another step asks for takes it over.
    expect(rowOf(planOf(graph, elsewhere), 'b').order).toMatchObject({
      send: { id: sendIn(b, { generation: 2 }) },
      movedFrom: 'a',
    });
    expect(asksOf(elsewhere)).toEqual([]);
  });

  test('also where its step shares the job of another', () => {
    const twins = graphOfSteps([
      song('a', { request: { prompt: 'same' } }),
      song('b', { request: { prompt: 'same' } }),
    ]);
    const [one, two] = [stepOf(twins, 'a'), stepOf(twins, 'b')];
    const lock = lockOf({ a: [saved(one)], b: [create(two, { since })] });
    const rows = planOf(twins, lock).rows;
    expect(rows.map(({ address, action }) => `${address} ${action}`)).toEqual(['a keep', 'b create']);
    expect(rows[1]?.order?.send?.id).toBe(sendIn(two));
  });

  test('but not where it is closed, or decided about, anywhere in the lock', () => {
    const lock = lockOf({ a: [open], gone: [create(b, { since })] });
    const closed = (more: object) => {
      const record = lock.steps.get('gone');
      if (record === undefined) throw new Error('no record');
      return { ...lock, steps: new Map([...lock.steps, ['gone', { ...record, ...more }]]) };
    };
    expect(asksOf(closed({ closes: [open.send] })).map(({ address }) => address)).toEqual([]);
    expect(asksOf(closed({ decisions: { sends: [open.send] } })).map(({ address }) => address)).toEqual([]);
  });

  test('once, with the step that has taken it along; under its new name', () => {
    const both = lockOf({ was: [open, saved(a, { generation: 2 })], a: [open, saved(a, { generation: 2 })] });
    expect(told(asksOf(both))).toEqual([
      `a create ${open.send} ${open.key}: create request of an earlier input: ${replayed}`,
    ]);
    const renamed = asksOf(lockOf({ was: [saved(a, { generation: 2 }), open] }));
    expect(renamed.map(({ address, task, order }) => [address, task, order?.address, order?.movedFrom])).toEqual([
      ['a', 'a', 'a', 'was'],
    ]);
    expect(renamed[0]?.reason.text).toBe(`create request of an earlier input: ${replayed}`);
  });
});

describe('what is asked', () => {
  test('that very create, and nothing that anybody saves', () => {
    const hero = graphOfSteps([song('hero@de/2', { needs: [] })]);
    const was = earlier(stepOf(hero, 'hero@de/2'));
    const sent = create(was, {
      since,
      generation: 3,
      attempt: 2,
      take: 2,
      fence: 'job-9',
      resent: true,
      digest: 'of its bytes',
      state: 'unresolved',
    });
    const [row] = asksOf(lockOf({ 'hero@de/2': [sent] }), {}, hero);
    const price = { class: 'music/song-7.5', credits: 4, source: 'documented', low: 4, likely: 4, high: 4 };
    expect(row).toStrictEqual({
      address: 'hero@de/2',
      task: stepOf(hero, 'hero@de/2').task,
      kind: 'music',
      action: 'create',
      reason: { code: 'answer-lost', text: `create request of an earlier input: ${searched}` },
      credits: 4,
      price,
      send: sent.send,
      order: {
        campaign: 'test',
        address: 'hero@de/2',
        task: stepOf(hero, 'hero@de/2').task,
        kind: 'music',
        action: 'create',
        fingerprint: was.fingerprint,
        generation: 3,
        attempt: 2,
        repeat: 1,
        refused: 0,
        key: sent.key,
        request: was.paidRequest,
        paidRequest: was.paidRequest,
        save: '',
        needs: [],
        price,
        replaces: [],
        send: { id: sent.send, since, fence: 'job-9', resent: true, digest: 'of its bytes' },
        asksOnly: true,
        take: 2,
      },
    });
  });

  test('with nothing that the lock does not have', () => {
    const [row] = asksOf(lockOf({ 'gone@de': [open] }));
    expect(row?.task).toBe('gone');
    expect(row?.order?.send).toStrictEqual({ id: open.send, since });
    expect(row?.order).not.toHaveProperty('take');
    expect(row?.order).not.toHaveProperty('movedFrom');
    const { since: _since, ...timeless } = create(old, { state: 'unresolved', fence: '' });
    const [other] = asksOf(lockOf({ a: [timeless] }));
    expect(other?.order?.send).toStrictEqual({ id: open.send, since: '1970-01-01T00:00:00.000Z', fence: '' });
  });

  test('by its own name in a run, beside that of its step', () => {
    const lock = lockOf({ a: [create(old, { since, send: 's2' }), open] });
    const names = planOf(graph, lock).rows.flatMap(({ order }) => (order === undefined ? [] : [orderId(order)]));
    expect(names).toEqual(['a', 'b', 'a\u0000s2', `a\u0000${open.send}`]);
  });

  test('of the kind that the send is, whatever its record has become', () => {
    const poster = stepOf(graphOfSteps([picture('p')]), 'p');
    const sent: Purchase = { ...create(poster, { since }), kind: 'image' };
    const [row] = asksOf(lockOf({ a: [saved(a, { generation: 2 }), sent] }));
    expect([row?.kind, row?.order?.kind, row?.order?.price.class]).toEqual([
      'image',
      'image',
      expect.stringMatching(/^image/),
    ]);
    expect(asksOf(lockOf({ a: [create(old, { since })] }))[0]?.order?.kind).toBe('music');
  });

  test.each<[string, OpenSend]>([
    ['its request is not on record', withoutRequest(open)],
    ['nobody knows its kind', { ...open, kind: 'hologram' }],
  ])('is nothing where %s: a person decides', (_name, sent) => {
    const [row] = asksOf(lockOf({ a: [sent] }));
    expect(row).toMatchObject({
      action: 'unresolved',
      reason: {
        code: 'answer-lost',
        text: 'create request of an earlier input: the answer to the create request was lost, and the lock does not contain the request',
      },
    });
    expect(row).not.toHaveProperty('order');
    const lost = { ...sent, state: 'unresolved' as const, error: 'cut off' };
    expect(asksOf(lockOf({ a: [lost] }))[0]?.reason.text).toBe(
      'create request of an earlier input: it is not known whether the create request was charged: cut off',
    );
  });
});

describe('what asking may cost', () => {
  const budget = (credits: number): Graph => ({ ...graph, budget: credits });

  test('is not held a second time', () => {
    const plan = planOf(budget(100), lockOf({ gone: [open] }));
    expect(plan.totals).toMatchObject({ knownPrices: 12, held: 0, budgetLeft: 100 });
    const waiting = planOf(budget(100), lockOf({ gone: [open] }), { onUnknown: 'hold' });
    expect(waiting.totals).toMatchObject({ knownPrices: 8, held: 4, budgetLeft: 96 });
  });

  test('comes before what is bought again', () => {
    const actions = (credits: number) =>
      planOf(budget(credits), lockOf({ gone: [open] })).rows.map(({ address, action }) => `${address} ${action}`);
    expect(actions(12)).toEqual(['a create', 'b create', 'gone create']);
    expect(actions(11)).toEqual(['a create', 'b blocked', 'gone create']);
    expect(actions(4)).toEqual(['a blocked', 'b blocked', 'gone create']);
    expect(actions(3)).toEqual(['a blocked', 'b blocked', 'gone blocked']);
  });

  test('and where that does not fit, nothing is: it may have been charged', () => {
    const [row] = asksOf(lockOf({ gone: [open] }), {}, budget(3));
    expect(row).toMatchObject({
      action: 'blocked',
      blockedBy: 'budget',
      credits: 0,
      reason: {
        code: 'budget',
        text: `in the lock, not in the manifest: ${replayed}; the budget is not enough: this step costs 4`,
      },
      wouldCost: 4,
    });
    expect(row).not.toHaveProperty('order');
    expect(planOf(budget(3), lockOf({ gone: [open] })).totals).toMatchObject({ held: 4, knownPrices: 0 });
  });

  test('is unknown where the price is: what is known to be left is not given to others', () => {
    const poster = stepOf(graphOfSteps([picture('p')]), 'p');
    const lock = lockOf({ gone: [{ ...create(poster, { since }), kind: 'image' }] });
    const rows = (credits: number) =>
      planOf(budget(credits), lock).rows.map(({ address, action, credits: cost }) => `${address} ${action} ${cost}`);
    expect(rows(9)).toEqual(['a create 4', 'b create 4', 'gone create null']);
    expect(rows(8)).toEqual(['a create 4', 'b blocked 0', 'gone create null']);
    expect(asksOf(lock, {}, budget(0))[0]?.reason.text).toContain('this step costs an unknown number');
  });
});

describe('steps beside it', () => {
  test('that need its step go on with what the step has', () => {
    const chain = graphOfSteps([picture('base'), picture('over', { request: { referenceImages: [urlOf('base')] } })]);
    const base = stepOf(chain, 'base');
    const lock = lockOf({ base: [create(earlier(base), { ...listed }), saved(base)] }, { kind: 'image' });
    expect(
      planOf(chain, lock, { onUnknown: 'hold' }).rows.map(({ address, action }) => `${address} ${action}`),
    ).toEqual(['base keep', 'over create', 'base unresolved']);
  });

  test('are bought as another purchase, under another number', () => {
    const lock = lockOf({ a: [create(old, { since, generation: 2 })] });
    expect(rowOf(planOf(graph, lock), 'a').order).toMatchObject({ generation: 3, repeat: 1, refused: 0 });
  });

  test('are not in its way when they are forgotten', () => {
    const lock = forgetting(
      lockOf({ a: [job(a, { generation: 2, state: 'failed' }), create(old, { since })] }),
      'a',
      2,
    );
    expect(told(asksOf(lock))).toHaveLength(1);
    expect(rowOf(planOf(graph, lock), 'a').reason).toBe('the purchase was forgotten');
  });
});

function withoutRequest({ request: _request, ...purchase }: OpenSend): OpenSend {
  return purchase;
}

test('a send whose key the service knows waits for a person, whatever its error says; without the mark it is as any other', () => {
  const reasonWith = (facts: Partial<OpenSend>) => {
    const lock = lockOf({ a: [create(a, { since, state: 'unresolved', ...facts })] });
    const row = planOf(graph, lock).rows.find(({ address }) => address === 'a');
    return [row?.action, row?.reason.code, row?.reason.text];
  };
  expect(reasonWith({ keyKnown: true, error: 'ask for abc' })).toEqual(['unresolved', 'key-known', 'ask for abc']);
  expect(reasonWith({ keyKnown: true })[2]).toBe(
    'the service reports a purchase with the same idempotency key, but no job id',
  );
  expect(reasonWith({ error: 'the service knows a purchase under its key' })[1]).toBe('answer-lost');
});
