import { type Frame, limitZoom, wholePicture, type Zoom } from '../zoom/zoom.ts';

export type Side = 'left' | 'right';

/**
 * Zoom of two pictures that are compared. They move together. While `drifts` is set, only the active one moves, and the
 * resulting offset is kept afterwards, so that shifted subjects can be aligned.
 */
export interface Pair {
  /** Zoom of the left picture. */
  at: Zoom;
  /** Offset of the right picture: a factor for the scale, and fractions of the picture for the position. */
  apart: Zoom;
  drifts: boolean;
}

export type Frames = { readonly [side in Side]?: Frame };

const nothingApart: Zoom = { by: 1, x: 0, y: 0 };

export const wholePair: Pair = { at: wholePicture, apart: nothingApart, drifts: false };

/** Returns the zoom of one side, limited to its picture. */
export function zoomOf({ at, apart }: Pair, side: Side, frame: Frame | undefined): Zoom {
  const zoom = side === 'left' ? at : { by: at.by * apart.by, x: at.x + apart.x, y: at.y + apart.y };
  return frame === undefined ? zoom : limitZoom(zoom, frame);
}

/** Moves one side, and the other one with it unless they drift. */
export function movePair(pair: Pair, side: Side, frames: Frames, move: (zoom: Zoom, frame: Frame) => Zoom): Pair {
  const frame = frames[side];
  if (frame === undefined) return pair;
  const to = move(zoomOf(pair, side, frame), frame);
  if (!pair.drifts) return { ...pair, at: side === 'left' ? to : without(to, pair.apart) };
  if (side === 'right') return { ...pair, apart: without(to, pair.at) };
  return { ...pair, at: to, apart: without(zoomOf(pair, 'right', frames.right), to) };
}

export function toggleDrift(pair: Pair): Pair {
  return { ...pair, drifts: !pair.drifts };
}

/** Gives both sides the zoom of one side, and ends drifting. */
export function rejoin(pair: Pair, side: Side): Pair {
  return { at: zoomOf(pair, side, undefined), apart: nothingApart, drifts: false };
}

/** Whether the sides have different zooms. */
export function isApart({ apart: { by, x, y } }: Pair): boolean {
  return Math.abs(by - 1) > 1e-6 || Math.abs(x) > 1e-6 || Math.abs(y) > 1e-6;
}

export function otherSide(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}

function without(zoom: Zoom, other: Zoom): Zoom {
  return { by: zoom.by / other.by, x: zoom.x - other.x, y: zoom.y - other.y };
}
