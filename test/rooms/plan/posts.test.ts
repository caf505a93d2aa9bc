import { describe, expect, test } from 'vitest';
import type { Graph, OpenRequest } from '../../../src/graph/graph.ts';
import { joinLocks } from '../../../src/lock/join.ts';
import type { Job, Lock, Purchase } from '../../../src/lock/record.ts';
import { admitPosts, allowPosts, withholdPosts } from '../../../src/plan/consent.ts';
import { targetOf } from '../../../src/plan/posts/post-record.ts';
import { findConditions } from '../../../src/plan/situation/parts.ts';
import { actionsOf } from '../../rig/campaign.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';
import {
  clips,
  create,
  earlier,
  forgetting,
  type GivenFacts,
  job,
  lockOf,
  output,
  picture,
  planOf,
  rowOf,
  song,
  stepOf,
  urlOf,
} from './facts.ts';

const still = (nth: number) => picture(`still@${nth}`, { part: { of: 'talk', index: nth } });
const using = (request: OpenRequest): WrittenStep => ({ address: 'end', kind: 'video', request });

function conditionsOf(...steps: WrittenStep[]): Record<string, number[]> {
  const graph = graphOfSteps([clips('talk'), still(0), still(1), ...steps]);
  const { fingerprint } = stepOf(graph, 'talk');
  const found = findConditions(graph);
  const all = [...found.values()].flat();
  expect(all.every((one) => one.of === 'talk' && one.fingerprint === fingerprint)).toBe(true);
  return Object.fromEntries([...found].map(([address, own]) => [address, own.map(({ index }) => index)]));
}

describe('what may turn out not to be needed', () => {
  const stills = { 'still@0': [0], 'still@1': [1] };

  test('is nothing in a campaign without parts', () => {
    expect(findConditions(graphOfSteps([picture('a'), picture('b', { request: { image: urlOf('a') } })]))).toEqual(
      new Map(),
    );
  });

  test.each<[string, OpenRequest, Record<string, number[]>]>([
    ['a step that uses no part', { prompt: 'x', none: null, deep: { more: [1, 'still@0'] } }, stills],
    ['a step that uses one', { image: urlOf('still@1') }, { ...stills, end: [1] }],
    ['a step that uses two', { image: urlOf('still@0'), last: urlOf('still@1') }, { ...stills, end: [0, 1] }],
    ['one that uses the same part twice', { image: urlOf('still@0'), last: urlOf('still@0') }, { ...stills, end: [0] }],
    ['a part further in', { deep: { image: urlOf('still@1') } }, { ...stills, end: [1] }],
    ['a part in a text', { prompt: { $text: ['see ', urlOf('still@1')] } }, { ...stills, end: [1] }],
    ['a text in a list', { texts: ['a', { $text: ['see ', urlOf('still@1')] }] }, { ...stills, end: [1] }],
    ['a list of one', { images: [urlOf('still@1')] }, { ...stills, end: [1] }],
    ['a list of two, which only gets shorter', { images: [urlOf('still@0'), urlOf('still@1')] }, stills],
    ['an object in a list of two', { images: [{ image: urlOf('still@0') }, 'x'] }, stills],
  ])('%s', (_name, request, expected) => {
    expect(conditionsOf(using(request))).toEqual(expected);
  });
});

const post = (address: string, request: WrittenStep['request'] = {}, more: Partial<WrittenStep> = {}): WrittenStep => ({
  address,
  kind: 'post',
  request: { accountIds: ['acc-1'], caption: address, ...request },
  ...more,
});
const posts = { kind: 'post' };
const graph = graphOfSteps([post('share')]);
const share = stepOf(graph, 'share');
const before = earlier(share, { ...share.request, caption: 'Helo' });
const sent = (step = share, more: Partial<Job> = {}): Job =>
  job(step, { state: 'done', outputs: [], credits: 0, ...more });

/** The row of `share`, for what is on record at its address. */
const decided = (purchases: Purchase[], facts: GivenFacts = {}, lock = lockOf({ share: purchases }, posts)) =>
  rowOf(planOf(graph, lock, facts), 'share');
const redo = { redo: new Set(['share']) };

describe('a post that is out', () => {
  test('is kept while it is the same, and whatever changes later', () => {
    expect(decided([sent()])).toMatchObject({ action: 'keep', reason: 'posted' });
    expect(decided([sent(before)])).toMatchObject({
      action: 'keep',
      reason: 'posted; changed since (caption: Helo → share)',
      changedSince: true,
      credits: 0,
      jobId: 'share-1',
    });
    const { request: _request, ...plain } = sent(before);
    expect(decided([plain]).reason).toBe('posted; changed since (an input changed)');
  });

  test.each<[string, Purchase[]]>([
    ['in an earlier generation', [create(share, { state: 'refused', generation: 2 }), sent(before)]],
    ['as something else, and refused since', [create(share, { state: 'refused', attempt: 2 }), sent(before)]],
    ['under another request, and lost', [job(before, { state: 'lost' })]],
    ['under another request, and failed', [job(before, { state: 'failed', error: 'no' })]],
    ['under another request, and running', [job(before)]],
  ])('is kept: %s', (_name, purchases) => {
    expect(decided(purchases)).toMatchObject({ action: 'keep', changedSince: true });
  });

  test('is collected for nothing where only its end is missing from the record', () => {
    for (const state of ['running', 'lost'] as const) {
      const row = decided([job(share, { state })]);
      expect(row).toMatchObject({ action: 'attach', credits: 0, order: { jobId: 'share-1' } });
    }
  });

  test('is sent again by its very address, as another purchase, and by nothing else', () => {
    for (const step of [share, before]) {
      expect(decided([sent(step)], redo)).toMatchObject({
        action: 'redo',
        reason: '--redo requests a new post; the existing post stays online',
        order: { generation: 2, attempt: 1 },
      });
    }
    const forgotten = forgetting(lockOf({ share: [sent()] }, posts), 'share');
    expect(decided([], redo, forgotten)).toMatchObject({ action: 'redo', order: { generation: 2 } });
  });

  test('is not sent by `retry`, though its job failed: nobody knows whether it is out', () => {
    const again = graphOfSteps([post('share', {}, { retry: { attempts: 5 } })]);
    const lock = lockOf({ share: [job(share, { state: 'failed', error: 'timed out' })] }, posts);
    expect(rowOf(planOf(again, lock), 'share')).toMatchObject({
      action: 'failed',
      reason:
        'job share-1 failed: timed out; only the social accounts show whether the post is published (--redo sends a new post)',
    });
    const fresh = rowOf(planOf(again, lockOf({})), 'share');
    expect(fresh).toMatchObject({ action: 'create' });
    expect([fresh.mayRetry, fresh.order?.retries]).toEqual([undefined, undefined]);
  });

  test('is not sent again because it was forgotten', () => {
    const forget = (purchases: Purchase[]) => forgetting(lockOf({ share: purchases }, posts), 'share');
    expect(decided([], {}, forget([sent()]))).toMatchObject({ action: 'keep', reason: 'posted, then forgotten' });
    expect(decided([], {}, forget([sent(before)]))).toMatchObject({ action: 'keep', changedSince: true });
  });

  test('is the same post under another name, also where its record was forgotten', () => {
    const lock = lockOf({ old: [sent()] }, posts);
    expect(actionsOf(planOf(graph, lock))).toEqual({ share: 'move' });
    const forgotten = forgetting(lock, 'old');
    expect(decided([], {}, forgotten)).toMatchObject({ action: 'keep', reason: 'already posted as old' });
    expect(decided([], redo, forgotten)).toMatchObject({ action: 'redo' });
  });

  test('after a merge it is kept, whichever side sent it', () => {
    const refused = lockOf({ share: [create(share, { state: 'refused' })] }, posts);
    const out = lockOf({ share: [sent()] }, posts);
    const other = lockOf({ share: [sent(before, { jobId: 'share-9' })] }, posts);
    for (const [a, b] of [
      [refused, out],
      [other, out],
      [other, refused],
    ] as [Lock, Lock][]) {
      expect(decided([], {}, joinLocks(a, b)).action).toBe('keep');
      expect(decided([], {}, joinLocks(b, a)).action).toBe('keep');
    }
  });
});

test.each<[string, Purchase]>([
  ['this very one', create(share, { state: 'unresolved' })],
  ['this one, by a lock that thinks its key could be sent again', create(share, { since: '2030-01-01T23:59:00Z' })],
  ['this one, with a place in a list that there is not', create(share, { state: 'unresolved', fence: 'job-1' })],
  ['as it was before its input changed', create(before, { state: 'unresolved' })],
])('a post that nobody knows about is for a person to decide: %s', (_name, open) => {
  for (const facts of [{}, redo]) {
    expect(decided([open], facts)).toMatchObject({ action: 'unresolved', credits: 0 });
    expect(decided([open], facts).order).toBeUndefined();
    // Neither a newer refusal nor an earlier post says anything about it.
    expect(decided([create(share, { state: 'refused', generation: 3 }), open], facts).action).toBe('unresolved');
    expect(decided([{ ...open, generation: 2 }, sent(before)], facts).action).toBe('unresolved');
  }
});

describe('a post that never left', () => {
  test('is to be sent', () => {
    expect(decided([])).toMatchObject({
      action: 'create',
      reason: 'not posted yet',
      credits: 0,
      post: { accounts: ['acc-1'] },
    });
    expect(decided([create(share, { state: 'refused', error: 'HTTP 402' })])).toMatchObject({
      action: 'create',
      order: { attempt: 1 },
    });
  });

  test('what another kind once bought under its address is no post', () => {
    const file = job(before, { state: 'done', outputs: [output('a.png')] });
    expect(decided([], {}, lockOf({ share: [file] }, { kind: 'image' })).action).toBe('redo');
    expect(decided([], {}, lockOf({ share: [job(before, { state: 'failed' })] }, { kind: 'image' })).action).toBe(
      'redo',
    );
    expect(decided([file, { ...sent(before), generation: 0 }]).action).toBe('keep');
  });

  test('two equal ones are one post, and the one that is out already does not stand for the other', () => {
    const equal = { caption: 'same' };
    const both = graphOfSteps([post('a', equal), post('b', equal)]);
    expect(actionsOf(planOf(both, lockOf({})))).toEqual({ a: 'create', b: 'download' });
    const a = stepOf(both, 'a');
    const lock = lockOf({ a: [sent(earlier(a, { caption: 'Helo' }))] }, posts);
    expect(actionsOf(planOf(both, lock))).toEqual({ a: 'keep', b: 'create' });
  });
});

describe('while nobody knows whether a post is out', () => {
  const open = create(before, { state: 'unresolved' });
  const to = (
    accountIds: WrittenStep['request'][string],
    more: GivenFacts = {},
    lock = lockOf({ share: [open] }, posts),
  ) => rowOf(planOf(graphOfSteps([post('tell', { accountIds })]), lock, more), 'tell');

  test('I41 none goes to any of its accounts, whatever its address, its words and the options', () => {
    for (const row of [
      to(['acc-1']),
      to(['acc-9', 'acc-1']),
      to([' ACC-1 ']),
      to(['acc-1'], { redo: new Set(['tell']) }),
      to(['acc-1'], { selected: new Set(['tell']) }),
    ]) {
      expect(row).toMatchObject({ action: 'blocked', blockedBy: 'step' });
      expect(row.order).toBeUndefined();
      expect(row.reason).toContain('waits for share, which may be published');
    }
  });

  test('others go: to other accounts, and when somebody has looked', () => {
    expect(to(['acc-2']).action).toBe('create');
    const settled = lockOf({ share: [create(share, { state: 'refused' })] }, posts);
    expect(to(['acc-1'], {}, settled).action).toBe('create');
  });

  test('none goes anywhere where it is not known where the open one went, or where the new one goes', () => {
    const { request: _request, ...unknown } = open;
    const reference = { ...open, request: { accountIds: [{ $ref: '1:x', field: 'id' }] } };
    const nowhere = { ...open, request: { caption: 'Hello' } };
    for (const one of [unknown, reference, nowhere]) {
      expect(to(['acc-2'], {}, lockOf({ share: [one] }, posts)).blockedBy).toBe('step');
    }
    expect(to([]).blockedBy).toBe('step');
    const nested = { ...open, request: { targets: [{ accountId: 'acc-2' }] } };
    expect(to(['acc-2'], {}, lockOf({ share: [nested] }, posts)).blockedBy).toBe('step');
    expect(to(['acc-3'], {}, lockOf({ share: [nested] }, posts)).action).toBe('create');
  });

  test('also after a merge with a branch that knows nothing of it', () => {
    const other = lockOf({ old: [sent(before, { jobId: 'share-9' })] }, posts);
    const lock = joinLocks(lockOf({ share: [open] }, posts), other);
    expect(to(['acc-1'], {}, lock).blockedBy).toBe('step');
  });
});

describe('a post that is out and has lost its step', () => {
  const lostAs = (address: string, request: WrittenStep['request'] = before.request) =>
    lockOf({ [address]: [sent(earlier(share, request))] }, posts);
  const planned = (steps: WrittenStep[], lock: Lock, facts: GivenFacts = {}) =>
    planOf(graphOfSteps(steps), lock, facts);

  test('I41 stands beside a new one to its accounts, which waits for a person', () => {
    const row = rowOf(planned([post('tell', { caption: 'Helo!' })], lostAs('old')), 'tell');
    expect(row).toMatchObject({
      action: 'blocked',
      blockedBy: 'consent',
      reason: 'may be the published post old under another name: `move` old to this address, or --redo this address',
      beside: { address: 'old', jobId: 'share-1', before: 'Helo', after: 'Helo!' },
      post: { accounts: ['acc-1'] },
    });
    expect(row.order).toBeUndefined();
  });

  test('no consent covers it but one to this very post', () => {
    const plan = planned([post('tell', {}), song('after', { needs: ['tell'] })], lostAs('old'));
    expect(actionsOf(allowPosts(plan))).toMatchObject({ tell: 'blocked', after: 'blocked' });
    expect(plan.rows.map(({ blockedBy }) => blockedBy)).toEqual(['consent', 'consent', undefined]);
    const admitted = allowPosts(admitPosts(plan, new Set(['tell'])));
    expect(rowOf(admitted, 'tell').order?.publish).toBe(true);
    expect(admitted.totals.posts).toBe(1);
    const redone = planned([post('tell', {})], lostAs('old'), { redo: new Set(['tell']) });
    expect(rowOf(redone, 'tell').action).toBe('create');
  });

  test('neither forgotten, nor to other accounts, nor refused, nor under its old name it holds anything back', () => {
    const goes = (lock: Lock, request: WrittenStep['request'] = {}) =>
      rowOf(planned([post('tell', request)], lock), 'tell').action;
    expect(goes(forgetting(lostAs('old'), 'old'))).toBe('create');
    expect(goes(lostAs('old'), { accountIds: ['acc-2'] })).toBe('create');
    expect(goes(lockOf({ old: [create(before, { state: 'refused' })] }, posts))).toBe('create');
    expect(actionsOf(planned([post('share'), post('tell', { caption: 'x' })], lostAs('share')))).toEqual({
      share: 'keep',
      tell: 'create',
    });
  });

  test('of many, each stands beside the one that it is most like', () => {
    const captions = ['a lamp of oak', 'a rug of wool', 'a vase of clay'];
    const lock = lockOf(
      Object.fromEntries(
        captions.map((caption, index) => [
          `old@${index}`,
          [sent(earlier(share, { ...share.request, caption }), { jobId: `job-${index}` })],
        ]),
      ),
      posts,
    );
    const news = [...captions].reverse().map((caption, index) => post(`new@${index}`, { caption: `${caption}, now` }));
    const plan = planned([...news, post('more', { caption: 'something else' })], lock);
    expect(plan.rows.flatMap(({ address, beside }) => (beside ? [[address, beside.address]] : []))).toEqual([
      ['new@0', 'old@2'],
      ['new@1', 'old@1'],
      ['new@2', 'old@0'],
      ['more', expect.stringContaining('old@')],
    ]);
  });

  const [old, other] = ['https://x.io/old', 'https://x.io/other'];
  test.each([
    ['has its words in their order', ['a lamp of oak'], ['of oak a lamp'], ['a lamp of oak, now']],
    [
      'has its picture with other words',
      ['a lamp of dark oak', old],
      ['rugs are on sale', other],
      ['evenings begin with light', old],
    ],
  ])('is found where its step was rewritten, and a new one %s', (_, ...given) => {
    const [was, own, next] = given.map(([caption = '', ...media]) => ({ accountIds: ['acc-1'], caption, media }));
    const plan = planned([post('share', own), post('tell', next)], lostAs('share', was));
    expect(actionsOf(plan)).toEqual({ share: 'keep', tell: 'blocked' }); // I41
  });

  test('is found also where another step has taken its address', () => {
    const lock = lostAs('share', { ...share.request, caption: 'the lamp of oak is here' });
    const swapped = [
      post('share', { caption: 'a sale of rugs' }),
      post('tell', { caption: 'the lamp of oak is here!' }),
    ];
    expect(rowOf(planned(swapped, lock), 'tell').beside?.address).toBe('share');
    expect(actionsOf(planned([picture('share'), post('tell')], lock))).toMatchObject({ tell: 'blocked' });
    // The posts of a series have the same words, and only their pictures differ.
    const picturing = (nth: number, accountIds = ['acc-1']) => ({
      accountIds,
      caption: 'new',
      media: [`https://x.io/${nth}`],
    });
    const moved = [
      post('share', picturing(2)),
      post('tell', picturing(1, ['acc-1', 'acc-2'])),
      post('next', picturing(3)),
    ];
    expect(actionsOf(planned(moved, lostAs('share', picturing(1))))).toEqual({
      share: 'keep',
      tell: 'blocked',
      next: 'create',
    });
    // Its own words changed, and others came beside them.
    const edited = [post('share', { caption: 'the lamp of elm is here' }), post('tell', { caption: 'a rug is here' })];
    expect(actionsOf(planned(edited, lock))).toEqual({ share: 'keep', tell: 'create' });
  });
});

describe('consent', () => {
  const after = song('after', { needs: ['share'] });
  const steps: Graph = graphOfSteps([song('jingle'), post('share'), after, post('late', {}, { needs: ['after'] })]);
  const copy: Graph = graphOfSteps([post('a', { caption: 'same' }), post('b', { caption: 'same' })]);

  test('a plan allows no post by itself', () => {
    const plan = planOf(steps, lockOf({}));
    expect(plan.rows.map(({ order }) => order?.publish)).toEqual([undefined, undefined, undefined, undefined]);
    expect(plan.totals.posts).toBe(2);
    const allowed = allowPosts(plan);
    expect(allowed.rows.flatMap(({ address, order }) => (order?.publish ? [address] : []))).toEqual(['share', 'late']);
  });

  test('without it posts wait, and so does what needs them, and what shares their job', () => {
    expect(planOf(steps, lockOf({})).totals.knownPrices).toBe(8);
    const plan = withholdPosts(planOf(steps, lockOf({})));
    expect(actionsOf(plan)).toEqual({ jingle: 'create', share: 'blocked', after: 'blocked', late: 'blocked' });
    expect(plan.rows.map(({ blockedBy }) => blockedBy)).toEqual([undefined, 'consent', 'consent', 'consent']);
    expect(rowOf(plan, 'after').reason).toBe('needs share, which waits to be published');
    expect(plan.rows.filter(({ order }) => order !== undefined).map(({ address }) => address)).toEqual(['jingle']);
    expect(plan.totals).toMatchObject({ knownPrices: 4, unknownPrices: 0 });
    expect(plan.totals.posts).toBeUndefined();
    expect(actionsOf(withholdPosts(planOf(copy, lockOf({}))))).toEqual({ a: 'blocked', b: 'blocked' });
  });
});

test.each<[WrittenStep['request'], ReturnType<typeof targetOf>]>([
  [
    { accountIds: ['a', 'b', 'a'], scheduledAt: '2030-05-01T09:00:00Z' },
    { accounts: ['a', 'b'], at: '2030-05-01T09:00:00Z' },
  ],
  [{ accountIds: [], caption: 'x' }, { accounts: [] }],
  [
    { socialAccountId: 'a', platforms: ['tiktok'], publish_at: 5, publishNow: true },
    { accounts: ['a', 'tiktok'], at: '5' },
  ],
])('where and when %j goes', (request, target) => {
  expect(targetOf(request)).toEqual(target);
});
