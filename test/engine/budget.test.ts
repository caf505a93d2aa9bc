import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Budget } from '../../src/engine/budget.ts';

describe('the budget', () => {
  test('spent and held never exceed the cap, for any interleaving of any steps', async () => {
    const steps = fc.array(
      fc.record({
        credits: fc.option(fc.integer({ min: 1, max: 9 }), { nil: null }),
        charge: fc.integer({ min: 0, max: 9 }),
      }),
      { minLength: 1, maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), steps, fc.integer({ min: 0, max: 40 }), async (scheduler, wanted, cap) => {
        const budget = new Budget({ spentEver: 0, heldBefore: 0, total: cap });
        let overshoot = 0;
        const check = () => expect(budget.spentEver + budget.held).toBeLessThanOrEqual(cap + overshoot);
        const buy = async (index: number) => {
          const step = wanted[index];
          if (step === undefined) return;
          const name = `step${index}`;
          const price = { class: step.credits === null ? 'unknown' : `known${step.credits}`, credits: step.credits };
          for (;;) {
            const answer = budget.reserve(name, price);
            check();
            if (answer.is === 'over-budget') return;
            if (answer.is === 'later') {
              await budget.changed();
              continue;
            }
            await scheduler.schedule(Promise.resolve(), name);
            // A known price is an upper bound of the charge; an unknown one may be anything.
            const charged = answer.credits === null ? step.charge : Math.min(step.charge, answer.credits);
            if (answer.credits === null) overshoot += Math.max(0, charged - (budget.left + 0));
            budget.settle(name, charged);
            check();
            return;
          }
        };
        const all = Promise.all(wanted.map((_, index) => buy(index)));
        await scheduler.waitFor(all);
        expect(budget.held).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('a step of unknown price goes alone under a cap, and its charge prices the rest', () => {
    const budget = new Budget({ spentEver: 0, heldBefore: 0, total: 10 });
    const price = { class: 'image', credits: null };
    expect(budget.reserve('a', price)).toEqual({ is: 'reserved', credits: null });
    expect(budget.reserve('b', price)).toEqual({ is: 'later' });
    expect(budget.reserve('song', { class: 'song', credits: 4 })).toEqual({ is: 'later' });
    budget.settle('a', 4);
    expect(budget.reserve('b', price)).toEqual({ is: 'reserved', credits: 4 });
    expect(budget.reserve('c', price)).toEqual({ is: 'over-budget' });
  });

  test('reserving twice holds once', () => {
    const budget = new Budget({ spentEver: 0, heldBefore: 0, total: 10 });
    budget.reserve('a', { class: 'x', credits: 6 });
    budget.reserve('a', { class: 'x', credits: 6 });
    expect(budget.held).toBe(6);
  });

  test('what earlier runs spent, and what may have been spent, counts', () => {
    const budget = new Budget({ spentEver: 5, heldBefore: 3, total: 10 });
    expect(budget.left).toBe(2);
    expect(budget.reserve('a', { class: 'x', credits: 3 })).toEqual({ is: 'over-budget' });
  });

  test('the cap of a run counts this run alone', () => {
    const budget = new Budget({ spentEver: 50, heldBefore: 0, run: 3 });
    expect(budget.reserve('a', { class: 'x', credits: 3 })).toEqual({ is: 'reserved', credits: 3 });
  });
});
