import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hasDrifted, movePair, rejoin, toggleDrift, wholePair } from '../../../src/page/compare/pair.ts';
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
} from '../../../src/page/compare/zoom.ts';

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

  test('show the same place, whatever their pixels', () => {
    const pair = movePair(wholePair, 'left', frames, (zoom, of) => zoomAt(zoom, 4, of, { x: 450, y: 300 }));
    expect(hasDrifted(pair)).toBe(false);
    expect(placePicture(pair.left, frames.left)).toEqual(placePicture(pair.right, frames.right));
  });

  test('drift, and move together again with what lies between them', () => {
    const near = movePair(wholePair, 'left', frames, (zoom, of) => zoomAt(zoom, 4, of));
    const adrift = movePair(toggleDrift(near), 'left', frames, (zoom, of) => panBy(zoom, { x: 50, y: 0 }, of));
    expect(adrift.right).toEqual(near.right);
    const apart = adrift.right.x - adrift.left.x;
    expect(apart).toBeGreaterThan(0);
    const together = movePair(toggleDrift(adrift), 'right', frames, (zoom, of) => panBy(zoom, { x: 20, y: 30 }, of));
    expect(together.right.x - together.left.x).toBeCloseTo(apart, 10);
    expect(together.right.y).toBeCloseTo(together.left.y, 10);
    expect(hasDrifted(rejoin(together, 'left', frames))).toBe(false);
  });
});
