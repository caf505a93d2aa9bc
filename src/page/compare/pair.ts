import { type Frame, limitZoom, wholePicture, type Zoom } from './zoom.ts';

export type Side = 'left' | 'right';

/**
 * Two pictures that are looked at together. They move as one; while one drifts, only the active one moves, and how far it
 * has drifted stays when they move together again, so that a subject that has shifted can be compared.
 */
export interface Pair {
  left: Zoom;
  right: Zoom;
  drifts: boolean;
}

export const wholePair: Pair = { left: wholePicture, right: wholePicture, drifts: false };

/** Moves the active side by `move`, and the other one in step unless they drift. Each is kept within its own picture. */
export function movePair(
  pair: Pair,
  active: Side,
  frames: Record<Side, Frame>,
  move: (zoom: Zoom, frame: Frame) => Zoom,
): Pair {
  const other = otherSide(active);
  const [from, to] = [pair[active], move(pair[active], frames[active])];
  const moved = { ...pair, [active]: to };
  if (pair.drifts) return moved;
  const follow: Zoom = {
    by: pair[other].by * (to.by / from.by),
    x: pair[other].x + (to.x - from.x),
    y: pair[other].y + (to.y - from.y),
  };
  // Together means the same place: what rounding and edges could separate is taken from the one that was moved.
  const together = hasDrifted(pair) ? follow : to;
  return { ...moved, [other]: limitZoom(together, frames[other]) };
}

export function toggleDrift(pair: Pair): Pair {
  return { ...pair, drifts: !pair.drifts };
}

/** The other one looks at what the active one looks at, and both move together. */
export function rejoin(pair: Pair, active: Side, frames: Record<Side, Frame>): Pair {
  const other = otherSide(active);
  return { ...pair, drifts: false, [other]: limitZoom(pair[active], frames[other]) };
}

/** Both look at different places. */
export function hasDrifted({ left, right }: Pair): boolean {
  const near = (a: number, b: number) => Math.abs(a - b) < 1e-6;
  return !(near(left.by, right.by) && near(left.x, right.x) && near(left.y, right.y));
}

export function otherSide(side: Side): Side {
  return side === 'left' ? 'right' : 'left';
}
