import { describe, expect, test } from 'vitest';
import type { Graph, Step } from '../../../src/graph/graph.ts';
import { fingerprintStep } from '../../../src/graph/render/fingerprint.ts';
import type { Decisions, Lock, Purchase } from '../../../src/lock/record.ts';
import type { Decided } from '../../../src/plan/situation/find-purchases.ts';
import { situate } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  create,
  deciding,
  earlier,
  type GivenFacts,
  job,
  lockOf,
  now,
  picture,
  planOf,
  rowOf,
  saved,
  song,
  stepOf,
  urlOf,
} from './facts.ts';

const graph = graphOfSteps([song('a')]);
const a = stepOf(graph, 'a');
const was = earlier(a);
const older = earlier(a, { ...a.request, prompt: 'older' });
const wanted = { paidRequest: a.paidRequest, fingerprint: a.fingerprint };
const byManifest: Graph = { ...graph, steps: [{ ...a, rules: { pin: true } }] };

const pinned = (purchases: Purchase[], fingerprint = was.fingerprint) =>
  deciding(lockOf({ a: purchases }), 'a', { pin: { fingerprint, revision: 1 } });
const accepted = (purchases: Purchase[], fingerprint = was.fingerprint) =>
  deciding(lockOf({ a: purchases }), 'a', { accepted: [{ wanted: a.fingerprint, fingerprint, revision: 1 }] });

function decided(given: Graph, lock: Lock, redo: string[] = []) {
  const { fingerprint, paidRequest, decided: by } = stepOf(situate(given, lock, { redo: new Set(redo) }).graph, 'a');
  return { fingerprint, paidRequest, by };
}
const held = ({ fingerprint, paidRequest }: Step, by: Decided | undefined) => ({ fingerprint, paidRequest, by });

describe('what people decided about a step', () => {
  test.each<[string, Graph, Lock, ReturnType<typeof decided>]>([
    ['nothing', graph, lockOf({ a: [saved(was)] }), held(a, undefined)],
    [
      'a pin taken off',
      graph,
      deciding(lockOf({ a: [saved(was)] }), 'a', { pin: { revision: 2 } }),
      held(a, undefined),
    ],
    ['a pin of what it asks for', graph, pinned([saved(a)], a.fingerprint), held(a, { pinned: 'lock' })],
    ['a pin of another request', graph, pinned([saved(was)]), held(was, { pinned: 'lock', wanted })],
    [
      'a pin of an old purchase: neither a newer one nor the one asked for counts',
      graph,
      pinned([saved(older, { generation: 3 }), saved(a, { generation: 2 }), saved(was)]),
      held(was, { pinned: 'lock', wanted }),
    ],
    ['a pin of a job that runs', graph, pinned([job(was)]), held(was, { pinned: 'lock', wanted })],
    ['a pin of what failed holds nothing', graph, pinned([job(was, { state: 'failed' })]), held(a, undefined)],
    [
      'a pin of the manifest: the newest that is done',
      byManifest,
      lockOf({ a: [job(older, { generation: 3 }), saved(was, { generation: 2 }), saved(older)] }),
      held(was, { pinned: 'manifest', wanted }),
    ],
    ['an acceptance', graph, accepted([saved(was)]), held(was, { accepted: true, wanted })],
    [
      'an acceptance of a request that is bought after all',
      graph,
      accepted([saved(a, { generation: 2 }), saved(was)]),
      held(a, undefined),
    ],
    [
      'an acceptance instead of a failure',
      graph,
      accepted([job(a, { state: 'failed', generation: 2 }), saved(was)]),
      held(was, { accepted: true, wanted }),
    ],
    [
      'a pin goes before an acceptance',
      graph,
      deciding(lockOf({ a: [saved(older, { generation: 2 }), saved(was)] }), 'a', {
        pin: { fingerprint: older.fingerprint, revision: 1 },
        accepted: [{ wanted: a.fingerprint, fingerprint: was.fingerprint, revision: 1 }],
      }),
      held(older, { pinned: 'lock', wanted }),
    ],
  ])('%s', (_name, given, lock, expected) => {
    expect(decided(given, lock)).toStrictEqual(expected);
  });

  test('an acceptance does not count where the step is to be bought again, a pin does', () => {
    expect(decided(graph, accepted([saved(was)]), ['a'])).toEqual(held(a, undefined));
    expect(decided(graph, accepted([saved(was)]), ['b'])).toEqual(held(was, { accepted: true, wanted }));
    expect(decided(graph, pinned([saved(was)]), ['a'])).toEqual(held(was, { pinned: 'lock', wanted }));
  });

  test('a step that is held to another purchase is not retried, and one that is held to its own is', () => {
    const patient = { ...graph, steps: [{ ...a, rules: { retry: { attempts: 3 } } }] };
    expect(stepOf(situate(patient, pinned([saved(was)])).graph, 'a').rules).toEqual({});
    expect(stepOf(situate(patient, pinned([saved(a)], a.fingerprint)).graph, 'a').rules?.retry).toEqual({
      attempts: 3,
    });
  });

  test('is applied once', () => {
    const once = situate(graph, pinned([saved(was)])).graph;
    // @ts-expect-error What holds decisions cannot be decided again.
    const decideAgain = () => situate(once, pinned([saved(older)], older.fingerprint));
    expect(decideAgain).toBeTypeOf('function');
    expect(situate(graph, lockOf({ a: [saved(was)] })).graph.steps).toEqual(graph.steps);
  });
});

test('a step that uses one that is held refers to what was really bought, and so do those that use it', () => {
  const file = { path: 'mask.png', sha256: 'ab', bytes: 2 };
  const used = graphOfSteps([
    song('a'),
    { address: 'film', kind: 'video', request: { audio: urlOf('a'), prompt: 'go' } },
    { address: 'last', kind: 'video', request: { video: urlOf('film') } },
    song('apart'),
    { address: 'masked', kind: 'upload', request: { audio: urlOf('a'), file: file.path }, file },
  ]);
  const lock = pinned([saved(was)]);
  const { steps } = situate(used, lock).graph;
  const film = { audio: { $ref: was.fingerprint, field: 'url' }, prompt: 'go' };
  const last = { video: { $ref: fingerprintStep({ kind: 'video', paidRequest: film }), field: 'url' } };
  expect(
    steps.slice(1, 3).map(({ request, paidRequest, fingerprint }) => ({ request, paidRequest, fingerprint })),
  ).toEqual([
    {
      request: { audio: urlOf('a'), prompt: 'go' },
      paidRequest: film,
      fingerprint: fingerprintStep({ kind: 'video', paidRequest: film }),
    },
    {
      request: { video: urlOf('film') },
      paidRequest: last,
      fingerprint: fingerprintStep({ kind: 'video', paidRequest: last }),
    },
  ]);
});

describe('decided reason', () => {
  const graph = graphOfSteps([picture('p')]);
  const p = stepOf(graph, 'p');
  const was = earlier(p);
  const { credits: _credits, ...uncharged } = saved(was, {
    outputs: [{ path: 'output/p.png', sha256: 'a', bytes: 1, type: 'image/png' }],
  });

  const onRecord = (purchase: Purchase) => lockOf({ p: [purchase] }, { kind: 'image' });
  const pinned = (purchase: Purchase) =>
    deciding(onRecord(purchase), 'p', { pin: { fingerprint: purchase.fingerprint, revision: 1 } });
  const accepted = (purchase: Purchase) =>
    deciding(onRecord(purchase), 'p', {
      accepted: [{ wanted: p.fingerprint, fingerprint: purchase.fingerprint, revision: 1 }],
    });
  const missing: GivenFacts = { fileState: () => 'missing' };

  test.each<[string, Lock, GivenFacts, string]>([
    [
      'a pin, when nobody knows what it would cost',
      pinned(uncharged),
      {},
      'pinned; prompt: before → p (the price of a redo is unknown)',
    ],
    ['an acceptance', accepted(uncharged), {}, 'accepted as it is, although prompt: before → p'],
    ['a pin whose file is missing', pinned(uncharged), missing, 'paid; output/p.png is missing (pinned)'],
    ['an acceptance whose file is missing', accepted(uncharged), missing, 'paid; output/p.png is missing (accepted)'],
    ['a pin whose job runs', pinned(job(p)), {}, 'job p-1 is running (pinned)'],
  ])('the reason names %s', (_name, lock, facts, reason) => {
    expect(rowOf(planOf(graph, lock, facts), 'p').reason).toBe(reason);
  });
});

describe('unknown decisions', () => {
  const graph = graphOfSteps([song('a'), song('b'), song('c', { request: { prompt: urlOf('a') } })]);
  const since = new Date(now - 3_600_000).toISOString();
  const approval: Decisions = { unknownFields: { approval: { by: 'mara' }, __proto__: 1 } };

  const decided = (address: string, ...purchases: Purchase[]): Lock =>
    lockOf({ [address]: purchases }, { decisions: approval });
  const told = (lock: Lock, facts = {}, steps = graph) =>
    planOf(steps, lock, facts).rows.map(({ address, action, blockedBy = '-' }) => `${address} ${action} ${blockedBy}`);

  test('I42 nothing is bought at an address with a decision of an unknown kind, nor what needs it; others are', () => {
    const lock = decided('a', saved(earlier(a)));
    expect(told(lock)).toEqual(['a blocked newer', 'b create -', 'c blocked step']);
    const [row] = planOf(graph, lock).rows;
    expect([row?.reason.code, row?.order]).toEqual(['unknown-decision', undefined]);
    expect(row?.reason.text).toMatch(
      /^a newer mediabatch recorded a decision about this step .* \(`approval`\): update mediabatch first$/,
    );
  });

  test.each<[string, Lock, object]>([
    ['it is asked for again', decided('a', saved(a)), { redo: new Set(['a']) }],
    ['its key was refused', decided('a', create(a, { state: 'refused' })), {}],
    ['what was bought is forgotten', decided('a', job(a, { state: 'done', forgotten: true })), {}],
  ])('I42 nothing is bought when %s', (_why, lock, facts) => {
    expect(told(lock, facts)[0]).toBe('a blocked newer');
  });

  test('I42 a decision counts for the step that has another name now', () => {
    const lock = decided('before', saved(a));
    expect(told(lock, { redo: new Set(['a']) })[0]).toBe('a blocked newer');
  });

  test('I42 a create request whose answer was lost is not sent again, and stays open', () => {
    for (const lock of [decided('a', create(a, { since })), decided('gone', create(earlier(a), { since }))]) {
      const open = planOf(graph, lock).rows.find(({ action }) => action === 'unresolved');
      expect(open?.order).toBeUndefined();
      expect(open?.reason.text).toContain('and is not requested again: a newer mediabatch');
    }
  });

  test('what is paid is collected, and not bought again when it fails', () => {
    const retrying = graphOfSteps([song('a', { retry: { attempts: 3 } })]);
    const step = stepOf(retrying, 'a');
    const rows = planOf(retrying, decided('a', job(step))).rows;
    expect(rows[0]).toMatchObject({ action: 'attach', order: { jobId: 'a-1' } });
    expect(rows[0]?.order).not.toHaveProperty('retries');
    expect(planOf(retrying, lockOf({ a: [job(step)] })).rows[0]?.order).toHaveProperty('retries');
    expect(told(decided('a', saved(a)), {}, graphOfSteps([song('a')]))).toEqual(['a keep -']);
  });
});
