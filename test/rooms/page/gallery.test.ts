import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReviewAsset } from '../../../src/contract/review.ts';
import { hasChanged, versionsOf } from '../../../src/page/changes/versions.ts';
import {
  isApart,
  movePair,
  type Pair,
  rejoin,
  toggleDrift,
  wholePair,
  zoomOf,
} from '../../../src/page/compare/pair.ts';
import { followActive, nextOnSide, startSides, swapSides } from '../../../src/page/compare/sides.ts';
import { divide, layLines, mostCards, overscan, sizeGrid } from '../../../src/page/gallery/grid-layout.ts';
import { readLink, writeLink } from '../../../src/page/gallery/link.ts';
import { show } from '../../../src/page/model/shown.ts';
import { layRows, linesOf as linesOfGroups } from '../../../src/page/views/groups-layout.ts';
import {
  type Frame,
  limitZoom,
  nameZoom,
  oneToOne,
  panBy,
  placePicture,
  togglePixels,
  wholePicture,
  zoomAt,
} from '../../../src/page/zoom/zoom.ts';
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

const frame: Frame = { picture: { width: 2000, height: 1000 }, pane: { width: 500, height: 500 }, density: 1 };
const small: Frame = { picture: { width: 100, height: 100 }, pane: { width: 500, height: 500 }, density: 2 };

/** The place of the picture that is at a point of the pane. */
function placeAt(zoom: typeof wholePicture, of: Frame, point: { x: number; y: number }) {
  const { left, top, width, height } = placePicture(zoom, of);
  return { x: (point.x - left) / width, y: (point.y - top) / height };
}

describe('a picture in its pane', () => {
  test('is as large as fits, in the middle', () => {
    expect(placePicture(wholePicture, frame)).toEqual({ width: 500, height: 250, left: 0, top: 125 });
  });

  test('at 1:1 has one pixel of the screen for each of its own', () => {
    const exact = togglePixels(wholePicture, frame);
    expect(placePicture(exact, frame)).toMatchObject({ width: 2000, height: 1000 });
    expect(nameZoom(exact, frame)).toBe('1:1');
    expect(placePicture(togglePixels(wholePicture, small), small)).toMatchObject({ width: 50, height: 50 });
    expect(togglePixels(exact, frame)).toEqual(wholePicture);
  });

  test('keeps what is under the pointer when it grows', () => {
    const at = { x: 400, y: 260 };
    const grown = zoomAt(wholePicture, 3, frame, at);
    expect(placeAt(grown, frame, at).x).toBeCloseTo(placeAt(wholePicture, frame, at).x, 10);
    // Its height does fill the pane now, so its place is kept there too.
    expect(placeAt(grown, frame, at).y).toBeCloseTo(placeAt(wholePicture, frame, at).y, 10);
  });

  test('follows a drag by as many pixels', () => {
    const exact = togglePixels(wholePicture, frame);
    const before = placePicture(exact, frame);
    const after = placePicture(panBy(exact, { x: -30, y: 12 }, frame), frame);
    expect([after.left - before.left, after.top - before.top]).toEqual([-30, 12]);
  });

  test('leaves no empty pane, wherever it is moved', () => {
    const size = fc.record({ width: fc.integer({ min: 1, max: 8000 }), height: fc.integer({ min: 1, max: 8000 }) });
    const zoom = fc.record({
      by: fc.double({ min: 0.001, max: 1000, noNaN: true }),
      x: fc.double({ min: -5, max: 5, noNaN: true }),
      y: fc.double({ min: -5, max: 5, noNaN: true }),
    });
    fc.assert(
      fc.property(size, size, zoom, (picture, pane, wanted) => {
        const of = { picture, pane, density: 1 };
        const { left, top, width, height } = placePicture(limitZoom(wanted, of), of);
        for (const [start, length, room] of [
          [left, width, pane.width],
          [top, height, pane.height],
        ] as const) {
          const slack = room * 1e-6;
          if (length >= room) expect([start <= slack, start + length >= room - slack]).toEqual([true, true]);
          else expect(start).toBeCloseTo((room - length) / 2, 3);
        }
        expect(limitZoom(limitZoom(wanted, of), of)).toEqual(limitZoom(wanted, of));
      }),
    );
  });

  test('without a size yet is placed nowhere odd', () => {
    const unknown = { ...frame, picture: { width: 0, height: 0 } };
    expect(Number.isFinite(oneToOne(unknown))).toBe(true);
  });
});

describe('two pictures', () => {
  const draft = { ...frame, picture: { width: 1000, height: 500 } };
  const frames = { left: draft, right: frame };
  const leftOf = (pair: Pair) => zoomOf(pair, 'left', draft);
  const rightOf = (pair: Pair) => zoomOf(pair, 'right', frame);
  const near = movePair(wholePair, 'left', frames, (zoom, of) => zoomAt(zoom, 4, of, { x: 450, y: 300 }));

  test('show the same place, whatever their pixels, whichever of them is moved', () => {
    expect(placePicture(leftOf(near), draft)).toEqual(placePicture(rightOf(near), frame));
    const moved = movePair(near, 'right', frames, (zoom, of) => panBy(zoom, { x: 40, y: 0 }, of));
    expect(leftOf(moved)).toEqual(rightOf(moved));
    expect(leftOf(moved)).not.toEqual(leftOf(near));
  });

  test.each(['left', 'right'] as const)(
    'drift by the %s one, and move together again with what lies between',
    (side) => {
      const adrift = movePair(toggleDrift(near), side, frames, (zoom, of) => panBy(zoom, { x: 50, y: 0 }, of));
      const still = side === 'left' ? rightOf : leftOf;
      expect(still(adrift).x).toBeCloseTo(still(near).x, 10);
      const apart = rightOf(adrift).x - leftOf(adrift).x;
      expect(Math.abs(apart)).toBeGreaterThan(0.01);
      expect(isApart(adrift)).toBe(true);
      const together = movePair(toggleDrift(adrift), 'right', frames, (zoom, of) => panBy(zoom, { x: 20, y: 9 }, of));
      expect(rightOf(together).x - leftOf(together).x).toBeCloseTo(apart, 10);
      expect(rightOf(together).y).toBeCloseTo(leftOf(together).y, 10);
      const same = rejoin(adrift, side);
      expect(isApart(same)).toBe(false);
      expect(leftOf(same)).toEqual(rightOf(same));
    },
  );

  test('of other shapes come back to the same place from an edge', () => {
    const wide = { ...frame, picture: { width: 4000, height: 500 } };
    const uneven = { left: wide, right: frame };
    const away = movePair(near, 'left', uneven, (zoom, of) => panBy(zoom, { x: -9000, y: -9000 }, of));
    const back = movePair(away, 'left', uneven, (zoom, of) => panBy(zoom, { x: 300, y: 300 }, of));
    expect(isApart(back)).toBe(false);
  });

  test('without a size yet stay as they are', () => {
    expect(movePair(near, 'left', {}, (zoom, of) => zoomAt(zoom, 2, of))).toBe(near);
  });
});

describe('the sides', () => {
  const asset = (address: string, is?: 'picked' | 'rejected') =>
    ({ address, ...(is && { verdict: { is } }) }) as ReviewAsset;
  const group = [asset('a'), asset('b'), asset('c'), asset('d')];

  test('begin with the active one and the next, or the one before at the end', () => {
    expect(startSides(group, 'b')).toEqual({ left: 'b', right: 'c', active: 'left' });
    expect(startSides(group, 'd')).toEqual({ left: 'c', right: 'd', active: 'right' });
    expect(startSides([asset('a')], 'a')).toEqual({ left: 'a', active: 'left' });
  });

  test('begin with what is picked on the left', () => {
    expect(startSides([asset('a'), asset('b'), asset('c', 'picked')], 'a')).toEqual({
      left: 'c',
      right: 'a',
      active: 'right',
    });
  });

  test('let the next candidate come in against the one that stays', () => {
    const sides = { left: 'a', right: 'b', active: 'right' } as const;
    expect(followActive(sides, group, 'b')).toBe(sides);
    expect(followActive(sides, group, 'c')).toEqual({ left: 'a', right: 'c', active: 'right' });
    expect(followActive(sides, group, 'a')).toEqual({ left: 'a', right: 'b', active: 'left' });
    const next = [asset('x'), asset('y')];
    expect(followActive(sides, next, 'x')).toEqual({ left: 'x', right: 'y', active: 'left' });
  });

  test('take turns with the rest of the group, never the same on both', () => {
    const sides = { left: 'a', right: 'b', active: 'left' } as const;
    expect([nextOnSide(sides, group, 1), nextOnSide(sides, group, -1)]).toEqual(['c', undefined]);
    expect(swapSides(sides)).toEqual({ left: 'b', right: 'a', active: 'right' });
    expect(swapSides({ left: 'a', active: 'left' })).toEqual({ left: 'a', active: 'left' });
  });
});
