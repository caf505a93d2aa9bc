import { describe, expect, test } from 'vitest';
import { hasChanged, versionsOf } from '../../../src/page/changes/versions.ts';
import { divide, layLines, mostCards, overscan, sizeGrid } from '../../../src/page/gallery/grid-layout.ts';
import { readLink, writeLink } from '../../../src/page/gallery/link.ts';
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
    const room = {
      width: 1252,
      height: 700,
      gap: 10,
      frame: 14,
      head: 44,
      below: 53,
      shapeOf: () => 4 / 3,
      isLow: () => false,
    };
    const rows = layRows(strips, room);
    expect(rows.flatMap((row) => row.strips.flatMap((strip) => strip.assets))).toEqual(many);
    expect(rows.filter((row) => row.strips[0]?.from === 0)).toHaveLength(1);
    const lengths = linesOfGroups(rows, room).map(({ length }) => length);
    expect([...new Set(lengths)].sort()).toEqual([6, 7]);
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
      details: false,
      active: '',
    };
    expect(readLink('')).toEqual(nothing);
    expect(readLink('#nonsense=1&__proto__=x&%E0%A4%A')).toEqual(nothing);
    expect(writeLink(nothing)).toBe('#');
  });
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
