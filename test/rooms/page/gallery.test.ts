import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReviewAsset } from '../../../src/contract/review.ts';
import { hasChanged, versionsOf } from '../../../src/page/changes/versions.ts';
import { followActive, nextOnSide, startSides } from '../../../src/page/compare/sides.ts';
import { around, layLines, linesOf } from '../../../src/page/gallery/grid-layout.ts';
import { show } from '../../../src/page/model/shown.ts';
import { layRows, linesOf as linesOfGroups, widthIn } from '../../../src/page/views/groups-layout.ts';
import { SharedZoom } from '../../../src/page/zoom/shared-zoom.ts';
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
import { forAll } from '../../rig/runs.ts';

describe('the grid', () => {
  const ratios: Record<string, number> = { wide: 16 / 9, square: 1, high: 9 / 16 };
  const roomOf = (width: number, height: number) => ({
    ...{ width, height, gap: 8, frame: 14 },
    shapeOf: ({ task }: { task: string }) => ratios[task] ?? 1,
  });
  const sections = Object.keys(ratios).map((name) => ({
    name,
    assets: Array.from({ length: 50 }, (_, index) => asset(`${name}@${index}`)),
  }));

  test('lines are filled with pictures of one height in their own shape; the last one is no higher', () => {
    const room = roomOf(1252, 700);
    const lines = layLines(sections, room);
    expect(lines.filter((line) => !('assets' in line)).map(({ name }) => name)).toEqual(Object.keys(ratios));
    const cards = lines.flatMap((line) => ('assets' in line ? [line] : []));
    expect(cards.flatMap(({ assets }) => assets.length).reduce((sum, one) => sum + one, 0)).toBe(150);
    for (const [index, { name, assets, height }] of cards.entries()) {
      const width = assets.reduce((sum, one) => sum + widthIn(room, one, height) + 22, -8);
      expect(width).toBeLessThanOrEqual(1252);
      if (cards[index + 1]?.name === name) expect(width).toBeGreaterThan(1252 - assets.length - 1);
    }
    expect(linesOf(lines, room).map((line) => line.length)).toEqual(cards.map(({ assets }) => assets.length));
  });

  test('no window has more cards in the page than it keeps up with', () => {
    for (const width of [200, 292, 480, 1252, 2532, 5092]) {
      for (const height of [300, 700, 1400, 2800]) {
        const heights = layLines(sections, roomOf(width, height)).flatMap((line) => ('assets' in line ? [line] : []));
        const each = heights.reduce((sum, line) => sum + line.assets.length, 0) / heights.length;
        const mean = heights.reduce((sum, line) => sum + line.height + around, 0) / heights.length;
        expect(each * (height / mean + 4)).toBeLessThanOrEqual(120 * 1.2);
      }
    }
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

test('versions: at the reference first, and no purchase twice', () => {
  const earlier = (job: string) => ({ job, credits: 2, changed: ['prompt'], request: {}, files: [file(3)] });
  const both = asset('a', { report: { before: earlier('j1') }, earlier: [earlier('j2'), earlier('j1')] });
  expect(versionsOf(both).map(({ is, earlier: { job } }) => [is, job])).toEqual([
    ['reference', 'j1'],
    ['earlier', 'j2'],
  ]);
  expect(
    [
      both,
      asset('new', { report: { before: null } }),
      asset('same'),
      asset('redone', { earlier: [earlier('j3')] }),
    ].map(hasChanged),
  ).toEqual([true, true, false, true]);
  // The same purchase as at the reference is no change, whatever was bought before that.
  const same = { ...earlier('job-a'), changed: [] };
  expect(hasChanged(asset('a', { report: { before: same }, earlier: [earlier('j1')] }))).toBe(false);
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

  const size = fc.record({ width: fc.integer({ min: 1, max: 8000 }), height: fc.integer({ min: 1, max: 8000 }) });
  const zoom = fc.record({
    by: fc.double({ min: 0.001, max: 1000, noNaN: true }),
    x: fc.double({ min: -5, max: 5, noNaN: true }),
    y: fc.double({ min: -5, max: 5, noNaN: true }),
  });
  forAll([size, size, zoom])('leaves no empty pane, wherever it is moved', (picture, pane, wanted) => {
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
  });

  test('without a size yet is placed nowhere odd', () => {
    const unknown = { ...frame, picture: { width: 0, height: 0 } };
    expect(Number.isFinite(oneToOne(unknown))).toBe(true);
  });
});

describe('two pictures', () => {
  const draft = { ...frame, picture: { width: 1000, height: 500 } };

  test('show the same place, whatever their pixels, whichever of them is moved', () => {
    const shared = new SharedZoom();
    shared.move((zoom, of) => zoomAt(zoom, 4, of, { x: 450, y: 300 }), draft);
    const near = shared.zoom.value;
    expect(placePicture(limitZoom(near, draft), draft)).toEqual(placePicture(limitZoom(near, frame), frame));
    shared.move((zoom, of) => panBy(zoom, { x: 40, y: 0 }, of), frame);
    const moved = shared.zoom.value;
    expect(limitZoom(moved, draft)).toEqual(limitZoom(moved, frame));
    expect(moved).not.toEqual(near);
  });

  test('without a size yet stay as they are', () => {
    const shared = new SharedZoom();
    shared.move((zoom, of) => zoomAt(zoom, 2, of));
    expect(shared.zoom.value).toBe(wholePicture);
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
  });
});
