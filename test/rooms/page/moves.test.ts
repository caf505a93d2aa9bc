import { expect, test } from 'vitest';
import type { WantedVerdict } from '../../../src/contract/review.ts';
import { applyFilter, noFilter } from '../../../src/page/model/filter.ts';
import { afterVerdict, moveByGroup, moveInLines, moveToUndecided, nearest } from '../../../src/page/model/moves.ts';
import { show } from '../../../src/page/model/shown.ts';
import { layRows, linesOf, type Room, widthIn, withStrips } from '../../../src/page/views/groups-layout.ts';
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
  const wide = roomOf(1900);
  const lines = linesOf(layRows(strips, wide), wide);
  expect(lines.map((line) => line.length)).toEqual([6, 6]);
  expect(moveInLines(lines, at(2, 1), 'left')).toBe(at(1, 3));
  expect(moveInLines(lines, at(2, 1), 'down')).toBe(at(4, 1));
  expect(moveInLines(lines, at(1, 1), 'up')).toBeUndefined();
  // A group longer than the line is broken.
  const narrow = roomOf(292);
  expect(linesOf(layRows(strips, narrow), narrow).map((line) => line.length)).toEqual([2, 1, 2, 1, 2, 1, 2, 1]);
});

/** CSS pixels of each row: its pictures, and what is between and beside them. */
function widthsOf(rows: ReturnType<typeof layRows>, room: Room): number[] {
  return rows.map(({ strips, height }) =>
    strips
      .flatMap(({ assets }) => assets)
      .reduce((sum, one) => sum + widthIn(room, one, height) + room.frame + room.gap, -room.gap),
  );
}

const roomOf = (width: number, shapes: Record<string, number> = {}): Room => ({
  ...{ width, gap: 10, frame: 14 },
  shapeOf: ({ address }) => shapes[address] ?? 4 / 3,
  isLow: () => false,
});

test('groups have the shape of their pictures: rows fill the width, at one height each, whatever is mixed in them', () => {
  const strips = applyFilter(show(products(10, 4), new Map()), noFilter, []);
  const tall = { ...roomOf(1252), shapeOf: () => 9 / 16 };
  const rows = layRows(strips, tall);
  // Two groups of tall pictures have room where one of others has.
  expect(rows.map((row) => row.strips.length)).toEqual([2, 2, 2, 2, 2]);
  expect(layRows(strips, roomOf(1252)).map((row) => row.strips.length)).toEqual(Array(10).fill(1));
  for (const room of [roomOf(1252), tall, roomOf(362), roomOf(1252, { [at(1, 1)]: 21 / 9, [at(1, 2)]: 9 / 16 })]) {
    const widths = widthsOf(layRows(strips, room), room);
    for (const width of widths) {
      expect(width).toBeLessThanOrEqual(room.width);
      expect(width).toBeGreaterThan(room.width * 0.97);
    }
  }
  const mixed = roomOf(1252, { [at(1, 1)]: 21 / 9, [at(1, 2)]: 9 / 16 });
  const [first] = layRows(strips, mixed);
  const height = first?.height ?? 0;
  const shapes = first?.strips[0]?.assets.map((one) => widthIn(mixed, one, height) / height) ?? [];
  expect(shapes.map((shape) => Math.round(shape * 100) / 100)).toEqual([2.33, 0.56, 1.33, 1.33]);
});

test('a survey makes pictures as large as can be', () => {
  expect(fitColumns(4, 1, { width: 1000, height: 1000 }, 0)).toBe(2);
  expect(fitColumns(4, 0.5, { width: 1000, height: 500 }, 0)).toBe(4);
  expect(fitColumns(1, 2, { width: 1000, height: 500 }, 90)).toBe(1);
  // Too many to be told apart on one screen: they are scrolled.
  expect(fitColumns(200, 1, { width: 1400, height: 800 }, 54)).toBe(10);
  expect(fitColumns(4, 1, { width: 300, height: 140 }, 54)).toBe(2);
});

test('a verdict changes its own group, and the row in which that stands; the rows are not laid anew', () => {
  const campaign = products(10, 4);
  const room = { ...roomOf(1252), shapeOf: () => 9 / 16 };
  const before = show(campaign, new Map());
  const strips = applyFilter(before, noFilter, []);
  const rows = layRows(strips, room);
  const picked = new Map([[at(3, 2), { address: at(3, 2), is: 'picked' as const, job: `job-${at(3, 2)}` }]]);
  const after = show(campaign, picked, before);
  const now = applyFilter(after, noFilter, []);
  const others = (list: readonly unknown[], old: readonly unknown[]) =>
    list.flatMap((one, index) => (one === old[index] ? [] : index));
  expect(after).toEqual(show(campaign, picked));
  expect(others(after.groups, before.groups)).toEqual([2]);
  expect(others(now, strips)).toEqual([2]);
  const kept = withStrips(rows, { before: strips, now, room }) ?? [];
  expect(kept).toEqual(layRows(now, room));
  // Two groups stand in each.
  expect(others(kept, rows)).toEqual([1]);
  // The undo goes the same way back; what is in another shape, or in other groups, is laid anew.
  expect(show(campaign, new Map(), after)).toEqual(before);
  const shapes = {
    before: strips,
    now,
    room: { ...room, shapeOf: (asset: { verdict?: unknown }) => (asset.verdict ? 1 : 2) },
  };
  expect(withStrips(rows, shapes)).toBeUndefined();
  expect(withStrips(rows, { before: strips, now: now.slice(1), room })).toBeUndefined();
});
