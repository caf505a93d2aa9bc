import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Account } from '../../../src/engine/account.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import { capsOf } from '../../../src/plan/prices/fund.ts';
import { worstFactor } from '../../../src/plan/prices/prices.ts';
import { forAll, runs } from '../../rig/runs.ts';

function accountOf({
  total,
  run,
  spentEver,
  heldBefore,
  ...more
}: {
  total?: number;
  run?: number;
  spentEver: number;
  heldBefore: number;
  heldUnpriced?: number;
  guessedBefore?: readonly string[];
}): Account {
  const budget = total === undefined ? undefined : total - spentEver - heldBefore;
  return new Account({ caps: capsOf({ budget, maxCredits: run }), spentBefore: spentEver, ...more });
}

describe('the account', () => {
  /** What becomes of a create: it is charged, its answer is lost, or the service makes it and does not say for how much. */
  const ends = fc.oneof(
    { weight: 6, arbitrary: fc.constant('charged' as const) },
    { weight: 2, arbitrary: fc.constant('lost' as const) },
    { weight: 1, arbitrary: fc.constant('silent' as const) },
    { weight: 1, arbitrary: fc.constant('refused' as const) },
  );

  const steps = fc.array(
    fc.record({
      credits: fc.option(fc.integer({ min: 0, max: 9 }), { nil: null }),
      kind: fc.constantFrom('x', 'y'),
      charge: fc.integer({ min: 0, max: 9 }),
      end: ends,
    }),
    { minLength: 1, maxLength: 30 },
  );
  forAll([fc.scheduler(), steps, fc.integer({ min: 0, max: 40 })], runs(600))(
    'spent and held never exceed the cap, for any interleaving of any steps',
    async (scheduler, wanted, cap) => {
      const budget = accountOf({ spentEver: 0, heldBefore: 0, total: cap });
      /** On their way, by what they hold. */
      const flying = new Map<string, number | null>();
      const unpriced = new Map<string, number>();
      // By what steps of unknown price are charged above all that was left, and price others at.
      let most = cap;
      const check = () => expect(budget.spentEver + budget.held).toBeLessThanOrEqual(most);
      const buy = async (index: number) => {
        const step = wanted[index];
        if (step === undefined) return;
        const name = `step${index}`;
        const price = {
          class: step.credits === null ? `unknown ${step.kind}` : `known${step.credits}`,
          credits: step.credits,
        };
        for (;;) {
          const answer = budget.reserve(name, price);
          check();
          if (answer.is === 'over-budget' || answer.is === 'over-plan') return;
          if (answer.is === 'later') {
            await budget.changed();
            continue;
          }
          if (answer.credits !== 0) {
            // Nothing else is on its way that costs something, and nothing of known price goes before a lost one is priced.
            if (answer.credits === null) expect([...flying.values()].filter((held) => held !== 0)).toEqual([]);
            else expect([...unpriced.keys(), ...[...flying.values()].filter((held) => held === null)]).toEqual([]);
          }
          flying.set(name, answer.credits);
          await scheduler.schedule(Promise.resolve(), name);
          flying.delete(name);
          const isCanary = answer.credits === null;
          if (step.end === 'lost') {
            budget.doubt(name);
            if (isCanary) unpriced.set(price.class, (unpriced.get(price.class) ?? 0) + 1);
            expect(unpriced.get(price.class) ?? 0).toBeLessThanOrEqual(2);
          } else if (step.end === 'silent') {
            budget.settle(name, null);
            if (isCanary) unpriced.set(price.class, (unpriced.get(price.class) ?? 0) + 1);
          } else {
            // A known price is an upper bound of the charge; an unknown one may be anything.
            const charge = step.end === 'refused' ? 0 : step.charge;
            const charged = isCanary ? charge : Math.min(charge, answer.credits ?? 0);
            budget.settle(name, charged);
            if (isCanary) {
              most = Math.max(most, budget.spentEver + budget.held);
              if (charged > 0) unpriced.delete(price.class);
            }
          }
          check();
          return;
        }
      };
      const all = Promise.all(wanted.map((_, index) => buy(index)));
      await scheduler.waitFor(all);
      // Nobody waits for ever, and whatever is not settled is held.
      expect(flying.size).toBe(0);
    },
  );

  const prices = fc.uniqueArray(
    fc.record({ class: fc.constantFrom('x', 'y', 'z'), said: fc.integer({ min: 1, max: 3 }), more: fc.nat(50) }),
    { minLength: 1, selector: (price) => price.class },
  );
  const orders = fc.array(fc.nat(), { minLength: 2, maxLength: 20 });
  forAll([fc.scheduler(), prices, orders, fc.nat(40)], runs(600))(
    'prices that are too low exceed the cap by what one step is charged above its price, and no more',
    async (scheduler, said, wanted, cap) => {
      const budget = accountOf({ spentEver: 0, heldBefore: 0, total: cap });
      const buy = async (index: number, name: string) => {
        const price = said[index % said.length];
        if (price === undefined) return;
        for (;;) {
          const answer = budget.reserve(name, { class: price.class, credits: price.said });
          if (answer.is === 'over-budget' || answer.is === 'over-plan') return;
          if (answer.is === 'reserved') break;
          await budget.changed();
        }
        await scheduler.schedule(Promise.resolve(), name);
        budget.settle(name, price.said + price.more);
      };
      await scheduler.waitFor(Promise.all(wanted.map((index, step) => buy(index, `step${step}`))));
      expect(budget.spentEver).toBeLessThanOrEqual(cap + Math.max(...said.map(({ more }) => more)));
    },
  );

  test('prices that rise exceed the cap by what one step is charged above its price, and no more', async () => {
    const rises = fc.record({
      first: fc.integer({ min: 1, max: 6 }),
      factor: fc.integer({ min: 1, max: worstFactor }),
      /** Number of the charge that is the first at the new price. */
      from: fc.integer({ min: 1, max: 9 }),
      isKnown: fc.boolean(),
    });
    const ends = fc.infiniteStream(fc.constantFrom('charged', 'charged', 'charged', 'silent', 'lost', 'refused'));
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(rises, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(), { minLength: 2, maxLength: 30 }),
        fc.integer({ min: 0, max: 200 }),
        ends,
        async (scheduler, classes, wanted, cap, stream) => {
          const budget = accountOf({ spentEver: 0, heldBefore: 0, total: cap });
          const charges = classes.map(() => 0);
          let more = 0;
          const buy = async (index: number, name: string) => {
            const [number, end] = [index % classes.length, stream.next().value];
            const { first = 1, factor = 1, from = 1, isKnown = true } = classes[number] ?? {};
            let reserved: number | null;
            for (;;) {
              const answer = budget.reserve(name, { class: `class${number}`, credits: isKnown ? first : null });
              if (answer.is === 'over-budget' || answer.is === 'over-plan') return;
              if (answer.is === 'reserved') {
                reserved = answer.credits;
                break;
              }
              await budget.changed();
            }
            await scheduler.schedule(Promise.resolve(), name);
            if (end === 'lost') return budget.doubt(name);
            if (end === 'refused') return budget.settle(name, 0);
            charges[number] = (charges[number] ?? 0) + 1;
            const charged = (charges[number] ?? 0) < from ? first : first * factor;
            more = Math.max(more, charged - (reserved ?? 0));
            budget.settle(name, end === 'silent' ? null : charged);
          };
          await scheduler.waitFor(Promise.all(wanted.map((index, step) => buy(index, `step${step}`))));
          expect(budget.spentEver).toBeLessThanOrEqual(cap + more);
        },
      ),
      { numRuns: runs(600) },
    );
  });

  test.each([
    ['slow answers', 'all'],
    ['answers at once', 'each'],
  ])('a price that rises from 5 to 40, 8 at once under a cap of 90: 85 on record (%s)', (_name, answers) => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 90 });
    const price = { class: 'film', credits: null };
    const waiting = Array.from({ length: 20 }, (_, index) => `film${index}`);
    let charges = 0;
    let flying: string[] = [];
    const answer = (name: string) => {
      budget.settle(name, charges === 0 ? 5 : 40, true);
      charges += 1;
    };
    for (let round = 0; round < 20; round += 1) {
      for (const name of waiting.slice(0, 8)) {
        if (budget.reserve(name, price).is !== 'reserved') continue;
        waiting.splice(waiting.indexOf(name), 1);
        if (answers === 'each') answer(name);
        else flying.push(name);
      }
      for (const name of flying) answer(name);
      flying = [];
    }
    expect(budget.spentEver).toBe(85);
  });

  test('charges that meet their reservations let 1, 2, 4, … go; one that does not, 1', () => {
    const price = { class: 'image', credits: 2 };
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 1000 });
    let next = 0;
    const fly = () => {
      const names: string[] = [];
      for (let name = `step${next}`; budget.reserve(name, price).is === 'reserved'; name = `step${next}`) {
        names.push(name);
        next += 1;
      }
      return names;
    };
    const flying = fly();
    const counts: number[] = [];
    for (const charges of [[2], [2, 2], [1, 2], [2, 3], [3], [3]]) {
      counts.push(flying.length);
      const over = flying.splice(0, charges.length);
      for (const [index, name] of over.entries()) budget.settle(name, charges[index] ?? 0, true);
      if (charges.includes(3)) for (const name of flying.splice(0)) budget.release(name);
      flying.push(...fly());
    }
    expect(counts).toEqual([1, 2, 8, 32, 1, 2]);
  });

  test('creates that have left are asked about together, with a cap and without', () => {
    const price = { class: 'image', credits: 2 };
    for (const caps of [{}, { total: 100 }]) {
      const budget = accountOf({ spentEver: 0, heldBefore: 0, ...caps });
      const reserve = (name: string, isSent: boolean) => budget.reserve(name, price, { isSent }).is;
      expect([reserve('a', true), reserve('b', true), reserve('c', false)]).toEqual(['reserved', 'reserved', 'later']);
    }
  });

  test('without a cap charges that nobody tells hold nothing back', () => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0 });
    const price = { class: 'image', credits: 2 };
    budget.reserve('a', price);
    budget.settle('a', null, false);
    expect(['b', 'c'].map((name) => budget.reserve(name, price).is)).toEqual(['reserved', 'reserved']);
  });

  test('without a cap prices that nobody knows are found out one by one, too', () => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0 });
    const lasting = (seconds: number) => ({ class: `video/duration=${seconds}`, credits: null });
    expect(budget.reserve('five', lasting(5)).is).toBe('reserved');
    expect(budget.reserve('six', lasting(6)).is).toBe('later');
    budget.settle('five', 10);
    expect(budget.reserve('six', lasting(6)).is).toBe('reserved');
  });

  test('as many are on their way as what is left could pay for at the worst, and one where it could not', () => {
    const price = { class: 'image', credits: 2 };
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 2 * worstFactor * 3 + 6 });
    const names = Array.from({ length: 30 }, (_, index) => `step${index}`);
    const flying = () => names.filter((name) => budget.reserve(name, price).is === 'reserved');
    const counts: number[] = [];
    while (names.length > 0) {
      const sent = flying();
      counts.push(sent.length);
      if (sent.length === 0) break;
      for (const name of sent) {
        budget.settle(name, 2, true);
        names.splice(names.indexOf(name), 1);
      }
    }
    expect(counts.slice(0, 4)).toEqual([1, 2, 3, 2]);
    expect(budget.spentEver).toBe(54);
  });

  test('uploads neither wait nor make others wait', () => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 5 });
    const upload = { class: 'upload', credits: 0 };
    const film = { class: 'film', credits: null };
    const reserved = { is: 'reserved', credits: 0 };
    expect(['u', 'v'].map((name) => budget.reserve(name, upload))).toEqual([reserved, reserved]);
    expect(budget.reserve('film', film)).toEqual({ is: 'reserved', credits: null });
    expect(budget.reserve('w', upload)).toEqual(reserved);
    budget.settle('film', 40, true);
    expect(budget.reserve('x', upload)).toEqual(reserved);
  });

  test('a list holds the first step back that costs more than is left, and reserves nothing', () => {
    const film = (likely: number) => ({ class: 'film', credits: null, source: 'list' as const, likely });
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 10 });
    expect(budget.reserve('a', film(11))).toEqual({ is: 'over-budget' });
    expect(budget.reserve('a', film(10))).toEqual({ is: 'reserved', credits: null });
    expect(budget.held).toBe(0);
  });

  test('what may have been charged at a price that only its kind tells is held at that, and stops nobody who fits', () => {
    const film = { class: 'film', credits: null, held: 30 };
    for (const end of ['doubt', 'settle'] as const) {
      const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 100 });
      budget.reserve('a', film);
      if (end === 'doubt') budget.doubt('a');
      else budget.settle('a', null, true);
      expect([budget.held, budget.left]).toEqual([30, 70]);
      expect(budget.reserve('song', { class: 'song', credits: 5 })).toEqual({ is: 'reserved', credits: 5 });
      budget.settle('song', 5, true);
      budget.reserve('b', film);
      budget.settle('b', 12, true);
      expect([budget.held, budget.left]).toEqual([12, 71]);
    }
  });

  test('what nothing prices holds what the plan says, and stops nobody who fits beside it', () => {
    const image = { class: 'image', credits: null };
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 100, heldUnpriced: 48 });
    const full = accountOf({ spentEver: 4, heldBefore: 0, total: 100, heldUnpriced: 48 });
    for (const name of ['a', 'b']) {
      expect(budget.reserve(name, image)).toEqual({ is: 'reserved', credits: null });
      budget.doubt(name);
      full.reserve(name, image);
      full.doubt(name);
    }
    expect([budget.held, budget.left]).toEqual([96, 4]);
    expect(full.reserve('c', image)).toEqual({ is: 'over-budget' });
    expect(full.describeShortage('c', image)).toBe(
      'c has no known price, 0 are left; 48 credits are reserved for each of a, b as a guess: no charge is on record, ' +
        'and no price is known for image; `prices: { image: … }` in the manifest sets a price',
    );
    expect(budget.reserve('song', { class: 'song', credits: 5 })).toEqual({ is: 'over-budget' });
    expect(budget.reserve('song', { class: 'song', credits: 4 })).toEqual({ is: 'reserved', credits: 4 });
  });

  test('what is said to be free goes alone until it was', () => {
    const free = (name: string) => ({ class: name, credits: 0, source: 'prices' as const });
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 5 });
    expect(budget.reserve('a', free('image'))).toEqual({ is: 'reserved', credits: 0 });
    expect(budget.reserve('b', free('image'))).toEqual({ is: 'later' });
    expect(budget.reserve('c', free('video'))).toEqual({ is: 'later' });
    budget.settle('a', 20, true);
    for (const name of ['image', 'video']) expect(budget.reserve('b', free(name))).toEqual({ is: 'over-budget' });
    expect(budget.reserve('post', { ...free('post'), source: 'documented' })).toEqual({ is: 'reserved', credits: 0 });
  });

  test('a canary whose answer is lost stops nobody: the next one goes alone, and prices it', () => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 12 });
    const price = { class: 'image', credits: null };
    const song = { class: 'song', credits: 1 };
    budget.reserve('a', price);
    expect(['b', 'c'].map((name) => budget.reserve(name, price).is)).toEqual(['later', 'later']);
    budget.doubt('a');
    expect(budget.reserve('song', song)).toEqual({ is: 'later' });
    expect(budget.reserve('b', price)).toEqual({ is: 'reserved', credits: null });
    expect(budget.reserve('c', price)).toEqual({ is: 'later' });
    expect(budget.reserve('song', song)).toEqual({ is: 'later' });
    budget.settle('b', 4);
    expect([budget.spentEver, budget.held, budget.left]).toEqual([4, 4, 4]);
    expect(budget.reserve('c', price)).toEqual({ is: 'reserved', credits: 4 });
    expect(budget.reserve('song', song)).toEqual({ is: 'over-budget' });
  });

  test('a second canary lost at the same price, or one that the service does not price, ends it', () => {
    const price = { class: 'image', credits: null };
    for (const end of [(budget: Account) => budget.doubt('b'), (budget: Account) => budget.settle('b', null)]) {
      const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 12 });
      budget.reserve('a', price);
      budget.doubt('a');
      budget.reserve('b', price);
      end(budget);
      for (const other of [price, { class: 'film', credits: null }, { class: 'song', credits: 1 }]) {
        expect(budget.reserve('c', other)).toEqual({ is: 'over-budget' });
      }
      expect(budget.reserve('free', { class: 'post', credits: 0 })).toEqual({ is: 'reserved', credits: 0 });
    }
  });

  test('a lost canary has cost something, if anything', () => {
    const price = { class: 'image', credits: null };
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 1 });
    budget.reserve('a', price);
    budget.doubt('a');
    expect(budget.reserve('b', price)).toEqual({ is: 'over-budget' });
  });

  test('a charge above the guess for what an earlier run lost counts for that, too, against the budget alone', () => {
    const price = { class: 'film', credits: null };
    const guess = { spentEver: 0, heldBefore: 8, heldUnpriced: 8, guessedBefore: ['film'] };
    const budget = accountOf({ ...guess, total: 45, run: 40 });
    expect(budget.reserve('a', price)).toEqual({ is: 'reserved', credits: null });
    budget.settle('a', 20);
    // 20 for the lost one and 20 for this one: of 45 credits 5 are left.
    expect(budget.left).toBe(5);
    expect(budget.reserve('b', price)).toEqual({ is: 'over-budget' });
    const run = accountOf({ ...guess, run: 40 });
    run.settle('a', 0);
    expect(run.reserve('c', { class: 'film', credits: 40 })).toEqual({ is: 'reserved', credits: 40 });
  });

  test('a step that no longer waits for a price, because the approval does not cover it, keeps nobody waiting', () => {
    const unknown = (name: string) => ({ class: name, credits: null, likely: 3 });
    const prices = [unknown('a'), unknown('b'), { class: 'song', credits: 5 }];
    const orders = prices.map((price) => ({ address: price.class, action: 'create', price }) as StepOrder);
    const caps = capsOf({ budget: 10 });
    const account = new Account({ caps, spentBefore: 0, approved: { totals: { ceiling: 8 }, orders } });
    const song = () => account.reserve('song', { class: 'song', credits: 5 }, { isSent: true }).is;
    expect(['a', 'b'].map((name) => account.reserve(name, unknown(name)).is)).toEqual(['reserved', 'later']);
    expect(account.settle('a', 8)).toContain(
      'the remaining steps would cost 8, and nothing is left of the approved total (a)',
    );
    expect(song()).toBe('later');
    expect(account.reserve('b', unknown('b')).is).toBe('over-plan');
    expect(song()).toBe('over-budget');
  });

  test('reserving twice holds once', () => {
    const budget = accountOf({ spentEver: 0, heldBefore: 0, total: 10 });
    budget.reserve('a', { class: 'x', credits: 6 });
    budget.reserve('a', { class: 'x', credits: 6 });
    expect(budget.held).toBe(6);
  });
});

test('a possible charge stays held when the retry of its step is refused, or charged', () => {
  const unpriced = { class: 'u', credits: null };
  const priced = { class: 'k', credits: 10 };
  for (const charged of [0, 9]) {
    const account = accountOf({ total: 10, spentEver: 0, heldBefore: 0 });
    expect(account.reserve('a', unpriced).is).toBe('reserved');
    account.settle('a', null);
    if (account.reserve('a', unpriced).is === 'reserved') account.settle('a', charged);
    expect(account.reserve('b', priced).is).toBe('over-budget');
  }
});
