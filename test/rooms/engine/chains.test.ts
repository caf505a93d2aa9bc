import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunFact } from '../../../src/contract/event.ts';
import { Account } from '../../../src/engine/account.ts';
import { allocate, findEnds, Queue } from '../../../src/engine/queue.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import type { Cap } from '../../../src/plan/prices/fund.ts';
import { TestCampaign } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';

/** What the price classes of these tests are called is what they cost; `?` is unknown. */
function order(address: string, needs: string[], price: string, more: Partial<StepOrder> = {}): StepOrder {
  const credits = price === '?' ? null : Number(price);
  return { address, needs, action: 'create', price: { class: price, credits }, ...more } as StepOrder;
}

function decide(orders: StepOrder[], left: number) {
  const all = new Map(orders.map((one) => [one.address, one]));
  const ends = findEnds(all);
  const allotment = allocate(all, ends, { left, priceOf: ({ price }) => price.credits });
  return allotment === undefined ? 'all' : [...allotment].map(([address, place]) => `${place} ${address}`);
}

const products = ['a', 'b', 'c'].flatMap((row) => [
  order(`hero@${row}`, [], '2'),
  order(`hero@${row},wide`, [], '2'),
  order(`film@${row}`, [`hero@${row}`], '10'),
]);

describe('who goes first', () => {
  test('where the credits carry everything, or nobody knows of an end, it is as planned', () => {
    expect(decide(products, 42)).toBe('all');
    expect(decide(products, Number.POSITIVE_INFINITY)).toBe('all');
    expect(decide([order('a', [], '?')], Number.POSITIVE_INFINITY)).toBe('all');
  });

  test('where they do not, product after product', () => {
    expect(decide(products, 41)).toEqual([
      '0 hero@a,wide',
      '1 film@a',
      '1 hero@a',
      '3 hero@b,wide',
      '4 film@b',
      '4 hero@b',
      '6 hero@c,wide',
    ]);
  });

  test('what does not fit is passed over for what does', () => {
    expect(decide([order('a@1', [], '50'), order('b@1', [], '5'), order('c@1', [], '6')], 8)).toEqual(['0 b@1']);
    expect(decide([order('a@1', [], '50')], 8)).toEqual([]);
  });

  test('not as long as something on the wire, or a price, may still make it fit', () => {
    const two = [order('a@1', [], '50'), order('b@1', [], '5')];
    const all = new Map(two.map((one) => [one.address, one]));
    const means = { left: 8, priceOf: ({ price }: StepOrder) => price.credits, isMoving: true };
    expect(allocate(all, findEnds(all), means)).toEqual(new Map());
  });

  test('what several chains need is paid for once', () => {
    const shared = [order('logo', [], '5'), order('x', ['logo'], '1'), order('y', ['logo'], '1'), order('z', [], '9')];
    expect(decide(shared, 7)).toEqual(['0 x', '0 logo', '2 y']);
  });

  test('an unknown price is taken for the highest that is known, and nothing is certain with it', () => {
    const two = ['a', 'b'].flatMap((row) => [
      order(`film@${row}`, [], '10'),
      order(`cut@${row}`, [`film@${row}`], '?'),
    ]);
    expect(decide(two, 39)).toEqual(['0 cut@a', '0 film@a']);
    expect(decide(two, 1000)).toEqual(['0 cut@a', '0 film@a', '2 cut@b', '2 film@b']);
  });

  test('what is paid for, or shared, takes no credits', () => {
    const given = [
      order('a', [], '9', { action: 'attach', jobId: 'j' }),
      order('b', ['a'], '4'),
      order('c', [], '9', { sharesJobOf: 'b' }),
    ];
    const all = new Map(given.map((one) => [one.address, one]));
    expect(findEnds(all).map(({ address }) => address)).toEqual(['b']);
  });

  const graphs = fc.array(
    fc.record({ needs: fc.array(fc.nat(11), { maxLength: 3 }), price: fc.constantFrom('0', '1', '3', '7') }),
    {
      minLength: 1,
      maxLength: 12,
    },
  );
  forAll([graphs, fc.nat(30)])('places never exceed the credits, and include what each step needs', (written, left) => {
    const orders = written.map(({ needs, price }, index) =>
      order(
        `t@${index}`,
        needs.filter((need) => need < index).map((need) => `t@${need}`),
        price,
      ),
    );
    const all = new Map(orders.map((one) => [one.address, one]));
    const found = allocate(all, findEnds(all), {
      left,
      priceOf: ({ price }) => price.credits,
    });
    const placed = orders.filter(({ address }) => found?.has(address) !== false);
    expect(placed.reduce((sum, { price }) => sum + (price.credits ?? 0), 0)).toBeLessThanOrEqual(left);
    for (const { needs } of placed)
      for (const need of needs) expect(placed.map(({ address }) => address)).toContain(need);
  });
});

describe('a run whose credits do not carry everything', () => {
  const rows = Array.from({ length: 20 }, (_, index) => `p${index + 1}`);
  const manifest = (more = '') => `version: 1
name: test
${more}
tasks:
  hero: { kind: image, foreach: [${rows}], matrix: { ratio: ["1:1", "9:16"] }, with: { prompt: "hero {{row}}", aspectRatio: "{{matrix.ratio}}" } }
  film: { kind: video, foreach: [${rows}], with: { prompt: "film {{row}}", image: "{{tasks.hero.url}}" }, from: { hero: { ratio: "9:16" } } }
  thumb: { kind: thumbnail, foreach: [${rows}], with: { title: "thumb {{row}}", image: "{{tasks.film.url}}" } }
`;
  const creditsOf = (body: string) => (body.includes('film ') ? 10 : body.includes('thumb ') ? 3 : 2);
  /** Products of which everything is there. */
  const complete = (outcomes: Record<string, string>) =>
    rows.filter((row) =>
      [`hero@${row},1:1`, `hero@${row},9:16`, `film@${row}`, `thumb@${row}`].every(
        (address) => outcomes[address] === 'done',
      ),
    );

  test.each([
    ['an account of which nobody knew', '', 100, 8],
    ['an account of which nobody knew, everything at once', '', 100, 1000],
    ['a budget', 'budget: { credits: 100 }', 1000, 8],
    ['a budget, one after the other', 'budget: { credits: 100 }', 1000, 1],
  ])('finishes products before it begins others: %s', async (_name, more, balance, concurrency) => {
    const campaign = new TestCampaign(manifest(more));
    campaign.service.creditsOf = creditsOf;
    campaign.service.balance = balance;
    const { outcomes, ledger } = await campaign.run({ concurrency });
    // 100 credits are five products of 17 and a rest; nobody knows prices before the first film is made.
    expect(complete(outcomes).length).toBeGreaterThanOrEqual(concurrency === 1000 ? 2 : 4);
    expect(ledger.account.spentNow).toBeGreaterThan(100 - 17);
    const before = campaign.service.ledger.length;
    campaign.service.balance = 10_000;
    campaign.graph = { ...campaign.graph, budget: 10_000 };
    const again = await campaign.run({ concurrency });
    expect(new Set(Object.values(again.outcomes))).toEqual(new Set(['done']));
    expect(campaign.service.ledger).toHaveLength(80);
    expect(before).toBeLessThan(80);
  });

  test('what fails gives its credits to the next', async () => {
    const campaign = new TestCampaign(manifest());
    campaign.service.creditsOf = creditsOf;
    campaign.service.balance = 100;
    campaign.service.endOf = ({ body }) =>
      body.includes('film p1"') || body.includes('film p2"') ? { is: 'failed', error: 'no' } : undefined;
    const { outcomes } = await campaign.run({ concurrency: 8 });
    expect(complete(outcomes).length).toBeGreaterThanOrEqual(3);
    expect(Object.values(outcomes).filter((outcome) => outcome === 'left').length).toBeGreaterThan(0);
  });

  test('a service that does not tell what it charges is asked as ever', async () => {
    const campaign = new TestCampaign(manifest());
    campaign.service.silent = true;
    campaign.service.balance = 10_000;
    const { outcomes } = await campaign.run({ concurrency: 8 });
    expect(new Set(Object.values(outcomes))).toEqual(new Set(['done']));
  });
});

describe('steps of a price that nobody knows', () => {
  const make = (caps: Cap[] = []) => {
    const orders = ['a', 'b', 'c'].map((address) => order(address, [], '?'));
    const all = new Map(orders.map((one) => [one.address, one]));
    const account = new Account({ caps, spentBefore: 0 });
    const ready = new Queue(all, new Map(), { account });
    for (const one of orders) ready.add(one);
    const take = (isIdle = false) => ready.take({ isIdle })?.address;
    return { account, ready, take };
  };
  const created = (address: string, credits: number | null) =>
    ({ event: 'job-created', address, jobId: 'j', credits, balance: null }) as const;

  test('one goes, and the others leave their places to somebody else until it is told', () => {
    const { account, ready, take } = make();
    expect([take(), take()]).toEqual(['a', undefined]);
    account.prices.learn('?', 4);
    expect(ready.note(created('a', 4))).toBe(true);
    expect([take(), take(), take()]).toEqual(['b', 'c', undefined]);
  });

  test.each<[string, RunFact]>([
    ['is lost', { event: 'create-repeated', address: 'a', because: 'reset', afterMs: 1 }],
    ['is searched for', { event: 'create-searched', address: 'a', because: 'reset' }],
  ])('nobody waits for an answer that %s', (_name, fact) => {
    const { ready, take } = make();
    expect([take(), take()]).toEqual(['a', undefined]);
    expect(ready.note(fact)).toBe(true);
    expect([take(), take()]).toEqual(['b', undefined]);
  });

  test('nobody waits for the answer of an order that has ended', () => {
    const { ready, take } = make();
    expect([take(), take()]).toEqual(['a', undefined]);
    ready.close('a');
    expect([take(), take()]).toEqual(['b', undefined]);
  });

  test('nor for a service that does not tell', () => {
    const { ready, take } = make();
    take();
    ready.note(created('a', null));
    expect([take(), take()]).toEqual(['b', 'c']);
  });

  test('when nothing is under way, what waits for credits is tried after all', () => {
    const { take } = make([{ name: 'budget', left: 0 }]);
    expect(take()).toBeUndefined();
    expect(take(true)).toBe('a');
  });
});
