import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ports } from '../../../src/contract/ports.ts';
import { Account } from '../../../src/engine/account.ts';
import { SharedSlots } from '../../../src/engine/account-gate.ts';
import { drive } from '../../../src/engine/drive.ts';
import { PostsLast } from '../../../src/engine/hold-posts.ts';
import { linkOrders, rankOrders, releasesDependent, urgencyOf } from '../../../src/engine/order-of-work.ts';
import { Queue } from '../../../src/engine/queue.ts';
import { orderId, type Plan, type StepOrder } from '../../../src/plan/plan.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';

const stages = [
  { action: 'attach', jobId: 'j' },
  { action: 'create', jobId: 'j' },
  { action: 'download' },
  { action: 'create', send: { id: 's' } },
  { action: 'create' },
];
const importance = [0, 0, 1, 2, 3];
const kinds = fc.array(fc.record({ stage: fc.nat(4), rank: fc.nat(3) }), { maxLength: 60 });
forAll([kinds, fc.nat(60)])(
  'orders leave by what is done of them, by rank, then by arrival',
  (wanted, takenBetween) => {
    const all = wanted.map(({ stage, rank }, index) => {
      const order = { address: `a${index}`, needs: [], price: { class: 'p', credits: 1 }, ...stages[stage] };
      return { order: order as unknown as StepOrder, key: [importance[stage], -rank], rank };
    });
    const orders = new Map(all.map(({ order }) => [order.address, order]));
    const ranks = new Map(all.map(({ order, rank }) => [order.address, rank]));
    const account = new Account({ caps: [], spentBefore: 0 });
    const queue = new Queue(orders, ranks, { account });
    const waiting: typeof all = [];
    const takeOne = () => {
      const next = waiting.toSorted((a, b) => compare(a.key, b.key))[0];
      expect(queue.take({ isIdle: false })).toBe(next?.order);
      if (next !== undefined) waiting.splice(waiting.indexOf(next), 1);
      expect(queue.size).toBe(waiting.length);
    };
    for (const [index, one] of all.entries()) {
      queue.add(one.order);
      waiting.push(one);
      if (index === takenBetween) takeOne();
    }
    while (waiting.length > 0) takeOne();
    expect(queue.take({ isIdle: true })).toBeUndefined();
  },
);

function compare(a: readonly (number | undefined)[], b: readonly (number | undefined)[]): number {
  const index = a.findIndex((one, at) => one !== b[at]);
  return (a[index] ?? 0) - (b[index] ?? 0);
}

test('I21 what is bought at an address waits for the query about an open send of it', () => {
  const orders = [
    { address: 'hero', asksOnly: true, send: { id: 'lost' }, needs: [] },
    { address: 'hero', needs: [], key: 'k' },
    { address: 'film', needs: [], key: 'l' },
  ] as unknown as StepOrder[];
  const { dependents } = linkOrders(new Map(orders.map((one) => [orderId(one), one])));
  const [asking = '', buying = ''] = orders.map(orderId);
  expect(dependents).toEqual(new Map([[asking, [buying]]]));
});

test.each<[string, object, object, boolean]>([
  ['is done', {}, { outcome: 'done' }, true],
  ['is not needed', {}, { outcome: 'unneeded' }, true],
  ['failed', {}, { outcome: 'failed' }, false],
  ['is its canary, and not needed', { address: 'first' }, { outcome: 'unneeded' }, false],
  ['is an open send that was looked up in vain', { asksOnly: true }, { outcome: 'unresolved' }, true],
  ['is an open send that can be looked up', { asksOnly: true }, { outcome: 'unresolved', recoverable: true }, false],
])('a step goes on after one that %s', (_, order, end, is) => {
  const dependent = { address: 'hero', canaries: ['first'] } as StepOrder;
  expect(releasesDependent(dependent, { address: 'hero', ...order } as StepOrder, end as StepEnd)).toBe(is);
});

test('a post does not wait for a step that was withdrawn', () => {
  const orders = [
    { address: 'film', kind: 'video', needs: [], request: {} },
    { address: 'share', kind: 'post', needs: [], request: { accountIds: ['a'] } },
  ] as unknown as StepOrder[];
  const started: string[] = [];
  const acts = { start: ({ address }: StepOrder) => started.push(address), leave: () => {} };
  const posts = new PostsLast(new Map(orders.map((one) => [orderId(one), one])), acts);
  posts.release();
  for (const order of orders.slice(1)) posts.ready(order);
  expect(started).toEqual([]);
  for (const order of orders.slice(0, 1)) posts.withdraw(orderId(order));
  expect(started).toEqual(['share']);
});

test('what holds others up is seen first: steps that need it, then steps without a slot; at the end the few that still run', () => {
  const tail = (running: number) => urgencyOf({ dependents: 0, waiting: 0, running });
  const queued = urgencyOf({ dependents: 0, waiting: 20, running: 50 });
  expect(queued).toBeGreaterThan(2 * tail(50));
  expect(urgencyOf({ dependents: 2, waiting: 20, running: 50 })).toBeGreaterThan(queued);
  expect(urgencyOf({ dependents: 2, waiting: 0, running: 50 })).toBeGreaterThan(queued);
  expect([tail(50), tail(10), tail(2), tail(1)]).toEqual([expect.closeTo(0.7256), expect.closeTo(1.34), 16.7, 30.7]);
  // One that nobody waits for is worth less than one that somebody asks for by itself.
  expect(tail(50)).toBeLessThan(1);
  expect(tail(0)).toBe(tail(1));
});

test('first goes the longest chain, then what most hangs on, and what people wait to see before what nobody waits for', () => {
  const order = (address: string, ...needs: string[]) => ({ address, needs, action: 'create' }) as unknown as StepOrder;
  const orders = new Map(
    [
      ...[order('voice@a'), order('voice@b'), order('logo'), order('draft@a/1'), order('draft@b/1'), order('song')],
      ...[order('clip', 'song'), order('film', 'clip')],
      ...[order('card@a', 'logo'), order('card@b', 'logo')],
    ].map((one) => [one.address, one]),
  );
  const gates = [
    { name: 'draft@a', members: ['draft@a/1'], waiting: 1 },
    { name: 'draft@b', members: ['draft@b/1'], waiting: 6 },
  ] as unknown as Plan['gates'];
  const { dependents, counts } = linkOrders(orders);
  const first = (open: Plan['gates']) => {
    const ranks = rankOrders(orders, dependents, open);
    return [...orders.values()]
      .filter(({ address }) => !counts.has(address))
      .sort((a, b) => (ranks.get(b.address) ?? 0) - (ranks.get(a.address) ?? 0))
      .map(({ address }) => address);
  };
  expect(first(gates)).toEqual(['song', 'draft@b/1', 'logo', 'draft@a/1', 'voice@a', 'voice@b']);
  expect(first([])).toEqual(['song', 'logo', 'voice@a', 'voice@b', 'draft@a/1', 'draft@b/1']);
});

test('however many hang on a step, a longer chain goes first', () => {
  const order = (address: string, ...needs: string[]) => ({ address, needs, action: 'create' }) as unknown as StepOrder;
  const many = Array.from({ length: 3000 }, (_, index) => order(`card@${index}`, 'logo'));
  const all = [order('logo'), order('song'), order('clip', 'song'), order('film', 'clip'), ...many];
  const orders = new Map(all.map((one) => [one.address, one]));
  const ranks = rankOrders(orders, linkOrders(orders).dependents);
  expect(ranks.get('song')).toBeGreaterThan(ranks.get('logo') ?? 0);
});

test('a plan waits while another one has all the places, and does not end with orders left', async () => {
  const slots = new SharedSlots();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const begin = ({ address }: { address: string }) => {
    begun.push(address);
    return new Promise((resolve) => ends.push(() => resolve({ do: 'stop' })));
  };
  const ports = {
    ...{ emit() {}, signal: new AbortController().signal, service: {}, ledger: { begin } },
  } as unknown as Ports;
  const start = (address: string) => {
    const order = {
      address,
      asksOnly: true,
      send: { id: address },
      needs: [],
      action: 'create',
      price: { credits: 1 },
    };
    const plan = { rows: [{ order }], totals: {} } as unknown as Plan;
    return drive(plan, ports, {
      concurrency: 1,
      onError: 'continue',
      onEnd: () => {},
      slots,
      account: new Account({ caps: [], spentBefore: 0 }),
    });
  };
  const [first, second] = [start('first'), start('second')];
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['first']);
  ends.shift()?.();
  await first.ends;
  await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual(['first', 'second']);
  ends.shift()?.();
  expect((await second.ends).size).toBe(1);
});

const failed = (error = 'render failed') => ({ is: 'failed' as const, error });
const onError = 'wait' as const;

describe('what fails alike', () => {
  test('I39 is not bought forty times: after five of a task and price, none done, the others wait', async () => {
    const campaign = new TestCampaign(images(40, 'prices: { image: 3 }'));
    campaign.service.endOf = ({ jobId }) => failed(`render ${jobId} failed after ${jobId.length} s`);
    const { events, outcomes } = await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBeLessThanOrEqual(13);
    const bought = campaign.service.ledger.length;
    const left = Object.values(outcomes).filter((outcome) => outcome === 'left');
    expect(left).toHaveLength(40 - bought);
    expect(events.filter(({ event }) => event === 'spending-stopped')).toEqual([
      {
        event: 'spending-stopped',
        because: 'alike',
        detail: expect.stringMatching(
          new RegExp(
            `^pic: the first ${bought} steps failed: render .* failed after .*; steps not bought: ${40 - bought} \\(${3 * (40 - bought)} credits\\)$`,
          ),
        ),
      },
    ]);
  });

  test('goes on where one is done, where each fails for a reason of its own, and with `continue`', async () => {
    const some = new TestCampaign(images(40));
    some.service.endOf = ({ body }) => (/a p([1-79]|1[0-9])"/.test(body) ? failed() : undefined);
    await some.run({ onError, concurrency: 8 });
    expect(some.service.ledger).toHaveLength(40);
    const words = ['dark', 'bright', 'long', 'short', 'loud', 'quiet', 'red', 'green', 'blue', 'grey'];
    const others = new TestCampaign(images(10));
    others.service.endOf = ({ jobId }) => failed(`too ${words[Number(jobId.split('-').at(-1)) % 10]}`);
    await others.run({ onError, concurrency: 3 });
    expect(others.service.ledger).toHaveLength(10);
    const all = new TestCampaign(images(20));
    all.service.endOf = () => failed();
    await all.run({ onError: 'continue', concurrency: 8 });
    expect(all.service.ledger).toHaveLength(20);
  });

  test('is tried by one alone in the next run, and goes on when that is done', async () => {
    const campaign = new TestCampaign(images(40));
    campaign.service.endOf = () => failed();
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBe(before + 1);
    expect(before + 1).toBeLessThanOrEqual(13);
    campaign.service.endOf = () => undefined;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(40);
  });

  test('holds for outputs that do not fit, whatever their names, and the next run tries one alone', async () => {
    const words = ['dark', 'bright', 'long', 'short', 'loud', 'quiet', 'red', 'green', 'blue', 'grey'];
    const rows = words.flatMap((one) => words.slice(0, 3).map((other) => `${one}-${other}`)).join(', ');
    const text = `version: 1
name: unfit
tasks:
  pic: { kind: image, foreach: [${rows}], expect: { type: image/tiff }, with: { prompt: "a {{row}}" }, save: "pic/{{row}}" }
`;
    const campaign = new TestCampaign(text);
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    expect(before).toBeLessThanOrEqual(13);
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger).toHaveLength(before + 1);
  });

  test('is not bought again by `retry:` either, in this run or the next, until one is done', async () => {
    const campaign = new TestCampaign(images(40).replace('kind: image,', 'kind: image, retry: { attempts: 3 },'));
    campaign.service.endOf = () => failed();
    await campaign.run({ onError, concurrency: 8 });
    const before = campaign.service.ledger.length;
    expect(before).toBeLessThanOrEqual(13);
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.service.ledger.length).toBe(before + 1);
    campaign.service.endOf = () => undefined;
    await campaign.run({ onError, concurrency: 8 });
    expect(campaign.plan().totals.knownPrices).toBe(0);
  });
});
