import { describe, expect, test } from 'vitest';
import type { PlanRow } from '../../../src/plan/plan.ts';
import { findUnfunded } from '../../../src/plan/prices/fund.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import { create, lockOf, now, planOf, rowOf, song, stepOf } from './facts.ts';

type Written = Pick<PlanRow, 'address' | 'credits'> & {
  action?: PlanRow['action'];
  needs?: string[];
  again?: true;
  /** The open gate that asks about it. */
  group?: string;
  /** It waits for a pick, and costs so much then. */
  later?: number;
};

const sent = graphOfSteps([song('sent')]);
const sentAgain = rowOf(
  planOf(sent, lockOf({ sent: [create(stepOf(sent, 'sent'), { since: new Date(now).toISOString() })] })),
  'sent',
).order;

function unfunded(cap: number, rows: Written[]): string[] {
  const needs = new Map(rows.map((row) => [row.address, row.needs ?? []]));
  const groups = new Map(rows.map((row) => [row.address, row.group]));
  const planned = rows.map(
    ({ address, credits, action = 'create', again, later }) =>
      ({
        address,
        task: address,
        kind: 'music',
        reason: { code: 'not-bought', text: '' },
        action,
        credits,
        ...(later !== undefined && { action: 'blocked', blockedBy: 'gate', wouldCost: later }),
        ...(again && sentAgain && { order: sentAgain }),
      }) as PlanRow,
  );
  const hangs = {
    needsOf: ({ address }: PlanRow) => needs.get(address) ?? [],
    groupOf: ({ address }: PlanRow) => groups.get(address),
  };
  return [...findUnfunded(planned, cap, hangs)];
}

describe('what fits into the credits', () => {
  test.each<[string, number, Written[], string[]]>([
    [
      'all that costs as much as there is',
      8,
      [
        { address: 'a', credits: 4 },
        { address: 'b', credits: 4 },
      ],
      [],
    ],
    [
      'not what costs one credit more',
      7,
      [
        { address: 'a', credits: 4 },
        { address: 'b', credits: 4 },
      ],
      ['b'],
    ],
    [
      'a small one after one that is too large',
      4,
      [
        { address: 'a', credits: 5 },
        { address: 'b', credits: 4 },
      ],
      ['a'],
    ],
    [
      'a chain before the beginning of another',
      8,
      [
        { address: 'a1', credits: 4 },
        { address: 'b1', credits: 4 },
        { address: 'a2', credits: 4, needs: ['a1'] },
        { address: 'b2', credits: 4, needs: ['b1'] },
      ],
      ['b1', 'b2'],
    ],
    [
      'the beginning of a chain whose end does not fit',
      4,
      [
        { address: 'a', credits: 4 },
        { address: 'b', credits: 4, needs: ['a'] },
      ],
      ['b'],
    ],
    [
      'as much of a chain as there is credit for',
      8,
      [
        { address: 'a', credits: 4 },
        { address: 'b', credits: 4, needs: ['a'] },
        { address: 'c', credits: 4, needs: ['b'] },
      ],
      ['c'],
    ],
    [
      'a second chain on a need that is paid, before the beginning of a third',
      7,
      [
        { address: 'base', credits: 3 },
        { address: 'x', credits: 2, needs: ['base'] },
        { address: 'z1', credits: 2 },
        { address: 'y', credits: 2, needs: ['base'] },
        { address: 'z2', credits: 2, needs: ['z1'] },
      ],
      ['z1', 'z2'],
    ],
    [
      'nothing whose need does not fit',
      4,
      [
        { address: 'a', credits: 5 },
        { address: 'b', credits: 4, needs: ['a'] },
      ],
      ['a', 'b'],
    ],
    [
      'a small need of two chains is paid once',
      7,
      [
        { address: 'base', credits: 3 },
        { address: 'a', credits: 2, needs: ['base'] },
        { address: 'b', credits: 2, needs: ['base'] },
      ],
      [],
    ],
    [
      'two ways to the same need are one purchase',
      9,
      [
        { address: 'base', credits: 3 },
        { address: 'a', credits: 2, needs: ['base'] },
        { address: 'b', credits: 2, needs: ['base'] },
        { address: 'end', credits: 2, needs: ['a', 'b'] },
      ],
      [],
    ],
    [
      'what is needed and not bought anew costs nothing',
      4,
      [
        { address: 'kept', credits: 9, action: 'keep' },
        { address: 'a', credits: 4, needs: ['kept', 'elsewhere'] },
      ],
      [],
    ],
    ['nothing of what does not spend is ever too much', 0, [{ address: 'kept', credits: 0, action: 'download' }], []],
    [
      'each way of spending counts',
      0,
      [
        { address: 'a', credits: 1 },
        { address: 'b', credits: 1, action: 'redo' },
        { address: 'c', credits: 1, action: 'retry' },
      ],
      ['a', 'b', 'c'],
    ],
    ['what is free, with nothing left', 0, [{ address: 'a', credits: 0 }], []],
  ])('%s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });

  test.each<[string, number, Written[], string[]]>([
    [
      'goes ahead while a credit is left',
      1,
      [
        { address: 'a', credits: null },
        { address: 'b', credits: null },
      ],
      [],
    ],
    [
      'does not begin with nothing left',
      4,
      [
        { address: 'a', credits: 4 },
        { address: 'b', credits: null },
      ],
      ['b'],
    ],
    [
      'does not end a chain for which nothing is left',
      0,
      [
        { address: 'a', credits: 0 },
        { address: 'b', credits: null, needs: ['a'] },
      ],
      ['b'],
    ],
  ])('what has no known price %s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });

  test.each<[string, number, Written[], string[]]>([
    [
      'comes first',
      4,
      [
        { address: 'a', credits: 4 },
        { address: 'sent', credits: 4, again: true },
      ],
      ['a'],
    ],
    [
      'is taken off even where it does not fit, for it may have been charged',
      6,
      [
        { address: 'sent', credits: 4, again: true },
        { address: 'too much', credits: 3, again: true },
        { address: 'a', credits: 1 },
        { address: 'free', credits: 0 },
      ],
      ['too much', 'a'],
    ],
    [
      'takes all that is left where its price is unknown and nothing is there',
      0,
      [
        { address: 'sent', credits: null, again: true },
        { address: 'a', credits: 0 },
      ],
      ['sent'],
    ],
    [
      'is funded once',
      8,
      [
        { address: 'sent', credits: 4, again: true },
        { address: 'a', credits: 4, needs: ['sent'] },
      ],
      [],
    ],
  ])('what was sent before %s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });
});

describe('around a gate', () => {
  const takes = (group: string, credits: number, count = 2): Written[] =>
    Array.from({ length: count }, (_, index) => ({ address: `${group}/${index + 1}`, credits, group }));
  const final = (group: string, later: number): Written => ({
    address: `final@${group}`,
    credits: 0,
    needs: [group],
    later,
  });

  test.each<[string, number, Written[], string[]]>([
    ['half a group is of no use', 3, takes('a', 2), ['a/1', 'a/2']],
    ['a group that fits goes before one that does not', 5, [...takes('a', 3), ...takes('b', 2)], ['a/1', 'a/2']],
    ['of two groups one goes whole', 6, [...takes('a', 2), ...takes('b', 2)], ['b/1', 'b/2']],
    [
      'what is left goes to single rows, and not into a group',
      5,
      [...takes('a', 2), ...takes('b', 2), { address: 'song', credits: 1 }],
      ['b/1', 'b/2'],
    ],
    [
      'a group of unknown prices is not begun where less is left than it is expected to cost',
      3,
      [
        { address: 'a/1', credits: null, group: 'a' },
        { address: 'a/2', credits: null, group: 'a' },
        { address: 'b/1', credits: null, group: 'b' },
        { address: 'b/2', credits: null, group: 'b' },
      ],
      ['b/1', 'b/2'],
    ],
    [
      'a group waits with what one of its steps needs',
      4,
      [
        { address: 'logo', credits: 5 },
        { address: 'a/0', credits: 2, group: 'a', needs: ['logo'] },
        ...takes('a', 1, 1),
      ],
      ['logo', 'a/0', 'a/1'],
    ],
    [
      'all drafts are bought where all of them fit; of what follows the picks as much as there is credit for',
      9,
      [...takes('a', 2), ...takes('b', 2), final('a', 1), final('b', 1)],
      ['final@b'],
    ],
    [
      'where the drafts do not fit, those go first whose final the credits carry',
      7,
      [...takes('a', 2), final('a', 9), ...takes('b', 2), final('b', 3)],
      ['a/1', 'a/2', 'final@a'],
    ],
    [
      'a final behind two gates is one chain with both',
      9,
      [
        ...takes('b', 2),
        ...takes('c', 2),
        { address: 'film', credits: 0, later: 1, needs: ['b', 'c'] },
        ...takes('a', 2),
      ],
      ['a/1', 'a/2'],
    ],
    [
      'what follows a final is of its chain',
      8,
      [
        ...takes('a', 2),
        final('a', 2),
        { address: 'film', credits: 0, later: 9, needs: ['final@a'] },
        ...takes('b', 2),
        final('b', 2),
        { address: 'song', credits: 1 },
      ],
      ['a/1', 'a/2', 'final@a', 'film'],
    ],
  ])('%s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });
});
