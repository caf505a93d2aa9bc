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

/** `b 4 needs:a group:g later:9 again`: an address, its credits or ?, and what else is so; an action is its word. */
function written(text: string): Written {
  const [address = '', credits, ...words] = text.split(' ');
  const facts = words
    .map((word) => word.split(':'))
    .map(([name = '', value]): object => {
      if (name === 'again') return { again: true };
      if (value === undefined) return { action: name };
      return { [name]: name === 'needs' ? value.split(',') : name === 'later' ? Number(value) : value };
    });
  return Object.assign({ address, credits: credits === '?' ? null : Number(credits) }, ...facts);
}

function unfunded(cap: number, given: (string | Written)[]): string[] {
  const rows = given.map((row) => (typeof row === 'string' ? written(row) : row));
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
  test.each<[string, number, (string | Written)[], string[]]>([
    ['all that costs as much as there is', 8, ['a 4', 'b 4'], []],
    ['a small one after one that is too large', 4, ['a 5', 'b 4'], ['a']],
    ['a chain before the beginning of another', 8, ['a1 4', 'b1 4', 'a2 4 needs:a1', 'b2 4 needs:b1'], ['b1', 'b2']],
    ['the beginning of a chain whose end does not fit', 4, ['a 4', 'b 4 needs:a'], ['b']],
    ['as much of a chain as there is credit for', 8, ['a 4', 'b 4 needs:a', 'c 4 needs:b'], ['c']],
    [
      'a second chain on a need that is paid, before the beginning of a third',
      7,
      ['base 3', 'x 2 needs:base', 'z1 2', 'y 2 needs:base', 'z2 2 needs:z1'],
      ['z1', 'z2'],
    ],
    ['nothing whose need does not fit', 4, ['a 5', 'b 4 needs:a'], ['a', 'b']],
    ['a small need of two chains is paid once', 7, ['base 3', 'a 2 needs:base', 'b 2 needs:base'], []],
    ['a need of two steps is bought once', 9, ['base 3', 'a 2 needs:base', 'b 2 needs:base', 'end 2 needs:a,b'], []],
    ['what is needed and not bought anew costs nothing', 4, ['kept 9 keep', 'a 4 needs:kept,elsewhere'], []],
    ['each way of spending counts', 0, ['a 1', 'b 1 redo', 'c 1 retry'], ['a', 'b', 'c']],
  ])('%s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });

  test.each<[string, number, (string | Written)[], string[]]>([
    ['goes ahead while a credit is left', 1, ['a ?', 'b ?'], []],
    ['does not begin with nothing left', 4, ['a 4', 'b ?'], ['b']],
    ['does not end a chain for which nothing is left', 0, ['a 0', 'b ? needs:a'], ['b']],
  ])('what has no known price %s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });

  test.each<[string, number, (string | Written)[], string[]]>([
    ['comes first', 4, ['a 4', 'sent 4 again'], ['a']],
    [
      'is taken off even where it does not fit, for it may have been charged',
      6,
      ['sent 4 again', 'too-much 3 again', 'a 1', 'free 0'],
      ['too-much', 'a'],
    ],
    ['takes all that is left where its price is unknown and nothing is there', 0, ['sent ? again', 'a 0'], ['sent']],
    ['is funded once', 8, ['sent 4 again', 'a 4 needs:sent'], []],
  ])('what was sent before %s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });
});

describe('around a gate', () => {
  const takes = (group: string, credits: number, count = 2): Written[] =>
    Array.from({ length: count }, (_, index) => ({ address: `${group}/${index + 1}`, credits, group }));
  const final = (group: string, later: number): Written => ({
    ...{ address: `final@${group}`, credits: 0, needs: [group], later },
  });

  test.each<[string, number, (string | Written)[], string[]]>([
    ['half a group is of no use', 3, takes('a', 2), ['a/1', 'a/2']],
    ['a group that fits goes before one that does not', 5, [...takes('a', 3), ...takes('b', 2)], ['a/1', 'a/2']],
    ['of two groups one goes whole', 6, [...takes('a', 2), ...takes('b', 2)], ['b/1', 'b/2']],
    [
      'what is left goes to single rows, not a group',
      5,
      [...takes('a', 2), ...takes('b', 2), 'song 1'],
      ['b/1', 'b/2'],
    ],
    [
      'a group of unknown prices is not begun where less is left than it is expected to cost',
      3,
      ['a/1 ? group:a', 'a/2 ? group:a', 'b/1 ? group:b', 'b/2 ? group:b'],
      ['b/1', 'b/2'],
    ],
    [
      'a group waits with what one of its steps needs',
      4,
      ['logo 5', 'a/0 2 needs:logo group:a', ...takes('a', 1, 1)],
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
      [...takes('b', 2), ...takes('c', 2), 'film 0 needs:b,c later:1', ...takes('a', 2)],
      ['a/1', 'a/2'],
    ],
    [
      'what follows a final is of its chain',
      8,
      [...takes('a', 2), final('a', 2), 'film 0 needs:final@a later:9', ...takes('b', 2), final('b', 2), 'song 1'],
      ['a/1', 'a/2', 'final@a', 'film'],
    ],
  ])('%s', (_name, cap, rows, expected) => {
    expect(unfunded(cap, rows)).toEqual(expected);
  });
});
