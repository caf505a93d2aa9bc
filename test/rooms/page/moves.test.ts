import { expect, test } from 'vitest';
import type { WantedVerdict } from '../../../src/contract/review.ts';
import { applyFilter, noFilter } from '../../../src/page/model/filter.ts';
import { afterVerdict, moveByGroup, moveInLines, moveToUndecided, nearest } from '../../../src/page/model/moves.ts';
import { show } from '../../../src/page/model/shown.ts';
import { bestColumns, layRows, linesOf } from '../../../src/page/views/groups-layout.ts';
import { fitColumns } from '../../../src/page/views/survey-layout.ts';
import { products } from '../../rig/review/campaign.ts';

const data = products(4, 3);
const at = (group: number, take: number) => `hero@p00${group},take:${take}`;

/** The page after these verdicts, the last of which was given on what was active. */
function after(verdicts: [address: string, is: WantedVerdict['is']][], undecided = false): string {
  const own = new Map(verdicts.map(([address, is]) => [address, { address, is, job: `job-${address}` }]));
  const shown = show(data, own);
  const [address, is] = verdicts.at(-1) ?? ['', 'picked'];
  return afterVerdict(shown, applyFilter(shown, { ...noFilter, undecided }, []), address, is);
}

test.each([false, true])('after a verdict the neighbour is next, never the first of all (filter: %s)', (undecided) => {
  // Within its group: the one after it that has no verdict, else the nearest before.
  expect(after([[at(2, 1), 'rejected']], undecided)).toBe(at(2, 2));
  expect(
    after(
      [
        [at(2, 2), 'rejected'],
        [at(2, 1), 'rejected'],
      ],
      undecided,
    ),
  ).toBe(at(2, 3));
  expect(after([[at(2, 3), 'rejected']], undecided)).toBe(at(2, 2));
  // With a pick its gate is decided, with the last rejection too: the next group that somebody has to look at.
  expect(after([[at(2, 1), 'picked']], undecided)).toBe(at(3, 1));
  expect(
    after(
      [
        [at(3, 1), 'rejected'],
        [at(2, 3), 'picked'],
      ],
      undecided,
    ),
  ).toBe(at(3, 2));
  expect(
    after(
      [
        [at(2, 1), 'rejected'],
        [at(2, 2), 'rejected'],
        [at(2, 3), 'rejected'],
      ],
      undecided,
    ),
  ).toBe(at(3, 1));
  expect(
    after(
      [
        [at(3, 1), 'picked'],
        [at(2, 1), 'picked'],
      ],
      undecided,
    ),
  ).toBe(at(4, 1));
  // Round the end, and where nothing is left it stays.
  expect(after([[at(4, 1), 'picked']], undecided)).toBe(at(1, 1));
  const all: [string, 'picked'][] = [1, 2, 3, 4].map((group) => [at(group, 2), 'picked']);
  expect(after(all, undecided)).toBe(at(4, 2));
  // Taken back: it is looked at again.
  expect(after([[at(2, 2), 'undecided']], undecided)).toBe(at(2, 2));
});

test('what is hidden leads to what stands next to its place', () => {
  const shown = show(data, new Map());
  const strips = (text: string) => applyFilter(shown, { ...noFilter, text }, []);
  expect(nearest(shown, strips('take:3'), at(2, 1))).toBe(at(2, 3));
  expect(nearest(shown, strips('take:1'), at(2, 3))).toBe(at(2, 1));
  expect(nearest(shown, strips('p003'), at(2, 1))).toBe(at(3, 1));
  expect(nearest(shown, strips('p001'), at(2, 1))).toBe(at(1, 3));
  expect(nearest(shown, strips('nowhere'), at(2, 1))).toBeUndefined();
});

test('groups: beside, and undecided ones round the ends', () => {
  const own = new Map([[at(3, 1), { address: at(3, 1), is: 'picked' as const, job: `job-${at(3, 1)}` }]]);
  const strips = applyFilter(show(data, own), noFilter, []);
  expect(moveByGroup(strips, at(2, 3), 1)).toBe(at(3, 3));
  expect(moveByGroup(strips, at(1, 3), -1)).toBeUndefined();
  expect(moveToUndecided(strips, at(2, 3), 1)).toBe(at(4, 1));
  expect(moveToUndecided(strips, at(4, 3), 1)).toBe(at(1, 1));
  expect(moveToUndecided(strips, at(1, 1), -1)).toBe(at(4, 1));
});

test('arrows: left and right through everything, up and down to the nearest', () => {
  const strips = applyFilter(show(data, new Map()), noFilter, []);
  // Two groups of three beside each other.
  const lines = linesOf(layRows(strips, 7), 7);
  expect(lines.map((line) => line.length)).toEqual([6, 6]);
  expect(moveInLines(lines, at(2, 1), 'left')).toBe(at(1, 3));
  expect(moveInLines(lines, at(2, 1), 'down')).toBe(at(4, 1));
  expect(moveInLines(lines, at(1, 1), 'up')).toBeUndefined();
  // A group longer than the line is broken.
  expect(linesOf(layRows(strips, 2), 2).map((line) => line.length)).toEqual([2, 1, 2, 1, 2, 1, 2, 1]);
});

test('columns: whole groups fill the width; a survey makes pictures as large as can be', () => {
  const strips = applyFilter(show(products(10, 4), new Map()), noFilter, []);
  expect(bestColumns(strips, 7)).toBe(4);
  expect(bestColumns(strips, 9)).toBe(8);
  expect(fitColumns(4, 1, { width: 1000, height: 1000 }, 0)).toBe(2);
  expect(fitColumns(4, 0.5, { width: 1000, height: 500 }, 0)).toBe(4);
  expect(fitColumns(1, 2, { width: 1000, height: 500 }, 90)).toBe(1);
});
