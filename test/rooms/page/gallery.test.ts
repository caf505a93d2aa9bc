import { describe, expect, test } from 'vitest';
import type { ReportSpan } from '../../../src/contract/report.ts';
import { costLines, givenUp, isKept } from '../../../src/page/gallery/cost-tables.ts';
import { divide, layLines, mostCards, overscan, sizeGrid } from '../../../src/page/gallery/grid-layout.ts';
import { readLink, writeLink } from '../../../src/page/gallery/link.ts';
import {
  barsOf,
  concurrency,
  lasting,
  orderSpans,
  rangeOf,
  ticksOf,
} from '../../../src/page/gallery/timeline-layout.ts';
import { hasChanged, versionsOf } from '../../../src/page/gallery/versions.ts';
import { show } from '../../../src/page/model/shown.ts';
import { layRows, linesOf as linesOfGroups } from '../../../src/page/views/groups-layout.ts';
import { asset, campaign, file } from '../../rig/review/campaign.ts';

describe('the grid', () => {
  const assets = [
    asset('hero@a', { matrix: { style: 'warm' } }),
    asset('hero@b', { matrix: { style: 'cold' } }),
    asset('song', { kind: 'music' }),
  ];
  const names = (by: string) => divide(assets, by).map(({ name, assets: own }) => [name, own.length]);

  test('is divided by task, key or axis; what lacks it has a section of its own', () => {
    expect(names('')).toEqual([
      ['hero', 2],
      ['song', 1],
    ]);
    expect(names('key')).toEqual([
      ['a', 1],
      ['b', 1],
      ['no key', 1],
    ]);
    expect(names('axis:style')).toEqual([
      ['warm', 1],
      ['cold', 1],
      ['no style', 1],
    ]);
    expect(
      layLines(divide(assets, ''), 2).map((line) => (line.is === 'head' ? line.section.name : line.assets.length)),
    ).toEqual(['hero', 2, 'song', 1]);
  });

  test('no window has more cards in the page than it keeps up with, and cards fill its width', () => {
    for (const width of [0, 200, 292, 480, 1252, 2532, 5092]) {
      for (const height of [0, 300, 700, 1400, 2800]) {
        const { columns, card, line } = sizeGrid({ width, height });
        expect(columns * (Math.ceil(height / line) + 1 + 2 * overscan)).toBeLessThanOrEqual(
          columns === 1 ? 400 : mostCards,
        );
        expect(columns * card + (columns - 1) * 8).toBeCloseTo(width);
      }
    }
    expect(sizeGrid({ width: 292, height: 500 }).columns).toBe(2);
  });

  test('a strip of thousands is cut into rows of one line each', () => {
    const many = Array.from({ length: 3000 }, (_, index) => asset(`all@k${index}`));
    const shown = show(campaign([{ name: 'all', assets: many }]), new Map());
    const strips = shown.groups.map((group) => ({ group, assets: group.assets }));
    const room = { width: 1252, gap: 10, frame: 14, shapeOf: () => 4 / 3, isLow: () => false };
    const rows = layRows(strips, room);
    expect(rows.flatMap((row) => row.strips.flatMap((strip) => strip.assets))).toEqual(many);
    expect(rows.filter((row) => row.strips[0]?.from === 0)).toHaveLength(1);
    const lengths = linesOfGroups(rows, room).map(({ length }) => length);
    expect([...new Set(lengths)].sort()).toEqual([5, 6]);
  });
});

describe('the address', () => {
  test('keeps everything that is seen, whatever names hold', () => {
    const link = {
      views: ['grid', 'loupe'],
      chosen: { task: 'héro & co', tag: '#1' },
      undecided: true,
      search: 'a=b&c 100 %',
      sections: 'axis:größe',
      order: 'failed',
      details: true,
      active: 'hero@a&b,16:9/2',
    };
    expect(readLink(writeLink(link))).toEqual(link);
  });

  test('takes nothing that it does not know', () => {
    const nothing = {
      views: [],
      chosen: {},
      undecided: false,
      search: '',
      sections: '',
      order: '',
      details: false,
      active: '',
    };
    expect(readLink('')).toEqual(nothing);
    expect(readLink('#nonsense=1&__proto__=x&%E0%A4%A')).toEqual(nothing);
    expect(writeLink(nothing)).toBe('#');
  });
});

describe('the timeline', () => {
  const spans: ReportSpan[] = [
    { address: 'a', task: 'x', sent: 1000, job: 2000, finished: 5000, saved: 6000, end: 'done' },
    { address: 'b', task: 'w', sent: 2000, job: 2500, finished: 4000, end: 'failed', error: 'no' },
    { address: 'c', task: 'x', job: 5000, end: 'open' },
    { address: 'd', task: 'w', end: 'unresolved' },
  ];
  const range = rangeOf({ run: 'r', started: 1000, ended: 11_000, spans });

  test('phases are parts of its time; what was not seen has none', () => {
    expect(range).toEqual({ from: 1000, to: 11_000 });
    expect(spans.map((span) => barsOf(span, range))).toEqual([
      [
        { is: 'queue', from: 0, to: 0.1 },
        { is: 'run', from: 0.1, to: 0.4 },
        { is: 'save', from: 0.4, to: 0.5 },
      ],
      [
        { is: 'queue', from: 0.1, to: 0.15 },
        { is: 'run', from: 0.15, to: 0.3 },
      ],
      [{ is: 'run', from: 0.4, to: 1 }],
      [],
    ]);
  });

  test('counts what is under way at the same time', () => {
    expect(concurrency(spans, range, 10)).toEqual([1, 2, 2, 1, 2, 1, 1, 1, 1, 1]);
    expect(concurrency([], range, 3)).toEqual([0, 0, 0]);
    // One ends as the next begins: never two.
    const after: ReportSpan[] = [
      { address: 'a', task: 'x', sent: 1000, saved: 3000, end: 'done' },
      { address: 'b', task: 'x', sent: 3000, saved: 5000, end: 'done' },
    ];
    expect(Math.max(...concurrency(after, range, 7))).toBe(1);
  });

  test('orders, ticks and lengths', () => {
    const names = (order: string) => orderSpans(spans, order, range.to).map(({ address }) => address);
    expect(names('')).toEqual(['a', 'b', 'c', 'd']);
    expect(names('task')).toEqual(['b', 'd', 'a', 'c']);
    expect(names('longest')).toEqual(['c', 'a', 'b', 'd']);
    expect(names('failed')).toEqual(['b', 'c', 'd', 'a']);
    expect(ticksOf(900_000, 6)).toEqual([0, 300_000, 600_000, 900_000]);
    expect(ticksOf(1, 6)).toEqual([0]);
    expect([400, 9960, 59_600, 300_000, 3_725_000, 90_000_000].map(lasting)).toEqual([
      '0.4 s',
      '10 s',
      '1 min',
      '5 min',
      '1 h 2 min',
      '25 h',
    ]);
  });
});

test('cost of each kept output: what a gate decided against is not kept', () => {
  const takes = [1, 2, 3].map((take) =>
    asset(`hero@a,take:${take}`, {
      take,
      files: [file(take)],
      ...(take === 2 && { verdict: { is: 'picked' as const } }),
    }),
  );
  const data = campaign([
    { name: 'hero@a', assets: takes },
    { name: 'song', assets: [asset('song', { kind: 'music' })], options: { isFree: true } },
  ]);
  for (const group of data.groups) if (group.gate !== undefined) group.gate.state = 'decided';
  const shown = show(data, new Map());
  expect([...shown.assets.values()].filter((one) => isKept(one, shown)).map(({ address }) => address)).toEqual([
    'hero@a,take:2',
  ]);
  const lines = [
    { name: 'hero', jobs: 3, credits: 6 },
    { name: 'song', jobs: 1, credits: null },
  ];
  expect(costLines({ by: 'task', lines }, shown)).toEqual([
    { name: 'hero', jobs: 3, credits: 6, part: 1, kept: 1, perKept: 6 },
    { name: 'song', jobs: 1, credits: null, part: 0, kept: 0, perKept: null },
  ]);
  expect(costLines({ by: 'model', lines: [] }, shown)).toEqual([]);
  expect(givenUp({ spent: 10, inUse: 7, held: 0, tables: [] })).toBe(3);
  expect(givenUp({ spent: 10, inUse: null, held: 0, tables: [] })).toBeNull();
});

test('versions: at the reference first, and no purchase twice', () => {
  const earlier = (job: string) => ({ job, credits: 2, changed: ['prompt'], request: {}, files: [file(3)] });
  const both = asset('a', { before: earlier('j1'), earlier: [earlier('j2'), earlier('j1')] });
  expect(versionsOf(both).map(({ is, earlier: { job } }) => [is, job])).toEqual([
    ['reference', 'j1'],
    ['earlier', 'j2'],
  ]);
  expect(
    [both, asset('new', { before: null }), asset('same'), asset('redone', { earlier: [earlier('j3')] })].map(
      hasChanged,
    ),
  ).toEqual([true, true, false, true]);
  // The same purchase as at the reference is no change, whatever was bought before that.
  const same = { ...earlier('job-a'), changed: [] };
  expect(hasChanged(asset('a', { before: same, earlier: [earlier('j1')] }))).toBe(false);
});
