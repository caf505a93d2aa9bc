import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cause, Change, Reason } from '../../../src/plan/plan.generated.ts';
import type { Action, PlanRow } from '../../../src/plan/plan.ts';
import { actionOrder, describeItem, groupPlan, indexRows } from '../../../src/report/plan/plan-items.ts';
import { forAll } from '../../rig/runs.ts';
import { type RowFacts, row } from './samples.ts';

/** Few of everything, so that equal causes are frequent. */
const cause: fc.Arbitrary<Cause> = fc.record(
  {
    is: fc.constantFrom<Cause['is']>('template', 'default', 'variable', 'data', 'matrix', 'file'),
    name: fc.constantFrom('vars.a', 'mood'),
    file: fc.constantFrom('a.csv', 'b.csv'),
    line: fc.constantFrom(1, 2),
  },
  { requiredKeys: ['is', 'name'] },
);
const change: fc.Arbitrary<Change> = fc.record(
  {
    field: fc.constantFrom('prompt', 'image.0'),
    before: fc.constantFrom('oak', 'on an oak table', 1, null),
    after: fc.constantFrom('elm', 'on an elm table', 2, ['x']),
    cause,
  },
  { requiredKeys: ['field'] },
);
const reason: fc.Arbitrary<Reason> = fc.record(
  {
    code: fc.constantFrom<Reason['code']>('changed', 'not-bought', 'job-failed', 'answer-lost', 'pinned', 'up-to-date'),
    text: fc.constantFrom('one', 'job j-1 failed: no', 'job j-2 failed: no'),
    changes: fc.array(change, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: ['code', 'text'] },
);
const drawnRow = fc.record(
  {
    task: fc.constantFrom('hero', 'logo', 'film'),
    kind: fc.constantFrom('image', 'video'),
    action: fc.constantFrom<Action>(...actionOrder),
    reason,
    credits: fc.constantFrom(0, 5, 12, null),
    discards: fc.constantFrom(0, 3),
    pinned: fc.boolean(),
    /** How many rows before it the step stands that it follows; 0: none. */
    follows: fc.nat(3),
    jobId: fc.constantFrom('j-1', 'j-2'),
  },
  { requiredKeys: ['task', 'kind', 'action', 'reason', 'credits', 'follows'] },
);
const rows = fc.array(drawnRow, { maxLength: 60 }).map((drawn) =>
  drawn.map(({ follows, pinned, reason: own, ...one }, index) => {
    const followed = follows === 0 ? undefined : drawn[index - follows];
    const address = followed === undefined ? undefined : `${followed.task}@${index - follows}`;
    return {
      ...one,
      address: `${one.task}@${index}`,
      ...(pinned === true && { pinned, wouldCost: 3 }),
      reason:
        address === undefined
          ? own
          : {
              ...own,
              follows: [address],
              changes: [...(own.changes ?? []), { field: 'image', cause: { is: 'step', name: address } }],
            },
    } as PlanRow;
  }),
);
const sum = (of: readonly PlanRow[], key: 'credits' | 'discards') => of.reduce((all, one) => all + (one[key] ?? 0), 0);

const posted: RowFacts = { reason: { code: 'posted', text: 'posted' } };
const pinned: RowFacts = { pinned: true, reason: { code: 'pinned', text: 'up to date, and pinned' } };
const accepted = (change: string): RowFacts => ({
  accepted: true,
  reason: { code: 'accepted', text: `accepted as it is, although ${change}` },
});
const unneeded = (parts: number): RowFacts => ({
  unneeded: true,
  reason: { code: 'not-needed', text: `not needed: talk gave ${parts}` },
});

describe('the lines of a plan', () => {
  forAll([rows, fc.boolean()])('hold every row once; credits and what is given up add up', (all, isUnfolded) => {
    const items = groupPlan({ rows: all }, { all: isUnfolded });
    const found = items.flatMap((item) => item.rows);
    expect(found).toHaveLength(all.length);
    expect(new Set(found)).toEqual(new Set(all));
    expect(sum(found, 'credits')).toBe(sum(all, 'credits'));
    expect(sum(found, 'discards')).toBe(sum(all, 'discards'));
    const index = indexRows({ rows: all });
    for (const item of items) {
      expect(item.rows.length).toBeGreaterThan(0);
      expect(new Set(item.rows.map(({ action }) => action))).toEqual(new Set([item.action]));
      if (item.task !== undefined) expect(new Set(item.rows.map(({ task }) => task))).toEqual(new Set([item.task]));
      if (isUnfolded) expect(item.rows).toHaveLength(1);
      expect(describeItem(item, index)).not.toBe('');
    }
    const order = items.map(({ action }) => actionOrder.indexOf(action));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  test('say of parts that may not be needed that they are the most that there are', () => {
    const stills = [1, 2, 3].map((parts) => {
      const neededIf = { of: 'talk', parts };
      return row(`still@${parts}`, 'create', {
        reason: { code: 'not-bought', text: 'another sentence', ...(parts > 1 && { neededIf }) },
      });
    });
    const [item] = groupPlan({ rows: stills }, { all: false });
    expect(item && describeItem(item, new Map())).toBe(
      'not bought yet; at most this many steps, depending on other outputs',
    );
  });

  test('are found at once where everything follows everything before it', () => {
    let looked = 0;
    const layers = Array.from({ length: 60 }, (_, layer) =>
      ['a', 'b'].map((side): PlanRow => {
        const before = layer === 0 ? [] : [`a${layer - 1}`, `b${layer - 1}`];
        const changes: Change[] = [
          { field: 'prompt', before: 'oak', after: 'elm' },
          ...before.map((name, index): Change => ({ field: `images.${index}`, cause: { is: 'step', name } })),
        ];
        const why: Reason = { code: 'changed', text: '', follows: before, changes };
        return Object.defineProperty(row(`${side}${layer}`, 'redo'), 'reason', {
          get: () => {
            looked += 1;
            return why;
          },
        });
      }),
    );
    const all = layers.flat();
    expect(groupPlan({ rows: all }, { all: false })).toHaveLength(all.length);
    expect(looked).toBeLessThan(all.length * 20);
  });

  test('a cause of several fields is told once, and steps are counted, not fields', () => {
    const restyled = (prompt: string): Reason => {
      const cause: Cause = { is: 'variable', name: 'vars.style' };
      const fields = { prompt, title: 'Oak', caption: 'OAK' };
      const changes = Object.entries(fields).map(([field, before]): Change => ({ field, before, after: 'elm', cause }));
      return { code: 'changed', text: '', changes };
    };
    const all = ['oak', 'oak', 'ash'].map((word, index) => row(`hero@${index}`, 'redo', { reason: restyled(word) }));
    const [item] = groupPlan({ rows: all }, { all: false });
    expect(item && describeItem(item, new Map())).toBe('vars.style: oak → elm; 1 more step with a different change');
  });

  test.each<[string, RowFacts[], string]>([
    ['up to date', [{}, {}], 'up to date'],
    ['posted', [posted, posted], 'posted'],
    ['posted first', [posted, {}], 'up to date'],
    ['pinned first', [pinned, {}, {}], 'up to date, 1 of them pinned'],
    ['pinned', [pinned, pinned], 'up to date, and pinned'],
    ['accepted', [{}, accepted('a'), accepted('b')], 'up to date, 2 of them accepted'],
    ['not needed', [unneeded(1), unneeded(2)], 'not needed'],
    ['of all kinds', [unneeded(1), pinned, {}, posted], 'up to date, 1 of them not needed, 1 of them pinned'],
  ])('what is kept is one line: %s', (_name, facts, expected) => {
    const all = facts.map((one, index) => row(`hero@${index}`, 'keep', one));
    const items = groupPlan({ rows: all }, { all: false });
    expect(items.map((item) => describeItem(item, new Map()))).toEqual([expected]);
  });
});
