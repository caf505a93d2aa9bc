import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPicks } from '../../../src/campaign/decisions/judge.ts';
import type { ReviewAsset, WantedVerdict } from '../../../src/contract/review.ts';
import { applyFilter, noFilter } from '../../../src/page/model/filter.ts';
import { picksFile, redoCommand, shellWord } from '../../../src/page/model/leave.ts';
import { afterVerdict, moveByGroup, moveInLines, moveToUndecided, nearest } from '../../../src/page/model/moves.ts';
import { show } from '../../../src/page/model/shown.ts';
import { layRows, linesOf, type Room, type Row, widthIn } from '../../../src/page/views/groups-layout.ts';
import { makeFolder } from '../../rig/folder.ts';
import { asset, campaign, products } from '../../rig/review/campaign.ts';

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
  // With a pick its gate is decided: the next group follows. After the last rejection, too.
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
  const wide = roomOf(2300);
  const lines = linesOf(layRows(strips, wide), wide);
  expect(lines.map((line) => line.length)).toEqual([6, 6]);
  expect(moveInLines(lines, at(2, 1), 'left')).toBe(at(1, 3));
  expect(moveInLines(lines, at(2, 1), 'down')).toBe(at(4, 1));
  expect(moveInLines(lines, at(1, 1), 'up')).toBeUndefined();
  // A group longer than the line is broken.
  const narrow = { ...roomOf(292), height: 300 };
  expect(linesOf(layRows(strips, narrow), narrow).map((line) => line.length)).toEqual([2, 1, 2, 1, 2, 1, 2, 1]);
});

const notBought = ({ job: _, verdict: __, ...asset }: ReviewAsset): ReviewAsset => ({
  ...{ ...asset, state: 'planned', files: [], isJudged: false },
});

const roomOf = (width: number, shapes: Record<string, number> = {}): Room => ({
  ...{ width, height: 780, gap: 10, frame: 14, head: 44, below: 53 },
  shapeOf: ({ address }) => shapes[address] ?? 4 / 3,
  isLow: () => false,
});

test.each([
  [1440, 900],
  [1280, 720],
  [1024, 768],
])('four takes of 16:9 are seen at once in a window of %i × %i', (width, height) => {
  const strips = applyFilter(show(products(3, 4), new Map()), noFilter, []);
  // Without header and foot.
  const room = { ...roomOf(width - 28), height: height - 124, shapeOf: () => 16 / 9 };
  const rows = layRows(strips, room);
  const [first] = rows;
  const ofGroup = rows.filter((row) => row.strips[0]?.group === first?.strips[0]?.group);
  expect(ofGroup.flatMap((row) => row.strips.flatMap(({ assets }) => assets))).toHaveLength(4);
  expect(ofGroup.reduce((sum, row) => sum + row.height + room.below, room.head)).toBeLessThanOrEqual(room.height);
  expect(first?.height).toBeGreaterThan(180);
});

test.each([1440, 1024])('three takes of 16:9 are one row in a window of %i, whatever the bars leave', (width) => {
  const strips = applyFilter(show(products(3, 3), new Map()), noFilter, []);
  for (const bars of [124, 170, 240]) {
    const room = { ...roomOf(width - 28), height: 768 - bars, shapeOf: () => 16 / 9 };
    expect(layRows(strips, room)[0]?.strips[0]?.assets).toHaveLength(3);
  }
});

test('groups of one task stand side by side where that costs them little of their size', () => {
  const strips = applyFilter(show(products(10, 4), new Map()), noFilter, []);
  const besides = (room: Room) => layRows(strips, room).map((row) => row.strips.length);
  expect(besides({ ...roomOf(1412), shapeOf: () => 9 / 16 })).toEqual([2, 2, 2, 2, 2]);
  // Four of 4:3 are two lines.
  expect(besides(roomOf(1412))).toEqual(Array(20).fill(1));
  const mixed = roomOf(1412, { [at(1, 1)]: 21 / 9, [at(1, 2)]: 9 / 16 });
  const [first] = layRows(strips, mixed);
  const widths = first?.strips[0]?.assets.map((one) => widthIn(mixed, one, first.height) / first.height) ?? [];
  expect(widths.map((shape) => Math.round(shape * 100) / 100)).toEqual([2.33, 0.56]);
});

test('groups of which nothing was bought are one line for each task, and arrows pass them over', () => {
  const { assets, groups, ...rest } = products(4, 2);
  const planned = { ...rest, groups, assets: assets.map((one, index) => (index < 2 ? one : notBought(one))) };
  const strips = applyFilter(show(planned, new Map()), noFilter, []);
  const room = roomOf(1412);
  const rows = layRows(strips, room);
  expect(rows.map((row) => row.planned?.length ?? 0)).toEqual([0, 3]);
  expect(linesOf(rows, room)).toHaveLength(1);
  expect(moveByGroup(strips, at(1, 1), 1)).toBeUndefined();
  const alone = strips.slice(1);
  expect(layRows(alone, room).every((row) => row.planned === undefined)).toBe(true);
  expect(moveByGroup(alone, at(2, 1), 1)).toBe(at(3, 1));
});

test('a verdict changes its own group alone, and no row', () => {
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
  const shape = ({ height, strips: parts }: Row) => [height, parts.map(({ from, assets }) => [from, assets.length])];
  expect(layRows(now, room).map(shape)).toEqual(rows.map(shape));
  // The undo goes the same way back.
  expect(show(campaign, new Map(), after)).toEqual(before);
});

const verdicts: WantedVerdict[] = [
  { address: 'hero@lamp,take:1', is: 'picked', job: 'j1', note: "it's warm" },
  { address: 'hero@rug,take:2', is: 'picked', job: 'j2' },
  { address: 'hero@rug,take:1', is: 'rejected', job: 'j3', note: '', reason: 'hands' },
  { address: 'hero@a b,take:1', is: 'undecided', job: 'j4' },
];

test('picks.json is what `pick --from` reads', async () => {
  const folder = makeFolder();
  const path = join(folder, 'picks.json');
  writeFileSync(path, picksFile('Ada', verdicts));
  expect(await readPicks(path)).toEqual([
    { by: 'Ada', address: 'hero@lamp,take:1', is: 'picked', note: "it's warm", job: 'j1' },
    { by: 'Ada', address: 'hero@rug,take:2', is: 'picked', job: 'j2' },
    { by: 'Ada', address: 'hero@rug,take:1', is: 'rejected', reason: 'hands', job: 'j3' },
  ]);
  // As some editors save it.
  writeFileSync(path, `\ufeff${picksFile('Ada', verdicts)}`);
  expect(await readPicks(path)).toHaveLength(3);
});

test('commands concern the lock and the account of the host', () => {
  const data = {
    file: 'campaign.yaml',
    commands: {
      pick: 'mediabatch pick campaign.yaml --sandbox',
      redo: 'mediabatch apply campaign.yaml --sandbox --redo',
    },
  };
  const { groups } = show(campaign([{ name: 'hero@a b', assets: [asset('hero@a b,take:1')] }]), new Map());
  const redone = groups.map((group) => [redoCommand(data, group), redoCommand({ file: 'my campaign.yaml' }, group)]);
  expect(redone).toEqual([
    [
      "mediabatch apply campaign.yaml --sandbox --redo 'hero@a b'",
      "mediabatch apply 'my campaign.yaml' --redo 'hero@a b'",
    ],
  ]);
});

test('a hostile word stays one word', () => {
  expect(shellWord('$(rm -rf ~)')).toBe(`'$(rm -rf ~)'`);
  expect(shellWord('a\nb')).toBe(`'a b'`);
  expect(shellWord('--note')).toBe(`'--note'`);
  expect(shellWord('')).toBe(`''`);
});
